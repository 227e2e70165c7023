import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { type Compared, ratioChart, tableChart } from '../../bench/lib/chart.js';

const script = new URL('../../scripts/docs/upstreamCharts.mjs', import.meta.url).href;
const { CHARTS, comparedIn } = (await import(script)) as {
  CHARTS: Readonly<Record<string, { readonly title: string }>>;
  comparedIn(performance: string, chart: object): readonly Compared[];
};
const performance = readFileSync('docs/performance.md', 'utf8');

describe('the charts of the comparison with upstream', () => {
  test.each(Object.entries(CHARTS))('%s shows the table of the page', (path, chart) => {
    expect(readFileSync(path, 'utf8')).toBe(ratioChart(chart.title, 'upstream', comparedIn(performance, chart)));
  });

  test('have a bar for each value', () => {
    const [rates, cpu] = Object.values(CHARTS).map(chart => comparedIn(performance, chart));
    expect(rates!.map(({ label, ratio }) => [label, ratio])).toEqual(
      expect.arrayContaining([
        ['create by 1 client', 1.9],
        ['create by 16 clients', 3.3],
        ['create by 64 clients', 3.7],
        ['get, JSON', 10.1],
        ['get, protobuf', 5.8],
      ]),
    );
    expect(cpu!.every(({ label, ratio }) => label !== '' && ratio > 0)).toBe(true);
  });
});

describe('a chart of results', () => {
  const row = (name: string, value: number, unit: string, rest = {}) => ({ case: name, value, unit, ...rest });

  test('has the cases with a baseline, on one axis', () => {
    const chart = tableChart('Title <1>', 'baseline', [
      row('get', 50, 'requests/s', { baseline: 100 }),
      row('lag', 50, 'ms', { baseline: 100 }),
      row('alone', 5, 'ms'),
    ]);
    expect(chart.match(/<rect x=/g)).toHaveLength(2);
    expect(chart).toMatch(/class="bad".*\n<text[^>]*>0\.5 times</);
    expect(chart).toContain('Title &#60;1&#62;');
    expect(chart).not.toMatch(/NaN|Infinity|alone|href=/);
  });

  test('treats lower values as better where the target is an upper limit', () => {
    const of = (rest: object) => tableChart('', '', [row('a', 2, 'MB/s', { baseline: 1, ...rest })]);
    expect(of({})).toContain('class="good"');
    expect(of({ atMost: true })).toContain('class="bad"');
  });
});
