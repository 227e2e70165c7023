import { type Sample, samplesIn } from '../../../../../core/model/text/metricsText.js';

/** Labels that a sample must have. */
export type Labels = Readonly<Record<string, string | readonly string[]>>;

/** A histogram: how many values were measured, their sum, and how many were at most as large as each bound. */
export interface Histogram {
  readonly count: number;
  readonly sum: number;
  readonly buckets: readonly (readonly [bound: number, count: number])[];
}

const isSelected = ({ labels }: Sample, wanted: Labels): boolean =>
  Object.entries(wanted).every(([name, value]) => {
    const own = labels.get(name) ?? '';
    return typeof value === 'string' ? own === value : value.includes(own);
  });

/** The metrics of a server at one time. */
export class Snapshot {
  readonly #byName = new Map<string, Sample[]>();

  constructor(
    text: string,
    /** Seconds since 1970. */
    readonly at: number,
  ) {
    for (const sample of samplesIn(text)) {
      const of = this.#byName.get(sample.name);
      if (of) of.push(sample);
      else this.#byName.set(sample.name, [sample]);
    }
  }

  /** The samples of a name with these labels. */
  samples(name: string, labels: Labels = {}): readonly Sample[] {
    return (this.#byName.get(name) ?? []).filter(sample => isSelected(sample, labels));
  }

  sum(name: string, labels: Labels = {}): number {
    return this.samples(name, labels).reduce((total, { value }) => total + value, 0);
  }

  histogram(name: string, labels: Labels = {}): Histogram {
    const buckets = new Map<number, number>();
    for (const { labels: own, value } of this.samples(`${name}_bucket`, labels)) {
      const bound = Number(own.get('le')?.replace('+Inf', 'Infinity'));
      buckets.set(bound, (buckets.get(bound) ?? 0) + value);
    }
    return {
      count: this.sum(`${name}_count`, labels),
      sum: this.sum(`${name}_sum`, labels),
      buckets: [...buckets].sort(([a], [b]) => a - b),
    };
  }
}

/** The histogram of the values observed between two snapshots. */
export function between(before: Histogram, after: Histogram): Histogram {
  const old = new Map(before.buckets);
  return {
    count: after.count - before.count,
    sum: after.sum - before.sum,
    buckets: after.buckets.map(([bound, count]) => [bound, count - (old.get(bound) ?? 0)]),
  };
}

/**
 * The value that the share `part` of all values does not exceed, between the bounds of its bucket; undefined without
 * values.
 */
export function quantile({ count, buckets }: Histogram, part: number): number | undefined {
  if (count <= 0) return undefined;
  const wanted = part * count;
  let [lower, below] = [0, 0];
  for (const [bound, upTo] of buckets) {
    if (upTo >= wanted) {
      if (!Number.isFinite(bound)) return lower;
      return lower + ((wanted - below) / Math.max(1, upTo - below)) * (bound - lower);
    }
    [lower, below] = [bound, upTo];
  }
  return lower;
}

/** The values that a label has. */
export const valuesOf = (samples: readonly Sample[], label: string): string[] => [
  ...new Set(samples.map(({ labels }) => labels.get(label) ?? '')),
];
