import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';

// Set before the engine is loaded: no module may read the time zone of the process.
process.env.TZ = 'Asia/Kolkata';
const { runTable } = await import('../../core/cel/index.js');

describe('in another time zone [A471]', () => {
  it('the process is not in UTC', () => {
    expect(new Date(0).getTimezoneOffset()).toBe(-330);
  });
  for (const file of ['tables.json', 'edges.json']) {
    it(`${file}: every expression gives the same result`, () => {
      for (const table of JSON.parse(readFileSync(new URL(`./${file}`, import.meta.url), 'utf8'))) {
        const results = runTable(table, text => parse(text, { intAsBigInt: true }));
        expect(results).toEqual(table.cases.map((c: { result: string }) => c.result));
      }
    });
  }
});
