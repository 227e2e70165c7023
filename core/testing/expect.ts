import assert from 'node:assert/strict';

/** JSON-like values without undefined members and classes, so that only their contents are compared. */
function plain(value: unknown): unknown {
  if (ArrayBuffer.isView(value)) return [...new Uint8Array(value.buffer, value.byteOffset, value.byteLength)];
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'object' || value === null || value instanceof Set) return value;
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  return Object.fromEntries(members.map(([name, member]) => [name, plain(member)]));
}

/** The part of a value that a pattern is about: the same members, and all items of lists. */
function partOf(value: unknown, pattern: unknown): unknown {
  if (ArrayBuffer.isView(pattern)) return value;
  if (Array.isArray(pattern) && Array.isArray(value))
    return value.map((item, i) => (i < pattern.length ? partOf(item, pattern[i]) : item));
  if (typeof pattern !== 'object' || pattern === null || typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(pattern)
      .filter(([name]) => name in value)
      .map(([name, inner]) => [name, partOf((value as Readonly<Record<string, unknown>>)[name], inner)]),
  );
}

/** Resolves with the reason with which a promise is rejected. */
async function rejectionOf(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  return assert.fail('it must be rejected');
}

/**
 * Expectations about a value, with the words of common test runners. The exported suites depend on none of these.
 */
export const expect = (value: unknown) => ({
  toBe: (expected: unknown): void => assert.equal(value, expected),
  toEqual: (expected: unknown): void => assert.deepEqual(plain(value), plain(expected)),
  toMatchObject: (expected: object): void => assert.deepEqual(plain(partOf(value, expected)), plain(expected)),
  toHaveLength: (length: number): void => assert.equal((value as { readonly length: number }).length, length),
  toBeUndefined: (): void => assert.equal(value, undefined),
  toBeGreaterThan: (bound: number): void => assert.ok((value as number) > bound, `${value} must be above ${bound}`),
  toBeGreaterThanOrEqual: (bound: number): void =>
    assert.ok((value as number) >= bound, `${value} must be at least ${bound}`),
  toBeLessThan: (bound: number): void => assert.ok((value as number) < bound, `${value} must be below ${bound}`),
  toMatch: (pattern: RegExp): void => assert.match(value as string, pattern),
  toContain: (part: unknown): void => assert.ok((value as string).includes(part as string), `${value} lacks ${part}`),
  not: {
    toContain: (part: string): void => assert.ok(!(value as string).includes(part), `${value} contains ${part}`),
  },
  rejects: {
    /**
     * Fails unless the promise rejects with an instance of the class, or with a message that contains the text; by
     * default, with any error.
     */
    toThrow: async (expected: string | (abstract new (...parameters: never[]) => Error) = Error): Promise<void> => {
      const error = await rejectionOf(value as Promise<unknown>);
      if (typeof expected === 'string') return expect((error as Error).message).toContain(expected);
      assert.ok(error instanceof expected, `it must be rejected with ${expected.name}, not with ${String(error)}`);
    },
    toMatchObject: async (expected: object): Promise<void> =>
      expect(await rejectionOf(value as Promise<unknown>)).toMatchObject(expected),
  },
});
