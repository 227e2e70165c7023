import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { runTable, type Table } from '../../core/cel/index.js';

const tables = JSON.parse(readFileSync(new URL('./tables.json', import.meta.url), 'utf8')) as Table[];

describe('recorded expression tables', () => {
  for (const table of tables) {
    const results = runTable(table, text => parse(text, { intAsBigInt: true }));
    it(`${table.name}: every expression gives the recorded result`, () => {
      expect(table.cases.map((c, i) => ({ expr: c.expr, result: results[i] }))).toEqual(table.cases);
    });
  }
});
