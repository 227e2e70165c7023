import { difference, hasPath, isEmpty, pathSet, union } from './fieldSet.js';
import { managerKey, type FieldManager, type FieldManagers } from './fieldManagers.js';

/** The path of the replicas in a Scale, as elements. */
const SCALE_COUNT: readonly string[] = ['f:spec', 'f:replicas'];
/** The API version of Scale. */
export const SCALE_VERSION = 'autoscaling/v1';

const toScaleManager = (owner: FieldManager): FieldManager => ({
  ...owner,
  apiVersion: SCALE_VERSION,
  set: pathSet(SCALE_COUNT),
});

/**
 * The managers of an object's replicas, as managers of its scale. `count` is the path of the replicas in the object.
 */
export function scaleManagers(managers: FieldManagers, count: readonly string[]): FieldManagers {
  const scales = [...managers.values()].filter(owner => hasPath(owner.set, count)).map(toScaleManager);
  return new Map(scales.map(owner => [managerKey(owner), owner]));
}

/**
 * The managers of an object after a write to its scale. A manager that lost the replicas of the scale loses those of
 * the object; a manager that got them gets an entry in `apiVersion`.
 */
export function managersAfterScale(
  managers: FieldManagers,
  scale: FieldManagers,
  count: readonly string[],
  apiVersion: string,
): FieldManagers {
  const out = new Map<string, FieldManager>();
  const remaining = new Map([...scale].filter(([, owner]) => hasPath(owner.set, SCALE_COUNT)));
  for (const [key, owner] of managers) {
    if (!hasPath(owner.set, count)) {
      out.set(key, owner);
      continue;
    }
    const scaleKey = managerKey(toScaleManager(owner));
    const kept = remaining.get(scaleKey);
    remaining.delete(scaleKey);
    const set = kept ? owner.set : difference(owner.set, pathSet(count));
    if (!isEmpty(set)) out.set(key, { ...owner, set, time: kept?.time ?? owner.time });
  }
  for (const owner of remaining.values()) {
    const added: FieldManager = { ...owner, apiVersion, set: pathSet(count) };
    const same = out.get(managerKey(added));
    out.set(managerKey(added), same ? { ...added, set: union(same.set, added.set) } : added);
  }
  return out;
}
