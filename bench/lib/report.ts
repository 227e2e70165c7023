import type { Row } from './case.js';

/** A number with thousands separators; an empty string for undefined. */
export const formatNumber = (value: number | undefined, digits = 0): string =>
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
  formatNumber(row.value, row.value < 100 ? 1 : 0),
  row.unit,
  formatNumber(row.baseline, row.baseline !== undefined && row.baseline < 100 ? 1 : 0),
  ratio(row),
  formatNumber(row.userUs, 1),
  formatNumber(row.systemUs, 1),
  formatNumber(row.baselineUs, 1),
  formatNumber(row.residentMb),
  row.note ?? '',
];

/** Lines of cells as a Markdown table with columns of equal width. */
export function markdownTable(head: readonly string[], lines: readonly (readonly string[])[]): string {
  const widths = head.map((title, i) => Math.max(title.length, ...lines.map(line => line[i]?.length ?? 0)));
  const lineOf = (cells: readonly string[]): string =>
    `| ${cells.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join(' | ')} |`;
  return [head, widths.map(width => '-'.repeat(width)), ...lines].map(lineOf).join('\n');
}

/** Rows as a Markdown table. */
export const table = (rows: readonly Row[]): string => markdownTable(HEAD, rows.map(cells));
