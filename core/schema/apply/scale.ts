import { difference, has, isEmpty, pathSet, union } from './fieldSet.js';
import { keyOf, type Owner, type Owners } from './owners.js';

/** Where a scale holds its count, as elements. */
export const SCALE_COUNT: readonly string[] = ['f:spec', 'f:replicas'];
/** The version of scales. */
export const SCALE_VERSION = 'autoscaling/v1';

const asScale = (owner: Owner): Owner => ({ ...owner, apiVersion: SCALE_VERSION, set: pathSet(SCALE_COUNT) });

/** Managers of an object's count as managers of its scale; `count` is where the object holds it. */
export function ownersOfScale(owners: Owners, count: readonly string[]): Owners {
  const scales = [...owners.values()].filter(owner => has(owner.set, count)).map(asScale);
  return new Map(scales.map(owner => [keyOf(owner), owner]));
}

/**
 * Managers of the object after a write to its scale: who lost the count there loses it here, who got it gets an entry
 * in `apiVersion`.
 */
export function ownersThroughScale(
  owners: Owners,
  scale: Owners,
  count: readonly string[],
  apiVersion: string,
): Owners {
  const out = new Map<string, Owner>();
  const left = new Map([...scale].filter(([, owner]) => has(owner.set, SCALE_COUNT)));
  for (const [key, owner] of owners) {
    if (!has(owner.set, count)) {
      out.set(key, owner);
      continue;
    }
    const at = keyOf(asScale(owner));
    const kept = left.get(at);
    left.delete(at);
    const set = kept ? owner.set : difference(owner.set, pathSet(count));
    if (!isEmpty(set)) out.set(key, { ...owner, set, time: kept?.time ?? owner.time });
  }
  for (const owner of left.values()) {
    const added: Owner = { ...owner, apiVersion, set: pathSet(count) };
    const same = out.get(keyOf(added));
    out.set(keyOf(added), same ? { ...added, set: union(same.set, added.set) } : added);
  }
  return out;
}
