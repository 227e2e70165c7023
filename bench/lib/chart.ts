import type { Row } from './case.js';
import { escapeXml, svgText as text } from './svg.js';

const WIDTH = 860;
const MARGIN = 20;
const TOP = 66;
const LINE = 24;
const BAR = 14;
/** The plot begins to the right of the labels, and ends to the left of the figures. */
const PLOT = { left: 330, right: 700 };
/** The widest scale: values beyond it are drawn at its end. */
const MOST = 64;

/** Readable in light and dark: a viewer that prefers dark gets the second set of colors. */
const STYLE = `
  svg { --back: #ffffff; --text: #1f2328; --faint: #59636e; --grid: #d1d9e0; --good: #1a7f37; --bad: #b35900; }
  @media (prefers-color-scheme: dark) {
    svg { --back: #0d1117; --text: #e6edf3; --faint: #9198a1; --grid: #3d444d; --good: #57ab5a; --bad: #f0a35e; }
  }
  text { font: 12px system-ui, sans-serif; fill: var(--text); }
  .title { font-size: 15px; font-weight: 600; }
  .faint { fill: var(--faint); }
  .end { text-anchor: end; }
  .middle { text-anchor: middle; }
  .grid { stroke: var(--grid); }
  .one { stroke: var(--faint); stroke-width: 2; }
  .good { fill: var(--good); }
  .bad { fill: var(--bad); }`;

/** A value in relation to another: the ratio. */
export interface Compared {
  readonly label: string;
  readonly ratio: number;
  /** The text next to the bar. */
  readonly figure: string;
  /** True if less is better. */
  readonly isLessBetter: boolean;
}

/** A ratio with three digits at most: `0.045`, `1.2`, `12`. */
const ratioText = (ratio: number): string => String(Number(ratio.toPrecision(2)));

/** A chart of ratios on a logarithmic axis, as SVG: bars begin at 1. `than` is the name of the value at 1. */
export function ratioChart(title: string, than: string, rows: readonly Compared[]): string {
  const furthest = Math.max(2, ...rows.map(({ ratio }) => Math.max(ratio, 1 / ratio)));
  const span = Math.ceil(Math.log2(Math.min(MOST, furthest)));
  const below = rows.some(({ ratio }) => ratio < 1) ? span : 0;
  const above = rows.some(({ ratio }) => ratio > 1) || below === 0 ? span : 0;
  const at = (ratio: number): number => {
    const place = Math.max(-below, Math.min(above, Math.log2(ratio)));
    return PLOT.left + ((place + below) / (below + above)) * (PLOT.right - PLOT.left);
  };
  const height = TOP + rows.length * LINE + MARGIN;
  const ticks = Array.from({ length: below + above + 1 }, (_, i) => 2 ** (i - below));
  const grid = ticks.flatMap(tick => [
    `<line x1="${at(tick).toFixed(1)}" x2="${at(tick).toFixed(1)}" y1="${TOP - 8}" y2="${height - MARGIN}" class="${tick === 1 ? 'one' : 'grid'}"/>`,
    text(at(tick), TOP - 14, tick === 1 ? than : ratioText(tick), 'faint middle'),
  ]);
  const bars = rows.flatMap(({ label, ratio, figure, isLessBetter }, i) => {
    const [from, to] = [at(1), at(ratio)].sort((a, b) => a - b) as [number, number];
    const y = TOP + i * LINE;
    const isGood = isLessBetter ? ratio <= 1 : ratio >= 1;
    const place = `x="${from.toFixed(1)}" y="${y}" width="${(to - from).toFixed(1)}" height="${BAR}"`;
    return [
      text(PLOT.left - 12, y + BAR - 3, label, 'end'),
      `<rect ${place} class="${isGood ? 'good' : 'bad'}"/>`,
      text(PLOT.right + 12, y + BAR - 3, figure),
    ];
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="${escapeXml(title)}">
<style>${STYLE}</style>
<rect width="${WIDTH}" height="${height}" fill="var(--back)"/>
${[text(MARGIN, 28, title, 'title'), ...grid, ...bars].join('\n')}
</svg>
`;
}

/** The label of a case, shortened to the available space. */
const shortLabel = (label: string): string => (label.length > 46 ? `${label.slice(0, 45)}…` : label);

/** A chart of the common table: each value next to its baseline. Rows without a baseline are omitted. */
export function tableChart(title: string, than: string, rows: readonly Row[]): string {
  const compared = rows.flatMap(({ case: label, value, baseline, unit, atMost }) => {
    if (!baseline || !(value > 0)) return [];
    const ratio = value / baseline;
    // More is better for rates per second, less for all other units.
    const isLessBetter = atMost ?? !/\/s$/.test(unit);
    return [{ label: shortLabel(label), ratio, figure: `${ratioText(ratio)} times`, isLessBetter }];
  });
  return ratioChart(title, than, compared);
}
