import fc from 'fast-check';
import { expect, test } from 'vitest';
import { listLength, listOptionsOf, listParts } from '../../core/front/list.js';
import { Entry } from '../../core/threads/entry.js';
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

test('the parts of a list are its JSON, and as long as is said', () => {
  fc.assert(
    fc.property(fc.array(fc.string()), names => {
      const items = names.map(name => new Entry('', 1, Buffer.from(`{${JSON.stringify({ name }).slice(1)}`)));
      const head = Buffer.from('{"items":[');
      const body = Buffer.concat([...listParts(head, items, 1)]);
      expect(body.toString()).toBe(`${JSON.stringify({ items: names.map(name => ({ name })) })}\n`);
      expect(listLength(head, items, 1)).toBe(body.length);
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
