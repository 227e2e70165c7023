import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { runTable, type Table } from '../../core/cel/index.js';

const tables = JSON.parse(readFileSync(new URL('./tables.json', import.meta.url), 'utf8')) as Table[];

describe('a table', () => {
  it('is evaluated with the defaults of its schema', () => {
    const text = { type: 'string' };
    const properties = {
      mode: { ...text, default: 'auto' },
      nested: { type: 'object', default: {}, properties: { n: { type: 'integer', default: 3 } } },
      list: { type: 'array', items: { type: 'object', properties: { a: { ...text, default: 'x' } } } },
      map: { type: 'object', additionalProperties: { type: 'object', properties: { a: { ...text, default: 'y' } } } },
      free: { ...text, nullable: true, default: 'z' },
    };
    const expressions = ['self.mode', 'self.nested.n', 'self.list[0].a', 'self.map.k.a', 'has(self.free)'];
    const table = {
      schema: { type: 'object', properties } as const,
      self: '{"mode": null, "list": [{}], "map": {"k": {}}, "free": null}',
      cases: expressions.map(expr => ({ expr })),
    };
    const results = runTable(table, text => parse(text, { intAsBigInt: true }));
    expect(results).toEqual(['= auto', '= 3', '= x', '= y', '= false']);
  });
});

describe('recorded expression tables', () => {
  for (const table of tables) {
    const results = runTable(table, text => parse(text, { intAsBigInt: true }));
    it(`${table.name}: every expression gives the recorded result`, () => {
      expect(table.cases.map((c, i) => ({ expr: c.expr, result: results[i] }))).toEqual(table.cases);
    });
  }
});
