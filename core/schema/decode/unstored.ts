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

/** A place of which no member is noted yet. */
export const unstoredAt = (step: string | number): Unstored => ({ step, members: [], below: [] });
