import type { Naming } from '../../../naming.js';
import { isRecord, recordAt, type UnknownRecord } from '../../../model/record.js';

/** Thrown for an object that cannot be represented in the version that replaces its own. */
export class Unconvertible extends Error {
  /** `fix` says how to change the field. */
  constructor(
    readonly field: string,
    readonly fix: string,
  ) {
    super(`${field}: ${fix}`);
  }
}

/**
 * Changes a copy of an object of a removed version to one of the version that replaces it; `apiVersion` is set by the
 * caller. Defaults of the removed version are written out where those of the replacement differ, so that the meaning
 * does not change. Throws Unconvertible.
 */
export type Rewrite = (object: UnknownRecord, naming: Naming) => void;

/** Rewrites by kind. */
export type Rewrites = Readonly<Record<string, Rewrite>>;

/** For versions with the same form. */
export const unchanged: Rewrite = () => undefined;

/** The record at `member`, which is set to an empty one if there is none. */
export function ensure(owner: UnknownRecord, member: string): UnknownRecord {
  const found = owner[member];
  if (isRecord(found)) return found;
  const made: UnknownRecord = {};
  owner[member] = made;
  return made;
}

/** Sets a member that is absent. */
export function fill(owner: UnknownRecord, member: string, value: unknown): void {
  owner[member] ??= value;
}

/** Moves a member to another name, which must be free. */
export function rename(owner: UnknownRecord, from: string, to: string): void {
  if (!Object.hasOwn(owner, from)) return;
  fill(owner, to, owner[from]);
  delete owner[from];
}

/** Removes a member from an object, and the objects above it that are then empty. */
export function dropMember(owner: UnknownRecord | undefined, ...path: readonly string[]): void {
  const [member = '', ...rest] = path;
  if (!owner) return;
  if (rest.length === 0) delete owner[member];
  else {
    const inner = recordAt(owner, member);
    dropMember(inner, ...rest);
    if (inner && Object.keys(inner).length === 0) delete owner[member];
  }
}
