import { expect, test } from 'vitest';
import { historyPage } from '../../bench/lib/history.js';

const rowOf = (value: number) => ({ case: 'get <1.5 KB>', unit: 'requests/s', value, baseline: 100, userUs: 8 });

test('the page of results has each case once, with its values by commit, and loads no external files', () => {
  const page = historyPage([
    { commit: 'aaa', at: '2026-01-01', short: false, rows: [rowOf(50)] },
    { commit: 'bbb', at: '2026-01-02', short: false, rows: [rowOf(80), { case: 'new', unit: 'ms', value: 0 }] },
  ]);
  expect(page.match(/get &lt;1\.5 KB&gt;/g)).toHaveLength(1);
  expect(page).toContain('<td>80.0 requests/s</td><td>100.0</td><td>0.80</td><td>8.0</td><td>bbb</td>');
  expect([...page.matchAll(/<title>(\w+: [\d.]+)<\/title>/g)].map(([, title]) => title)).toEqual([
    'aaa: 0.50',
    'bbb: 0.80',
    'bbb: 0.00',
  ]);
  expect(page).not.toMatch(/NaN|<script|src=|href=/);
});
