import { formatNumber, markdownTable } from '../lib/report.js';
import type { Measurement } from './measure.js';

const HEAD = ['value', 'engine', 'bytes', 'encode µs', 'per s', 'allocates KB', 'decode µs', 'per s', 'allocates KB'];

/** Time, rate and allocated bytes of one operation. */
function cellsOf(measurement: Measurement | undefined): string[] {
  if (!measurement) return ['', '', ''];
  const { us, allocated } = measurement;
  const kilobytes = allocated === undefined ? undefined : allocated / 1000;
  return [formatNumber(us, us < 100 ? 1 : 0), formatNumber(1e6 / us, us > 1e5 ? 1 : 0), formatNumber(kilobytes, 1)];
}

/** The measurements of one engine on one sample. */
export interface Pair {
  readonly sample: string;
  readonly engine: string;
  readonly bytes: number;
  readonly encode?: Measurement;
  readonly decode?: Measurement;
}

/** Both operations of each engine on each sample, in the order in which they were measured. */
export function pairsOf(measurements: readonly Measurement[]): Pair[] {
  const pairs = new Map<string, Pair>();
  for (const measurement of measurements) {
    const { sample, engine, bytes, operation } = measurement;
    const key = `${sample}/${engine}`;
    pairs.set(key, { sample, engine, bytes, ...pairs.get(key), [operation]: measurement });
  }
  return [...pairs.values()];
}

/** A Markdown table: a line for each engine and sample. */
export const tableOf = (measurements: readonly Measurement[]): string =>
  markdownTable(
    HEAD,
    pairsOf(measurements).map(({ sample, engine, bytes, encode, decode }) => [
      sample,
      engine,
      formatNumber(bytes),
      ...cellsOf(encode),
      ...cellsOf(decode),
    ]),
  );
