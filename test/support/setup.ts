import { expect } from 'vitest';

/** A file that shares its process with others finds their additions. */
const ADDED = Symbol.for('capstan.test.bytes');

/*
 * Compares bytes of one class as bytes: `toEqual` compares them like members of objects, which takes 4 s for a
 * megabyte. The difference is shown as before.
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
