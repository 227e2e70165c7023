import { describe, expect as check, test } from 'vitest';
import { expect } from '../../core/testing/expect.js';

/* The expectations of the exported suites pass and fail like those of the test runner. */

const bytes = Buffer.from('ab');
const cases: readonly (readonly [name: string, run: (e: typeof expect) => unknown])[] = [
  ['the same value', e => e(1).toBe(1)],
  ['another value', e => e(1).toBe(2)],
  ['equal members, one undefined', e => e({ a: [1], b: undefined }).toEqual({ a: [1] })],
  ['another item', e => e([1]).toEqual([2])],
  ['one item more', e => e([1, 2]).toEqual([1])],
  ['another member', e => e({ a: 1, b: 2 }).toEqual({ a: 1 })],
  ['equal bytes', e => e({ value: bytes }).toMatchObject({ value: Buffer.from('ab') })],
  ['other bytes', e => e({ value: bytes }).toMatchObject({ value: Buffer.from('ac') })],
  ['part of an object', e => e({ a: { b: 1, c: 2 }, d: 3 }).toMatchObject({ a: { b: 1 } })],
  ['part of each item', e => e([{ a: 1, b: 2 }]).toMatchObject([{ a: 1 }])],
  ['fewer items than there are', e => e([{ a: 1 }, { a: 2 }]).toMatchObject([{ a: 1 }])],
  ['a member that is missing', e => e({ a: 1 }).toMatchObject({ b: 1 })],
  ['nothing', e => e(undefined).toMatchObject({ b: 1 })],
  ['its length', e => e([1]).toHaveLength(1)],
  ['another length', e => e([1]).toHaveLength(2)],
  ['undefined', e => e(undefined).toBeUndefined()],
  ['null for undefined', e => e(null).toBeUndefined()],
  ['more', e => e(2).toBeGreaterThan(1)],
  ['not more', e => e(1).toBeGreaterThan(1)],
  ['at least', e => e(1).toBeGreaterThanOrEqual(1)],
  ['less', e => e(0).toBeGreaterThanOrEqual(1)],
  ['a rejection of that class', e => e(Promise.reject(new TypeError('x'))).rejects.toThrow(TypeError)],
  ['a rejection of another class', e => e(Promise.reject(new TypeError('x'))).rejects.toThrow(RangeError)],
  ['a rejection with that message', e => e(Promise.reject(new Error('a b'))).rejects.toThrow('b')],
  ['a rejection with another message', e => e(Promise.reject(new Error('a b'))).rejects.toThrow('c')],
  ['less than', e => e(1).toBeLessThan(2)],
  ['not less than', e => e(2).toBeLessThan(2)],
  ['a pattern', e => e('ab').toMatch(/b$/)],
  ['another pattern', e => e('ab').toMatch(/a$/)],
  ['a part', e => e('ab').toContain('b')],
  ['an item', e => e(['a', 'b']).toContain('b')],
  ['no part', e => e('ab').toContain('c')],
  ['the absence of a part', e => e('ab').not.toContain('c')],
  ['the absence of a part that exists', e => e('ab').not.toContain('b')],
  ['no rejection', e => e(Promise.resolve(1)).rejects.toThrow()],
  [
    'members of the rejection',
    e => e(Promise.reject(Object.assign(new Error('x'), { a: 1 }))).rejects.toMatchObject({ a: 1 }),
  ],
  ['other members of the rejection', e => e(Promise.reject(new Error('x'))).rejects.toMatchObject({ a: 1 })],
];

describe('an expectation', () => {
  const holds = async (run: () => unknown): Promise<boolean> => {
    try {
      await run();
      return true;
    } catch {
      return false;
    }
  };

  test.each(cases)('of %s passes if and only if that of the test runner does', async (_name, run) => {
    check(await holds(() => run(expect))).toBe(await holds(() => run(check as unknown as typeof expect)));
  });
});
