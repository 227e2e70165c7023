import type { Operation } from '../../../../core/api/checks/match.js';
import type { ApiObject, Frozen } from '../../../../core/model/object.js';
import type { Quantity } from '../../../../core/model/quantity.js';
import type { Amounts } from '../../limitRanger/amounts.js';
import type { ScopeTerm } from './scopes.js';

/** How objects of a kind are counted by quotas. */
export interface Evaluator {
  /** Whether a quota can count this resource of the objects: `pods`, `requests.cpu`. */
  counts(resource: string): boolean;
  /** Whether this operation changes the usage of an object. */
  isCharged(operation: Operation): boolean;
  /** The amounts that an object uses. `now`: milliseconds since the epoch. */
  usage(object: Frozen<ApiObject>, now: number): Amounts;
  /** Whether an object is in a scope. */
  isInScope(object: Frozen<ApiObject>, term: ScopeTerm): boolean;
  /** The resources that an object must specify to be counted by these, and does not; undefined if it is complete. */
  missing(object: Frozen<ApiObject>, resources: readonly string[]): string | undefined;
}

const NANO = 1_000_000_000n;

/** A number of objects. */
export const countOf = (n: number): Quantity => ({ nano: BigInt(n) * NANO, format: 'decimal' });

/** The name of the resource that counts the objects of any kind. The group is as clients name it. */
export const objectCount = (group: string, plural: string): string =>
  group === '' ? `count/${plural}` : `count/${plural}.${group}`;

/** Kinds of the core group whose objects are counted by their plural name too. */
export const CLASSIC = ['configmaps', 'replicationcontrollers', 'resourcequotas', 'secrets'];

/** The evaluator of kinds for which only the number of objects is limited. */
export function countEvaluator(group: string, plural: string): Evaluator {
  const names = [objectCount(group, plural), ...(group === '' && CLASSIC.includes(plural) ? [plural] : [])];
  const usage: Amounts = new Map(names.map(name => [name, countOf(1)]));
  return {
    counts: resource => names.includes(resource),
    isCharged: operation => operation === 'CREATE',
    usage: () => usage,
    isInScope: () => false,
    missing: () => undefined,
  };
}
