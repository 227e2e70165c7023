import { builtInKind } from '../../../core/api/resource.js';
import { setIfAbsent } from '../shared/defaults.js';
import { webhookStrategy } from './validatingWebhookConfiguration/index.js';

/** MutatingWebhookConfiguration. */
export const mutatingWebhookConfiguration = builtInKind(
  'admissionregistration.orchestrator.io/mutatingwebhookconfigurations',
  () => webhookStrategy(webhook => setIfAbsent(webhook, 'reinvocationPolicy', 'Never')),
);
