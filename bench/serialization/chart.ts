import { svgText as text } from '../lib/svg.js';
import type { Measurement } from './measure.js';
import { type Pair, pairsOf } from './table.js';

const WIDTH = 980;
const MARGIN = 24;
/** Height of the title and legend, of a panel's heading, and of a line. */
const TOP = 80;
const HEADING = 48;
const LINE = 20;
/** The plot begins to the right of the names of the engines, and ends to the left of the columns of figures. */
const PLOT = { left: 310, right: 690 };
/** Right edges of the columns of figures. */
const COLUMNS = { encode: 765, decode: 840, bytes: 956 };

/** Readable in light and dark: a viewer that prefers dark gets the second set of colors. */
const STYLE = `
  svg { --back: #ffffff; --text: #1f2328; --faint: #59636e; --grid: #d1d9e0; --encode: #0b66c2; --decode: #b35900; }
  @media (prefers-color-scheme: dark) {
    svg { --back: #0d1117; --text: #e6edf3; --faint: #9198a1; --grid: #3d444d; --encode: #6cb6ff; --decode: #f0a35e; }
  }
  text { font: 12px system-ui, sans-serif; fill: var(--text); }
  .title { font-size: 16px; font-weight: 600; }
  .heading { font-size: 13px; font-weight: 600; }
  .faint { fill: var(--faint); }
  .end { text-anchor: end; }
  .middle { text-anchor: middle; }
  .grid { stroke: var(--grid); }
  .one { stroke: var(--faint); }
  .encode { fill: var(--encode); stroke: var(--encode); }
  .decode { fill: none; stroke: var(--decode); stroke-width: 2; }`;

const threeDigits = (value: number): string =>
  value >= 100 ? value.toFixed(0) : value.toPrecision(2 + Number(value >= 10));

/** A time with its unit. */
function timeText(us: number): string {
  if (us < 1000) return `${threeDigits(us)} µs`;
  return us < 1e6 ? `${threeDigits(us / 1000)} ms` : `${threeDigits(us / 1e6)} s`;
}

/** A number of bytes with its unit. */
function bytesText(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  return bytes < 1e6 ? `${threeDigits(bytes / 1000)} KB` : `${threeDigits(bytes / 1e6)} MB`;
}

/** Powers of two that enclose all ratios, so that panels share one logarithmic axis. */
interface Axis {
  readonly low: number;
  readonly high: number;
}

const positionOf = ({ low, high }: Axis, ratio: number): number =>
  PLOT.left + ((Math.log2(ratio) - low) / (high - low)) * (PLOT.right - PLOT.left);

/** The ratio of an engine's time to that of the panel's first engine. */
const ratioOf = (measurement: Measurement | undefined, first: Measurement | undefined): number | undefined =>
  measurement && first && first.us > 0 ? measurement.us / first.us : undefined;

const OPERATIONS = ['encode', 'decode'] as const;

function axisOf(panels: readonly (readonly Pair[])[]): Axis {
  const logs = panels
    .flatMap(pairs =>
      pairs.flatMap(pair => OPERATIONS.map(operation => ratioOf(pair[operation], pairs[0]![operation]))),
    )
    .filter(ratio => ratio !== undefined)
    .map(Math.log2);
  return { low: Math.floor(Math.min(-1, ...logs)), high: Math.ceil(Math.max(1, ...logs)) };
}

const tickText = (power: number): string => (power < 0 ? `1/${2 ** -power}` : String(2 ** power));

function gridOf(axis: Axis, top: number, bottom: number): string[] {
  return Array.from({ length: axis.high - axis.low + 1 }, (_, i) => axis.low + i).flatMap(power => {
    const x = positionOf(axis, 2 ** power).toFixed(1);
    const line = `<line class="${power === 0 ? 'one' : 'grid'}" x1="${x}" x2="${x}" y1="${top}" y2="${bottom}"/>`;
    return [line, text(Number(x), top - 5, tickText(power), 'faint middle')];
  });
}

const mark = (operation: (typeof OPERATIONS)[number], x: number, y: number): string =>
  operation === 'encode'
    ? `<circle class="encode" cx="${x.toFixed(1)}" cy="${y}" r="5"/>`
    : `<rect class="decode" x="${(x - 4.5).toFixed(1)}" y="${y - 4.5}" width="9" height="9"/>`;

function lineOf(axis: Axis, pair: Pair, first: Pair, y: number): string[] {
  const marks = OPERATIONS.flatMap(operation => {
    const ratio = ratioOf(pair[operation], first[operation]);
    return ratio === undefined ? [] : [mark(operation, positionOf(axis, ratio), y)];
  });
  const times = OPERATIONS.map(operation =>
    text(COLUMNS[operation], y + 4, pair[operation] ? timeText(pair[operation].us) : '', 'end'),
  );
  const share = `${bytesText(pair.bytes)} (${Math.round((100 * pair.bytes) / first.bytes)} %)`;
  return [text(MARGIN, y + 4, pair.engine), ...marks, ...times, text(COLUMNS.bytes, y + 4, share, 'end')];
}

/** One sample: a line for each engine. */
function panelOf(axis: Axis, pairs: readonly Pair[], top: number): string[] {
  const first = pairs[0]!;
  const body = top + HEADING;
  return [
    text(MARGIN, top + HEADING - 26, `${first.sample}, ${bytesText(first.bytes)} of ${first.engine}`, 'heading'),
    ...OPERATIONS.map(operation => text(COLUMNS[operation], body - 5, operation, 'faint end')),
    text(COLUMNS.bytes, body - 5, 'bytes', 'faint end'),
    ...gridOf(axis, body, body + pairs.length * LINE),
    ...pairs.flatMap((pair, i) => lineOf(axis, pair, first, body + i * LINE + LINE / 2)),
  ];
}

const legendOf = (): string[] => [
  mark('encode', MARGIN + 6, 62),
  text(MARGIN + 18, 66, 'encode'),
  mark('decode', MARGIN + 86, 62),
  text(MARGIN + 98, 66, 'decode'),
  text(MARGIN + 170, 66, 'to the left is faster; the axis is logarithmic', 'faint'),
];

/** An SVG chart of the times relative to those of the first engine: a panel for each sample, a line for each engine. */
export function chartOf(measurements: readonly Measurement[]): string {
  const pairs = pairsOf(measurements);
  const samples = new Set(pairs.map(({ sample }) => sample));
  const panels = Array.from(samples, name => pairs.filter(({ sample }) => sample === name));
  const axis = axisOf(panels);
  let top = TOP;
  const drawn = panels.flatMap(panel => {
    const parts = panelOf(axis, panel, top);
    top += HEADING + panel.length * LINE + 10;
    return parts;
  });
  const height = top + MARGIN;
  const first = panels[0]?.[0]?.engine ?? '';
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" viewBox="0 0 ${WIDTH} ${height}">`,
    `<style>${STYLE}\n</style>`,
    `<rect width="${WIDTH}" height="${height}" fill="var(--back)"/>`,
    text(MARGIN, 36, `Time per operation as a multiple of ${first}’s`, 'title'),
    ...legendOf(),
    ...drawn,
    '</svg>\n',
  ].join('\n');
}
