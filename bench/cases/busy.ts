import { type Bench, type Case, cpuPerOperation, type Row, rateOf, timesOf } from '../lib/case.js';
import type { Loaded } from '../lib/load.js';
import { median } from '../lib/median.js';
import { withPrograms } from '../lib/programs.js';
import type { Reference } from '../lib/reference.js';
import { type Comparison, get, measure, watch, write } from './reference.js';

const WATCHERS = 100;
const COMPARISONS: readonly Comparison[] = [
  write('create', 16),
  get('JSON', undefined),
  watch('JSON', undefined, undefined, WATCHERS),
];
/** The numbers of programs that use the cores. */
const PROGRAMS = [2, 8, 32];
/** The number of turns of each server: other load on the machine affects both alike. */
const TURNS = 3;

/** The results of one server, one for each of its turns. */
type Turns = readonly Loaded[];

const medianOf = (turns: Turns, figure: (loaded: Loaded) => number): number => median(turns.map(figure));

/** Runs a comparison at this server, and at the reference or, without one, at this server without other programs. */
async function compare(of: Comparison, bench: Bench, programs: number, reference?: Reference): Promise<Row> {
  const server = await bench.server();
  const ms = bench.ms / TURNS;
  const runOwn = (): Promise<Loaded> => measure(of, { ...server, token: server.adminToken }, server.pid, ms);
  const [ours, others]: [Loaded[], Loaded[]] = [[], []];
  for (let turn = 0; turn < TURNS; turn++) {
    await withPrograms(programs, async () => {
      ours.push(await runOwn());
      if (reference) others.push(await measure(of, reference, reference.pids, ms));
    });
    if (!reference) others.push(await runOwn());
  }
  const cpu = medianOf(ours, cpuPerOperation);
  const otherCpu = medianOf(others, cpuPerOperation);
  const name = reference ? 'reference' : 'alone';
  return {
    case: `${of.title}, beside ${programs} programs`,
    unit: of.unit,
    value: medianOf(ours, rateOf),
    baseline: medianOf(others, rateOf),
    userUs: medianOf(ours, ({ cpu: { user }, operations }) => user / operations),
    systemUs: medianOf(ours, ({ cpu: { system }, operations }) => system / operations),
    baselineUs: otherCpu,
    note: `CPU ${(cpu / otherCpu).toFixed(2)} of ${name}; ${timesOf(ours.at(-1)!)} (${name} ${timesOf(others.at(-1)!)})`,
  };
}

/**
 * Creates, gets and watches next to programs that use the cores, in turns with the reference or, without one, with
 * no other programs.
 */
export const busyCases = (reference?: Reference): readonly Case[] => [
  {
    name: 'busy',
    async run(bench): Promise<Row[]> {
      const rows: Row[] = [];
      // Next to so many programs, half a second of load is noise.
      if (bench.short) return rows;
      for (const programs of PROGRAMS)
        for (const of of COMPARISONS) rows.push(await compare(of, bench, programs, reference));
      return rows;
    },
  },
];
