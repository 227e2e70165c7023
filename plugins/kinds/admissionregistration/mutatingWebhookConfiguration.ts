import { builtInKind } from '../../../core/api/resource.js';
import { setDefault } from '../../../core/model/record.js';
import { webhookStrategy } from './validatingWebhookConfiguration.js';

/** MutatingWebhookConfiguration. */
export const mutatingWebhookConfiguration = builtInKind(
  'admissionregistration.orchestrator.io/mutatingwebhookconfigurations',
  () => webhookStrategy(webhook => setDefault(webhook, 'reinvocationPolicy', 'Never')),
);
