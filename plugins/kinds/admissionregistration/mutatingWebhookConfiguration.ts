import type { MutatingWebhook, MutatingWebhookConfiguration } from '../../../kinds/admissionregistration/v1.js';
import { builtInKind } from '../../../core/api/resource.js';
import { setIfAbsent } from '../shared/values/defaults.js';
import { webhookStrategy } from './validatingWebhookConfiguration/index.js';

/** MutatingWebhookConfiguration. */
export const mutatingWebhookConfiguration = builtInKind<MutatingWebhookConfiguration>(
  'admissionregistration.orchestrator.io/mutatingwebhookconfigurations',
  () => webhookStrategy<MutatingWebhook>(webhook => setIfAbsent(webhook, 'reinvocationPolicy', 'Never')),
);
