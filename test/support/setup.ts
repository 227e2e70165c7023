import { expect } from 'vitest';

/** Marks a process in which the additions below are made: several test files may share it. */
const ADDED = Symbol.for('capstan.test.bytes');

/*
 * Compares byte arrays of the same class as bytes: `toEqual` compares their elements like object members, which takes 4
 * s for a megabyte. Differences are shown as before.
 */
if (!(ADDED in globalThis)) {
  Object.assign(globalThis, { [ADDED]: true });
  expect.addEqualityTesters([
    (one: unknown, other: unknown) =>
      one instanceof Uint8Array && other instanceof Uint8Array && one.constructor === other.constructor
        ? Buffer.compare(one, other) === 0
        : undefined,
  ]);
}
