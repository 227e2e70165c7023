import { childOf, element, type FieldSet, type Growing, isEmpty, LEAF, outside, union } from './fieldSet.js';
import type { Kind } from './manager.js';
import type { Owner, Owners } from './owners.js';
import { memberShape, type Shape } from './shape.js';

/** Whether the schema says now that a value is owned whole, of which the set holds elements below. */
function isWhole(shape: Shape, below: FieldSet): boolean {
  if (!shape.map?.atomic && !shape.list?.atomic) return false;
  // Values without structure take several forms; their elements tell which one was owned.
  const items = Object.keys(below).some(key => /^[kvi]:/.test(key));
  return Boolean(items ? shape.list?.atomic : shape.map?.atomic);
}

/** Paths of the set below which there is something although the value is owned whole now. */
function becameAtomic(shape: Shape, set: FieldSet): FieldSet {
  const out: Growing = {};
  for (const name in set) {
    if (name === '.') continue;
    const { below } = childOf(set, name)!;
    const inner = name.startsWith('f:') ? shape.map && memberShape(shape.map, name.slice(2)) : shape.list?.of;
    if (isEmpty(below) || !inner) continue;
    const found = isWhole(inner, below) ? LEAF : element(false, becameAtomic(inner, below));
    if (found) out[name] = found;
  }
  return out;
}

function reconciledSet(shape: Shape, set: FieldSet): FieldSet {
  const whole = becameAtomic(shape, set);
  return isEmpty(whole) ? set : union(outside(set, whole), whole);
}

/**
 * Managers as the present schema has them: whoever owned part of a value that is atomic now owns the whole value (spec,
 * "Merge strategy markers"). Values that are granular now keep their owners, to whom nothing below belongs.
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
