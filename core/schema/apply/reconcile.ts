import { childOf, type FieldSet, isEmpty, LEAF, outside, pathSet, union } from './fieldSet.js';
import type { Kind } from './manager.js';
import type { Owner, Owners } from './owners.js';
import { memberShape, type Shape } from './shape.js';

/** Paths of the set below which there is something although the schema says now that the value is owned whole. */
function becameAtomic(shape: Shape, set: FieldSet, path: readonly string[], found: string[][]): void {
  for (const name in set) {
    if (name === '.') continue;
    const { below } = childOf(set, name)!;
    if (isEmpty(below)) continue;
    const inner = name.startsWith('f:') ? shape.map && memberShape(shape.map, name.slice(2)) : shape.list?.of;
    const at = [...path, name];
    if (!inner) continue;
    if (inner.map?.atomic || inner.list?.atomic) {
      // Values without structure take several forms; their elements tell which one was owned.
      const items = Object.keys(below).some(key => /^[kvi]:/.test(key));
      if (items ? inner.list?.atomic : inner.map?.atomic) {
        found.push(at);
        continue;
      }
    }
    becameAtomic(inner, below, at, found);
  }
}

function reconciledSet(shape: Shape, set: FieldSet): FieldSet {
  const found: string[][] = [];
  becameAtomic(shape, set, [], found);
  if (found.length === 0) return set;
  const whole = found.map(pathSet).reduce(union, LEAF);
  return union(outside(set, whole), whole);
}

/**
 * Managers as the present schema has them: whoever owned part of a value that is atomic now owns the whole value (spec, "Merge strategy markers").
 * Values that are granular now keep their owners, to whom nothing below belongs.
 */
export function reconciled(kind: Kind, owners: Owners): Owners {
  let out: Map<string, Owner> | undefined;
  for (const [key, owner] of owners) {
    const version = kind.version(owner.apiVersion);
    const set = version ? reconciledSet(version.shape, owner.set) : owner.set;
    if (set === owner.set) continue;
    out ??= new Map(owners);
    out.set(key, { ...owner, set });
  }
  return out ?? owners;
}
