import { builtInKind } from '../../../../core/api/resource.js';
import type { Column, Strategy } from '../../../../core/api/strategy.js';
import { ensureRecord, recordAt, recordsAt, setDefault, type UnknownRecord } from '../../../../core/model/record.js';
import { setRuleDefaults } from '../../shared/admissionRules.js';
import { AGE, countColumn, NAME } from '../../shared/columns.js';
import { loadEngine } from '../../../../core/schema/custom/engine.js';
import { setIfAbsent } from '../../shared/defaults.js';
import { setServiceReferenceDefaults } from '../../shared/serviceReference.js';
import { validateChangedWebhooks, validateWebhooks } from './validation.js';

function setWebhookDefaults(webhook: UnknownRecord): void {
  setIfAbsent(webhook, 'failurePolicy', 'Fail');
  setIfAbsent(webhook, 'matchPolicy', 'Equivalent');
  ensureRecord(webhook, 'namespaceSelector');
  ensureRecord(webhook, 'objectSelector');
  setDefault(webhook, 'timeoutSeconds', 10);
  setServiceReferenceDefaults(recordAt(webhook, 'clientConfig'));
  setRuleDefaults(recordsAt(webhook, 'rules'));
}

const COLUMNS: readonly Column[] = [NAME, countColumn('Webhooks', 'webhooks'), AGE];

/** The common strategy of both kinds of webhook configuration; `setFurtherDefaults` is called for each webhook. */
export const webhookStrategy = (
  setFurtherDefaults: (webhook: UnknownRecord) => void = () => undefined,
): Partial<Strategy> => ({
  hasGeneration: true,
  allowAnyFinalizer: true,
  allowUnconditionalUpdate: false,
  load: loadEngine,
  validateCreate: validateWebhooks,
  validateUpdate: validateChangedWebhooks,
  applyDefaults: object => {
    for (const webhook of recordsAt(object, 'webhooks')) {
      setWebhookDefaults(webhook);
      setFurtherDefaults(webhook);
    }
  },
  columns: COLUMNS,
});

/** ValidatingWebhookConfiguration. */
export const validatingWebhookConfiguration = builtInKind(
  'admissionregistration.orchestrator.io/validatingwebhookconfigurations',
  () => webhookStrategy(),
);
