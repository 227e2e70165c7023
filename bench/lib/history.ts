import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Row } from './case.js';
import { formatNumber } from './report.js';

/** The content of a file of results. */
export interface SavedResults {
  readonly commit: string;
  /** The time of the measurement, in ISO 8601. */
  readonly at: string;
  readonly short: boolean;
  readonly rows: readonly Row[];
}

/** A measurement of a case at a commit. */
interface Point {
  readonly commit: string;
  readonly row: Row;
}

/** The results in a directory, the oldest first, without those of short runs. */
export function readHistory(directory: string): SavedResults[] {
  const files = readdirSync(directory).filter(name => name.endsWith('.json'));
  const all = files.map(name => JSON.parse(readFileSync(join(directory, name), 'utf8')) as SavedResults);
  return all.filter(({ short }) => !short).sort((a, b) => (a.at < b.at ? -1 : 1));
}

const ESCAPES: { readonly [character: string]: string } = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
const escapeHtml = (text: string): string => text.replace(/[&<>"]/g, character => ESCAPES[character]!);

/** The value of a row in a chart: the ratio to the baseline if there is one, since it depends less on the machine. */
const shownOf = ({ value, baseline }: Row): number => (baseline ? value / baseline : value);

const [WIDTH, HEIGHT, MARGIN] = [240, 60, 8];

/** A line chart over commits, with an axis from zero; the points have the commits and values as titles. */
function chart(points: readonly Point[]): string {
  const values = points.map(({ row }) => shownOf(row));
  const highest = Math.max(...values, Number.MIN_VALUE);
  const step = (WIDTH - 2 * MARGIN) / Math.max(1, points.length - 1);
  const places = values.map((value, i) => {
    const [x, y] = [MARGIN + i * step, HEIGHT - MARGIN - (value / highest) * (HEIGHT - 2 * MARGIN)];
    return [x.toFixed(1), y.toFixed(1)] as const;
  });
  const dots = places.map(([x, y], i) => {
    const title = `${points[i]!.commit}: ${formatNumber(values[i], 2)}`;
    return `<circle cx="${x}" cy="${y}" r="3"><title>${escapeHtml(title)}</title></circle>`;
  });
  const line = `<polyline points="${places.map(place => place.join()).join(' ')}"/>`;
  return `<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" width="${WIDTH}" height="${HEIGHT}">${line}${dots.join('')}</svg>`;
}

function rowOf(name: string, points: readonly Point[]): string {
  const { commit, row } = points.at(-1)!;
  const { value, baseline, unit, userUs, systemUs } = row;
  const cpu = userUs === undefined ? undefined : userUs + (systemUs ?? 0);
  const cells = [
    name,
    `${formatNumber(value, value < 100 ? 1 : 0)} ${unit}`,
    formatNumber(baseline, 1),
    baseline ? (value / baseline).toFixed(2) : '',
    formatNumber(cpu, 1),
    commit,
  ].map(cell => `<td>${escapeHtml(cell)}</td>`);
  return `<tr>${cells.join('')}<td>${chart(points)}</td></tr>`;
}

const STYLE = `body{font:14px sans-serif;margin:2em}td,th{padding:2px 12px;text-align:left;border-bottom:1px solid #ddd}
polyline{fill:none;stroke:#36c;stroke-width:2}circle{fill:#36c}`;
const HEAD = ['case', 'latest value', 'baseline', 'ratio', 'CPU µs', 'commit', 'over commits: ratio, or value'];

/** A self-contained page with every case over all commits at which it was measured. */
export function historyPage(history: readonly SavedResults[]): string {
  const cases = new Map<string, Point[]>();
  for (const { commit, rows } of history)
    for (const row of rows) {
      const points = cases.get(row.case);
      if (points) points.push({ commit, row });
      else cases.set(row.case, [{ commit, row }]);
    }
  const head = HEAD.map(title => `<th>${title}</th>`).join('');
  const body = Array.from(cases, ([name, points]) => rowOf(name, points)).join('\n');
  return `<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Benchmarks</title><style>${STYLE}</style>
<h1>Benchmarks</h1>
<p>Each case with its latest value and its baseline, and over commits. Machines differ: compare figures of one run.</p>
<table><tr>${head}</tr>
${body}
</table></html>
`;
}
