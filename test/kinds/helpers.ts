import type { Rules, Strategy } from '../../core/api/strategy.js';
import type { ApiObject } from '../../core/model/object.js';
import type { Violation } from '../../core/model/refusal.js';
import { completeStrategy } from '../../core/schema/strategy-defaults.js';
import { builtInStrategies } from './builtIn.js';

/** Whole rules of a kind by neutral storage name. */
export const rulesOf = (storageName: string): Strategy =>
  completeStrategy(builtInStrategies('kubernetes').get(storageName) ?? {});

/** What a strategy may know, with the given Services in the informer. */
export const knowing = (services: readonly ApiObject[] = []): Rules => ({
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
  rules = knowing(),
): { made: ApiObject; violations: readonly Violation[] } {
  const strategy = rulesOf(storageName);
  const made = structuredClone(given);
  strategy.defaults(made);
  strategy.prepareCreate(made, rules);
  return { made, violations: strategy.validateCreate(made, rules) };
}

/** The same for an update of `old` by the members in `change`. */
export function update(storageName: string, old: ApiObject, change: (draft: ApiObject) => void, rules = knowing()) {
  const strategy = rulesOf(storageName);
  const made = structuredClone(old);
  change(made);
  strategy.defaults(made);
  strategy.prepareUpdate(made, old, rules);
  return { made, violations: strategy.validateUpdate(made, old, rules) };
}

/** `field: message` of each violation. */
export const lines = (violations: readonly Violation[]): string[] => violations.map(v => `${v.field}: ${v.message}`);
