import type { StrategyContext, Strategy } from '../../core/api/strategy.js';
import type { ApiObject } from '../../core/model/object.js';
import type { Violation } from '../../core/model/refusal.js';
import { completeStrategy } from '../../core/schema/strategyDefaults.js';
import { builtInStrategies } from './builtIn.js';

/** The complete strategy of a kind by neutral storage name. */
export const strategyOf = (storageName: string): Strategy =>
  completeStrategy(builtInStrategies('kubernetes').get(storageName) ?? {});

/** A context for strategies, with the given Services in the informer. */
export const contextWith = (services: readonly ApiObject[] = []): StrategyContext => ({
  now: '2024-05-06T07:08:09Z',
  user: { name: 'someone', uid: 'u-1', groups: ['some', 'people'], extra: new Map([['example.com/k', ['v']]]) },
  dryRun: false,
  lookup: () => undefined,
  list: name => (name === 'core/services' ? services : []),
});

/** An object of the core version. */
export const object = (kind: string, rest: { [member: string]: unknown }, apiVersion = 'v1'): ApiObject => ({
  apiVersion,
  kind,
  metadata: { name: 'x', namespace: 'n', uid: 'u1' },
  ...rest,
});

/** Defaults, preparation and validation of a create, in the order of the pipeline. */
export function create(
  storageName: string,
  given: ApiObject,
  context = contextWith(),
): { made: ApiObject; violations: readonly Violation[] } {
  const strategy = strategyOf(storageName);
  const made = structuredClone(given);
  strategy.applyDefaults(made);
  strategy.prepareCreate(made, context);
  return { made, violations: strategy.validateCreate(made, context) };
}

/** The same for an update of `old` with the members in `change`. */
export function update(
  storageName: string,
  old: ApiObject,
  change: (draft: ApiObject) => void,
  context = contextWith(),
) {
  const strategy = strategyOf(storageName);
  const made = structuredClone(old);
  change(made);
  strategy.applyDefaults(made);
  strategy.prepareUpdate(made, old, context);
  return { made, violations: strategy.validateUpdate(made, old, context) };
}

/** `field: message` of each violation. */
export const lines = (violations: readonly Violation[]): string[] => violations.map(v => `${v.field}: ${v.message}`);
