import { builtInKind } from '../../../core/api/resource.js';
import type { Column, Strategy } from '../../../core/api/strategy.js';
import type { ApiObject } from '../../../core/model/object.js';
import { ensureRecord, recordAt, recordsAt, setDefault } from '../../../core/model/record.js';
import { setRuleDefaults } from '../shared/admissionRules.js';
import { AGE, countColumn, NAME } from '../shared/columns.js';
import { setServiceReferenceDefaults } from '../shared/serviceReference.js';

function setWebhookDefaults(object: ApiObject, mutating: boolean): void {
  for (const webhook of recordsAt(object, 'webhooks')) {
    setDefault(webhook, 'failurePolicy', 'Fail');
    setDefault(webhook, 'matchPolicy', 'Equivalent');
    ensureRecord(webhook, 'namespaceSelector');
    ensureRecord(webhook, 'objectSelector');
    setDefault(webhook, 'timeoutSeconds', 10);
    if (mutating) setDefault(webhook, 'reinvocationPolicy', 'Never');
    setServiceReferenceDefaults(recordAt(webhook, 'clientConfig'));
    setRuleDefaults(recordsAt(webhook, 'rules'));
  }
}

/** Rules of configurations of webhooks. */
export const webhookStrategy = (mutating: boolean): Partial<Strategy> => ({
  hasGeneration: true,
  allowUnconditionalUpdate: false,
  applyDefaults: object => setWebhookDefaults(object, mutating),
  columns: COLUMNS,
});

export const validatingWebhookConfiguration = builtInKind(
  'admissionregistration.orchestrator.io/validatingwebhookconfigurations',
  () => webhookStrategy(false),
);

/** Columns of configurations of webhooks. */
const COLUMNS: readonly Column[] = [NAME, countColumn('Webhooks', 'webhooks'), AGE];
