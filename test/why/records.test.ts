import { describe, expect, test } from 'vitest';
import type { DecisionRecord, User } from '../../core/api/index.js';
import type { Json } from '../../core/model/object.js';
import { applyJsonPatch } from '../../core/schema/patch/jsonPatch.js';
import { createJsonPatch } from '../../core/schema/patch/createJsonPatch.js';
import { Decisions } from '../../core/services/decisions/decisions.js';
import { readRecord, writeRecord } from '../../core/services/decisions/recordText.js';

const record = (auditId: string, code: number, more: Partial<DecisionRecord> = {}): DecisionRecord => ({
  auditId,
  code,
  at: 0,
  ms: 1,
  path: '/version',
  target: { is: 'path', verb: 'get', path: '/version' },
  ...more,
});
const refusal = (message: string) => ({ reason: 'Forbidden', message, causes: [] });
const idsIn = (decisions: Decisions, before = Number.POSITIVE_INFINITY): string[] =>
  Array.from(decisions.newestFirst(before), one => one.record.auditId);

describe('the records of decisions', () => {
  test('are the last 10,000 refusals and 1,000 writes, which do not displace each other', () => {
    const decisions = new Decisions();
    for (let i = 0; i < 1001; i++) decisions.add(record(`w${i}`, 201));
    for (let i = 0; i < 10_001; i++) decisions.add(record(`r${i}`, 403));
    expect(decisions.get('r0')).toBeUndefined();
    expect(decisions.get('w0')).toBeUndefined();
    expect([decisions.get('r1')?.code, decisions.get('w1')?.code]).toEqual([403, 201]);
    expect(idsIn(decisions)).toHaveLength(11_000);
  });

  test('are limited in bytes, in addition to their number', () => {
    const decisions = new Decisions({ refusals: 10, refusalBytes: 50_000, writes: 10, writeBytes: 1000 });
    for (let i = 0; i < 5; i++) decisions.add(record(`r${i}`, 403, { refusal: refusal('x'.repeat(10_000)) }));
    expect(idsIn(decisions)).toEqual(['r4', 'r3']);
    // The last record is kept, even if it is too large.
    decisions.add(record('w', 201, { steps: 'x'.repeat(10_000) }));
    expect(idsIn(decisions)).toEqual(['w', 'r4', 'r3']);
  });

  test('are limited including their users, which records of the same credentials share', () => {
    const userOf = (name: string): User => ({ name, uid: '', groups: ['g'.repeat(10_000)], extra: new Map() });
    const decisions = new Decisions({ refusals: 10, refusalBytes: 50_000, writes: 1, writeBytes: 1 });
    for (let i = 0; i < 5; i++) decisions.add(record(`r${i}`, 403, { user: userOf(`u${i}`) }));
    expect(idsIn(decisions)).toEqual(['r4', 'r3']);
    const user = userOf('same');
    for (let i = 0; i < 5; i++) decisions.add(record(`s${i}`, 403, { user, impersonator: user }));
    expect(idsIn(decisions)).toEqual(['s4', 's3', 's2', 's1', 's0', 'r4']);
  });

  test('are read from the newest to the oldest, also starting at a number', () => {
    const decisions = new Decisions();
    for (const [i, code] of [201, 403, 201, 404].entries()) decisions.add(record(`${i}`, code));
    expect(idsIn(decisions)).toEqual(['3', '2', '1', '0']);
    expect(idsIn(decisions, 3)).toEqual(['1', '0']);
  });

  test('with the same id: the last one counts, and remains when the first is dropped', () => {
    const decisions = new Decisions({ refusals: 2, refusalBytes: 1e6, writes: 1, writeBytes: 1e6 });
    for (const message of ['one', 'two', 'three']) decisions.add(record('same', 403, { refusal: refusal(message) }));
    expect(decisions.get('same')?.refusal?.message).toBe('three');
  });

  test('are serialized as text, with all attributes of users', () => {
    const user = { name: 'a', uid: '', groups: ['g'], extra: new Map([['__proto__', ['b']]]) };
    const given = record('a', 403, { user });
    expect(readRecord(writeRecord(given))).toEqual({ ...given, impersonator: undefined });
  });
});

describe('a patch of a change', () => {
  const CASES: readonly (readonly [string, Json, Json])[] = [
    ['members', { a: 1, b: { c: [1, 2, 3] }, 'x/~y': 1 }, { b: { c: [1, 3], d: null }, 'x/~y': 2 }],
    ['items at the beginning, in the middle and at the end', [1, 2, 3, 4], [0, 1, 2, 5, 4, 6]],
    ['items that differ in a member', [{ name: 'a' }, { name: 'b' }], [{ name: 'a', image: 'i' }, { name: 'b' }]],
    ['other types', { a: [1], b: {} }, { a: { 0: 1 }, b: [] }],
    ['nothing', { a: 1 }, { a: 1 }],
  ];

  test.each(CASES)('converts the object before the change into the one after it: %s', (_what, before, after) => {
    const patch = createJsonPatch(before, after);
    expect(applyJsonPatch(structuredClone(before), patch, 100)).toEqual(after);
    expect(createJsonPatch(after, after)).toEqual([]);
  });

  test('omits members that are undefined', () => {
    const given = { a: undefined, b: { c: undefined } } as unknown as Json;
    expect([createJsonPatch(given, { b: {} }), createJsonPatch({ b: {} }, given)]).toEqual([[], []]);
  });

  test('changes only members that differ', () => {
    expect(createJsonPatch({ spec: { a: 1, b: 2 } }, { spec: { a: 1, b: 3 } })).toEqual([
      { op: 'replace', path: '/spec/b', value: 3 },
    ]);
  });
});
