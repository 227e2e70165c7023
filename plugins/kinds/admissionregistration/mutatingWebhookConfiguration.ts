import { builtInKind } from '../../../core/api/resource.js';
import { webhookStrategy } from './validatingWebhookConfiguration.js';

export const mutatingWebhookConfiguration = builtInKind(
  'admissionregistration.orchestrator.io/mutatingwebhookconfigurations',
  () => webhookStrategy(true),
);
