import type { Json } from '../../model/object.js';

/**
 * A member that was sent but that the stored form cannot represent: an empty list or map, or a field whose feature gate
 * is off.
 */
export interface UnstoredMember {
  readonly name: string;
  readonly value: Json;
  /** Whether it is an empty list or map that is omitted instead of stored as null. */
  readonly omitted: boolean;
}

/**
 * The members, below a place in an object, that decoding has not kept as sent. It is a tree, because copying the path
 * of each member would make hostile bodies, which have many deep members, expensive.
 */
export interface Unstored {
  /** The name or index of the place in its container; empty for the object itself. */
  readonly step: string | number;
  readonly members: UnstoredMember[];
  readonly below: Unstored[];
}

/**
 * Calls `visit` with the path of each omitted empty list and map. The array is reused: a callback that keeps it must
 * copy it.
 */
export function eachOmitted(unstored: Unstored, visit: (place: readonly (string | number)[]) => void): void {
  const place: (string | number)[] = [];
  const walk = ({ members, below }: Unstored): void => {
    for (const { name, omitted } of members) {
      if (!omitted) continue;
      place.push(name);
      visit(place);
      place.pop();
    }
    for (const one of below) {
      place.push(one.step);
      walk(one);
      place.pop();
    }
  };
  walk(unstored);
}

/** A place without recorded members. */
export const unstoredAt = (step: string | number): Unstored => ({ step, members: [], below: [] });
