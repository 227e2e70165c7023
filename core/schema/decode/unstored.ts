import type { Json } from '../../model/object.js';

/**
 * A member that was sent and that the form in the store cannot hold: an empty list or map, or a field whose feature
 * gate is off.
 */
export interface UnstoredMember {
  readonly name: string;
  readonly value: Json;
  /** Whether it is an empty list or map that is left out, instead of stored as null. */
  readonly omitted: boolean;
}

/**
 * The members below a place in an object that decoding has not kept as they were sent. It is a tree, because a copy of
 * the path of each member would make hostile bodies expensive, whose members are many and deep.
 */
export interface Unstored {
  /** The name or index of the place in what is around it; empty for the object itself. */
  readonly step: string | number;
  readonly members: UnstoredMember[];
  readonly below: Unstored[];
}

/**
 * Calls back with the place of each empty list and map that is left out. The array is reused: a callback that keeps it
 * must copy it.
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

/** A place of which no member is noted yet. */
export const unstoredAt = (step: string | number): Unstored => ({ step, members: [], below: [] });
