import fc from 'fast-check';
import { expect, test } from 'vitest';
import { listOptionsOf, listPieces } from '../../core/front/list.js';
import { parseQuery } from '../../core/front/query.js';
import type { Naming } from '../../core/naming.js';

const naming = { group: (name: string) => name } as Naming;
const codeOf = (query: string): number => {
  try {
    listOptionsOf(parseQuery(query), naming);
    return 200;
  } catch (error) {
    return (error as { code: number }).code;
  }
};

test('a list has the same bytes whatever the size of its slices', () => {
  fc.assert(
    fc.property(fc.array(fc.string()), fc.integer({ min: 1, max: 200 }), (names, slice) => {
      const items = names.map(name => Buffer.from(`{${JSON.stringify({ name }).slice(1)}`));
      const body = Buffer.concat([...listPieces(Buffer.from('{"items":['), items, 1, slice)]).toString();
      expect(body).toBe(`${JSON.stringify({ items: names.map(name => ({ name })) })}\n`);
    }),
  );
});

test.each([
  ['resourceVersionMatch=Exact', 400],
  ['resourceVersionMatch=Exact&resourceVersion=0', 400],
  ['continue=x&resourceVersion=5', 400],
  ['resourceVersionMatch=Newest&resourceVersion=5', 422],
  ['resourceVersionMatch=Exact&resourceVersion=5&continue=x', 422],
  ['sendInitialEvents=true', 422],
  ['timeoutSeconds=x', 400],
  ['limit=9223372036854775807', 200],
  ['limit=9223372036854775808', 400],
])('[R162] the list options %s are answered with %d', (query, code) => {
  expect(codeOf(query)).toBe(code);
});
