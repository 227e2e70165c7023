import { type Validator, validator } from '../../../core/api/admission.js';
import type { Host } from '../../../core/api/host.js';
import { definePlugin } from '../../../core/api/plugin.js';
import type { Plugin } from '../../../core/api/point.js';
import { formatQuantity, type Quantity } from '../../../core/model/quantity.js';
import { Refusal } from '../../../core/model/refusal.js';
import { evaluators } from './usage/evaluators.js';
import { forbiddenError } from '../podDraft.js';
import { type LimitedResource, parseConfig } from './config.js';
import { type CountedChange, type Decision, decide } from './decide.js';
import { QuotaViews } from './views.js';

const QUOTAS = 'core/resourcequotas';

/** Resources that no quota counts, in neutral names: events, and kinds that are answered and never stored. */
const IGNORED: ReadonlySet<string> = new Set([
  '/bindings',
  '/componentstatuses',
  '/events',
  'events.orchestrator.io/events',
  'authentication.orchestrator.io/selfsubjectreviews',
  'authentication.orchestrator.io/tokenreviews',
  'authorization.orchestrator.io/localsubjectaccessreviews',
  'authorization.orchestrator.io/selfsubjectaccessreviews',
  'authorization.orchestrator.io/selfsubjectrulesreviews',
  'authorization.orchestrator.io/subjectaccessreviews',
]);

/**
 * Decides about a change. The quotas may have been charged since they were read: a charge is checked again when it is
 * stored. Changes that are not charged, or are refused, are decided by the current quotas.
 */
function decideBy(
  views: QuotaViews,
  namespace: string,
  counted: CountedChange,
  limited: readonly LimitedResource[],
): Decision {
  const decision = decide(counted, views.of(namespace), limited);
  const charged = 'refusal' in decision ? [] : decision.charges.map(({ quota }) => quota);
  return views.refresh(namespace, charged) ? decide(counted, views.of(namespace), limited) : decision;
}

/** Formats quantities, each once: the quotas of a namespace are charged the same. */
function formatter(): (amount: Quantity) => string {
  const texts = new Map<Quantity, string>();
  return amount => {
    let text = texts.get(amount);
    if (text === undefined) texts.set(amount, (text = formatQuantity(amount)));
    return text;
  };
}

/**
 * Refuses requests that exceed the quotas of a namespace, and charges the quotas for all others. The charge is stored
 * together with the object, so it is exact: see `Change.charge`.
 */
const enforcing =
  (limited: readonly LimitedResource[]) =>
  (host: Host<'pool'>): Validator => {
    const views = new QuotaViews();
    host.onChange(QUOTAS, event => views.take(event));
    const evaluatorOf = evaluators(host.naming);
    return {
      on: { operations: ['CREATE', 'UPDATE'] },
      validate(change, object) {
        const { target, operation, old } = change;
        const { namespace, resource } = target;
        if (namespace === '' || !object || IGNORED.has(`${target.group}/${resource}`)) return [];
        const group = host.naming.group(target.group);
        const evaluator = evaluatorOf(group, resource);
        if (!evaluator.isCharged(operation)) return [];
        if (change.dryRun || change.repeated) views.refresh(namespace);
        if (views.of(namespace).length === 0 && limited.length === 0) return [];
        const of = { group, resource };
        const decision = decideBy(views, namespace, { object, old, of, evaluator, now: host.now() }, limited);
        if ('refusal' in decision) {
          const { refusal, isError } = decision;
          throw isError ? new Refusal('', refusal) : forbiddenError(of, object.metadata.name ?? target.name, refusal);
        }
        const textOf = formatter();
        for (const { quota, amounts } of decision.charges)
          change.charge({
            resource: QUOTAS,
            namespace,
            name: quota.metadata.name!,
            resourceVersion: quota.metadata.resourceVersion!,
            amounts: Object.fromEntries(Array.from(amounts, ([name, amount]) => [name, textOf(amount)])),
          });
        return [];
      },
    };
  };

/** The quotas of a namespace. */
export default definePlugin<readonly LimitedResource[]>({
  name: 'resource-quota',
  parse: parseConfig,
  contribute: limited => [validator.of(enforcing(limited))],
}) satisfies Plugin<readonly LimitedResource[]>;
