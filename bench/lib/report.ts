import type { Row } from './case.js';

const number = (value: number | undefined, digits = 0): string =>
  value === undefined || !Number.isFinite(value)
    ? ''
    : value.toLocaleString('en-US', { maximumFractionDigits: digits, minimumFractionDigits: digits });

function ratio({ value, baseline, aim, atMost }: Row): string {
  if (!baseline) return '';
  const share = value / baseline;
  const met = aim === undefined ? '' : (atMost ? share <= aim : share >= aim) ? ' ok' : ' below';
  return `${share.toFixed(2)}${aim === undefined ? '' : ` (${aim})`}${met}`;
}

const HEAD = [
  'case',
  'value',
  'unit',
  'baseline',
  'ratio (aim)',
  'CPU µs: user',
  'system',
  'baseline',
  'RSS MB',
  'notes',
];

const cells = (row: Row): string[] => [
  row.case,
  number(row.value, row.value < 100 ? 1 : 0),
  row.unit,
  number(row.baseline, row.baseline !== undefined && row.baseline < 100 ? 1 : 0),
  ratio(row),
  number(row.userUs, 1),
  number(row.systemUs, 1),
  number(row.baselineUs, 1),
  number(row.residentMb),
  row.note ?? '',
];

/** Rows as a Markdown table. */
export function table(rows: readonly Row[]): string {
  const lines = [HEAD, ...rows.map(cells)];
  const widths = HEAD.map((_, i) => Math.max(...lines.map(line => line[i]?.length ?? 0)));
  const line = (parts: readonly string[]): string =>
    `| ${parts.map((part, i) => part.padEnd(widths[i] ?? 0)).join(' | ')} |`;
  return [line(HEAD), line(widths.map(width => '-'.repeat(width))), ...rows.map(row => line(cells(row)))].join('\n');
}
