import type { Capstan, SendAsAdmin } from './capstan.js';
import type { Loaded } from './load.js';

/** One line of the result: a value, the baseline's, and the cost of an operation for the server. */
export interface Row {
  readonly case: string;
  readonly unit: string;
  readonly value: number;
  readonly baseline?: number;
  /** The target for `value / baseline`: the minimum, or with `atMost` the maximum. */
  readonly aim?: number;
  readonly atMost?: boolean;
  /** CPU microseconds per operation of all threads. */
  readonly userUs?: number;
  readonly systemUs?: number;
  readonly baselineUs?: number;
  readonly residentMb?: number;
  readonly note?: string;
}

/** Settings and servers that cases share. */
export interface Bench {
  readonly short: boolean;
  readonly tls: boolean;
  /** True if the server is compared with that of another build: a case may omit its baseline. */
  readonly against: boolean;
  /** Measured time of one load. */
  readonly ms: number;
  /** The time for which the memory of a process must not have decreased before it is read, in milliseconds. */
  readonly quietMs: number;
  /** PEM files for baselines; undefined for plain HTTP. */
  readonly certificate: { readonly cert: string; readonly key: string } | Record<string, never>;
  /** A directory that is removed at the end. */
  readonly dir: string;
  /** The server that cases share, which is started when it is first requested. */
  server(): Promise<Capstan>;
  /** Sends a request to the shared server. */
  readonly sendAsAdmin: SendAsAdmin;
}

/** A named benchmark. */
export interface Case<R extends Row = Row> {
  readonly name: string;
  run(bench: Bench): Promise<readonly R[]>;
  /** For rows that do not fit into the common table: a separate table, and a chart, an SVG file next to the results. */
  readonly report?: { table(rows: readonly R[]): string; chart(rows: readonly R[]): string };
}

/** The cost members of a row. */
export const costOf = (loaded: Loaded): Pick<Row, 'userUs' | 'systemUs' | 'residentMb' | 'note'> => ({
  userUs: loaded.cpu.user / loaded.operations,
  systemUs: loaded.cpu.system / loaded.operations,
  residentMb: loaded.resident / 2 ** 20,
  ...(loaded.errors ? { note: `${loaded.errors} errors` } : {}),
});

/** CPU microseconds per operation of a baseline. */
export const cpuPerOperation = ({ cpu, operations }: Loaded): number => (cpu.user + cpu.system) / operations;

/** Operations per second. */
export const rateOf = ({ operations, seconds }: Loaded): number => operations / seconds;

/** A note on the duration of requests, and the number of failures. */
export const timesOf = ({ p50, p99, errors }: Loaded): string =>
  `p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms${errors ? `, ${errors} errors` : ''}`;
