import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { runTable, type Table } from '../../core/cel/index.js';

/**
 * Edge cases of every library, in the form of the recorded tables. The results were derived by hand from the documented
 * rules of upstream.
 */
const tables = JSON.parse(readFileSync(new URL('./edges.json', import.meta.url), 'utf8')) as Table[];

describe('edge cases of the libraries', () => {
  for (const table of tables) {
    const results = runTable(table, text => parse(text, { intAsBigInt: true }));
    it(`${table.name}: every expression gives the derived result`, () => {
      expect(table.cases.map((c, i) => ({ expr: c.expr, result: results[i] }))).toEqual(table.cases);
    });
  }
});
