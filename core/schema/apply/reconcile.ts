import {
  childOf,
  makeElement,
  type FieldSet,
  type MutableFieldSet,
  isEmpty,
  LEAF,
  subtractTrees,
  union,
} from './fieldSet.js';
import type { FieldManager, FieldManagers } from './fieldManagers.js';
import type { ManagedKind } from './managedKind.js';
import { memberShape, type Shape } from './shape.js';

/** Whether a value of which the set contains elements is atomic in the current schema. */
function isNowAtomic(shape: Shape, below: FieldSet): boolean {
  if (!shape.map?.atomic && !shape.list?.atomic) return false;
  // An untyped value may have several forms; its elements show which one it had.
  const items = Object.keys(below).some(key => /^[kvi]:/.test(key));
  return Boolean(items ? shape.list?.atomic : shape.map?.atomic);
}

/** The paths of atomic values of which the set contains elements. */
function atomicPaths(shape: Shape, set: FieldSet): FieldSet {
  const out: MutableFieldSet = {};
  for (const name in set) {
    if (name === '.') continue;
    const { below } = childOf(set, name)!;
    const inner = name.startsWith('f:') ? shape.map && memberShape(shape.map, name.slice(2)) : shape.list?.of;
    if (isEmpty(below) || !inner) continue;
    const found = isNowAtomic(inner, below) ? LEAF : makeElement(false, atomicPaths(inner, below));
    if (found) out[name] = found;
  }
  return out;
}

function reconcileSet(shape: Shape, set: FieldSet): FieldSet {
  const whole = atomicPaths(shape, set);
  return isEmpty(whole) ? set : union(subtractTrees(set, whole), whole);
}

/**
 * Adapts managers to the current schema: a manager that owned part of a value that is now atomic owns the whole value
 * (spec, "Merge strategy markers"). A value that is now granular keeps its managers, which do not own its elements.
 */
export function reconcileWithSchema(kind: ManagedKind, managers: FieldManagers): FieldManagers {
  let out: Map<string, FieldManager> | undefined;
  for (const [key, owner] of managers) {
    const version = kind.version(owner.apiVersion);
    const set = version ? reconcileSet(version.shape, owner.set) : owner.set;
    if (set === owner.set) continue;
    out ??= new Map(managers);
    out.set(key, { ...owner, set });
  }
  return out ?? managers;
}
