import type { ApiObject } from '../../../../core/model/object.js';
import type {
  MutatingWebhook,
  ValidatingWebhookConfiguration,
  ValidatingWebhook,
} from '../../../../kinds/admissionregistration/v1.js';
import { builtInKind } from '../../../../core/api/resource.js';
import type { Column, Strategy } from '../../../../core/api/strategy.js';
import { isDeepEqual, setDefault } from '../../../../core/model/record.js';
import { setRuleDefaults } from '../../shared/admission/admissionRules.js';
import { AGE, countColumn, NAME } from '../../shared/columns.js';
import { loadEngine } from '../../../../core/schema/custom/engine.js';
import { setIfAbsent } from '../../shared/values/defaults.js';
import { setServiceReferenceDefaults } from '../../shared/admission/serviceReference.js';
import { validateChangedWebhooks, validateWebhooks, type WebhookConfiguration } from './validation.js';

function setWebhookDefaults(webhook: ValidatingWebhook | MutatingWebhook): void {
  setIfAbsent(webhook, 'failurePolicy', 'Fail');
  setIfAbsent(webhook, 'matchPolicy', 'Equivalent');
  webhook.namespaceSelector ??= {};
  webhook.objectSelector ??= {};
  setDefault(webhook, 'timeoutSeconds', 10);
  setServiceReferenceDefaults(webhook.clientConfig);
  setRuleDefaults(webhook.rules ?? []);
}

const COLUMNS: readonly Column<ApiObject & WebhookConfiguration>[] = [
  NAME,
  countColumn('Webhooks', object => object.webhooks),
  AGE,
];

/** The common strategy of both kinds of webhook configuration; `setFurtherDefaults` is called for each webhook. */
export const webhookStrategy = <Webhook extends ValidatingWebhook | MutatingWebhook>(
  setFurtherDefaults: (webhook: Webhook) => void = () => undefined,
): Partial<Strategy<ApiObject & { webhooks?: Webhook[] }>> => ({
  hasGeneration: true,
  changesGeneration: (object, old, emptied) => emptied.has('webhooks') || !isDeepEqual(object.webhooks, old.webhooks),
  allowAnyFinalizer: true,
  allowUnconditionalUpdate: false,
  load: loadEngine,
  revalidatesName: true,
  validateCreate: validateWebhooks,
  validateUpdate: validateChangedWebhooks,
  applyDefaults: object => {
    for (const webhook of object.webhooks ?? []) {
      setWebhookDefaults(webhook);
      setFurtherDefaults(webhook);
    }
  },
  columns: COLUMNS,
});

/** ValidatingWebhookConfiguration. */
export const validatingWebhookConfiguration = builtInKind<ValidatingWebhookConfiguration>(
  'admissionregistration.orchestrator.io/validatingwebhookconfigurations',
  () => webhookStrategy<ValidatingWebhook>(),
);
