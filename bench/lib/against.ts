import type { Bench, Case, Row } from './case.js';
import { median } from './median.js';

const cpuOf = ({ userUs = 0, systemUs = 0 }: Row): number => userUs + systemUs;

/** Summarizes the rows of several rounds as one. The other build is the baseline. */
function summarize(own: readonly Row[], other: readonly Row[]): Row {
  const ratios = own.map((row, i) => row.value / other[i]!.value).toSorted((a, b) => a - b);
  const cpu = own.map((row, i) => cpuOf(row) / cpuOf(other[i]!));
  const [from, to, middle] = [ratios[0]!, ratios.at(-1)!, median(ratios)].map(ratio => ratio.toFixed(3));
  return {
    case: own[0]!.case,
    unit: own[0]!.unit,
    value: median(own.map(row => row.value)),
    baseline: median(other.map(row => row.value)),
    userUs: median(own.map(row => row.userUs ?? 0)),
    systemUs: median(own.map(row => row.systemUs ?? 0)),
    baselineUs: median(other.map(cpuOf)),
    residentMb: own.at(-1)?.residentMb,
    note: `${own.length} rounds: median ratio ${middle} (${from} to ${to}), of CPU ${median(cpu).toFixed(3)}`,
  };
}

/**
 * Runs a case on the servers of two builds in alternating order, so that other load on the machine affects both alike.
 * Returns medians; the baseline is the other build.
 */
export async function compare(of: Case, own: Bench, other: Bench, rounds: number): Promise<Row[]> {
  const results: (readonly [readonly Row[], readonly Row[]])[] = [];
  for (let round = 0; round < rounds; round++) {
    const first = await of.run(round % 2 === 0 ? own : other);
    const second = await of.run(round % 2 === 0 ? other : own);
    results.push(round % 2 === 0 ? [first, second] : [second, first]);
  }
  return results[0]![0].map((_, i) =>
    summarize(
      results.map(([rows]) => rows[i]!),
      results.map(([, rows]) => rows[i]!),
    ),
  );
}
