import { useEffect, useMemo, useRef } from 'preact/hooks';
import UPlot from 'uplot';
import { isDark } from '../../shell/theme.js';
import type { Snapshot } from '../metrics/snapshot.js';
import { type Chart, dataOf } from './series.js';

/** Variables of the page with the colors of lines, in the order of series. */
const COLORS = ['--accent', '--good', '--warn', '--bad'];
const HEIGHT = 170;
/** Pixels of the scale at the left. */
const SCALE = 66;

const variable = (name: string): string => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

/** A time of the day. */
const clock = (seconds: number): string => new Date(seconds * 1000).toLocaleTimeString('en-GB');

function optionsOf({ series, format }: Chart, width: number): UPlot.Options {
  const axis = {
    stroke: variable('--ink-soft'),
    grid: { stroke: variable('--line'), width: 1 },
    ticks: { show: false },
  };
  return {
    width,
    height: HEIGHT,
    legend: { show: false },
    cursor: { drag: { x: false, y: false }, y: false },
    scales: { y: { range: (_, __, max) => [0, Math.max(max * 1.15, Number.MIN_VALUE) || 1] } },
    axes: [
      { ...axis, space: 90, size: 28, values: (_, splits) => splits.map(clock) },
      { ...axis, size: SCALE, space: 34, values: (_, splits) => splits.map(format) },
    ],
    series: [
      {},
      ...series.map(({ label }, i) => ({
        label,
        stroke: variable(COLORS[i]!),
        width: 1.75,
        points: { show: false },
        spanGaps: true,
      })),
    ],
  };
}

/** A chart with its last values, which are also shown as text. */
export function ChartCard({ chart, snapshots }: { readonly chart: Chart; readonly snapshots: readonly Snapshot[] }) {
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<UPlot | undefined>(undefined);
  const data = useMemo(() => dataOf(chart, snapshots), [snapshots]);
  const latest = useRef(data);
  latest.current = data;
  const dark = isDark();
  useEffect(() => {
    const element = place.current!;
    // Colors are read once the theme of the document has changed.
    const frame = requestAnimationFrame(() => {
      plot.current = new UPlot(optionsOf(chart, element.clientWidth), latest.current, element);
    });
    const observer = new ResizeObserver(() => plot.current?.setSize({ width: element.clientWidth, height: HEIGHT }));
    observer.observe(element);
    return () => {
      cancelAnimationFrame(frame);
      observer.disconnect();
      plot.current?.destroy();
      plot.current = undefined;
    };
  }, [dark]);
  useEffect(() => plot.current?.setData(data), [data]);
  const values = chart.series.map(({ label }, i) => {
    const value = data[i + 1]?.findLast(of => of !== null);
    return { label, text: value === undefined || value === null ? '–' : chart.format(value) };
  });
  return (
    <section class="card chart" aria-label={chart.title}>
      <div class="row">
        <h2>{chart.title}</h2>
        <span class="soft small">{chart.note}</span>
      </div>
      <div class="chart-plot" ref={place} role="img" aria-label={`${chart.title} over time`} />
      <dl class="chart-legend">
        {values.map(({ label, text }, i) => (
          <div key={label}>
            <dt>
              <span class={`line-mark line-${i}`} aria-hidden="true" />
              {label}
            </dt>
            <dd>{text}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
