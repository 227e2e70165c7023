import { monotonicTime, systemTime } from '../../runtime/clock.js';
import { delay } from '../../runtime/timers.js';
import { formatBytes, parseArguments, refuseOperands } from '../arguments.js';
import { formatAge, formatMilliseconds } from '../client/format.js';
import { type Metrics, metricsOf, type RequestCount } from '../client/metrics.js';
import { Columns } from '../client/printed.js';
import { ApiClient, serverOf } from '../client/request.js';
import { flagsOf } from '../commands.js';
import type { Io } from '../serve.js';
import { Screen } from '../terminal/screen.js';
import { type Style, styleOf } from '../terminal/style.js';

/** Milliseconds between two readings of the metrics. */
const INTERVAL_MS = 1000;
/** Lines above the table of requests. */
const HEAD_LINES = 5;
/** The number of rates that the small chart shows. */
const HISTORY = 40;
const BARS = ' ▁▂▃▄▅▆▇█';
/** The share of requests that take at most as long as the last column says. */
const QUANTILE = 0.99;

/** The rates between two readings of the metrics. */
interface Rates {
  /** Processors in use. */
  readonly cpus: number;
  readonly perSecond: number;
  readonly errorsPerSecond: number;
  readonly rows: readonly (readonly string[])[];
}

const NONE: Pick<RequestCount, 'requests' | 'errors' | 'timed' | 'seconds' | 'buckets'> = {
  requests: 0,
  errors: 0,
  timed: 0,
  seconds: 0,
  buckets: new Map(),
};

/** The upper bound of the bucket that 99 % of the requests between two readings do not exceed. */
function slowest(now: RequestCount, before: typeof NONE): string {
  const timed = now.timed - before.timed;
  const bound = [...now.buckets]
    .filter(([at, count]) => count - (before.buckets.get(at) ?? 0) >= timed * QUANTILE)
    .reduce((least, [at]) => Math.min(least, at), Number.POSITIVE_INFINITY);
  return bound === Number.POSITIVE_INFINITY ? 'over 60 s' : `≤ ${bound < 1 ? `${bound * 1000} ms` : `${bound} s`}`;
}

/** The rates between two readings of the metrics; `seconds` is the time between them. */
export function ratesBetween(before: Metrics, now: Metrics, seconds: number): Rates {
  const moved = [...now.requests].flatMap(([key, count]) => {
    const former = before.requests.get(key) ?? NONE;
    const requests = count.requests - former.requests;
    return requests > 0 ? [{ count, former, requests, errors: count.errors - former.errors }] : [];
  });
  moved.sort((a, b) => b.requests - a.requests);
  const sum = (of: 'requests' | 'errors'): number => moved.reduce((total, one) => total + one[of], 0) / seconds;
  const rows = moved.map(({ count, former, requests, errors }) => {
    const timed = count.timed - former.timed;
    const mean = timed > 0 ? formatMilliseconds(((count.seconds - former.seconds) / timed) * 1000) : '';
    return [
      count.verb,
      count.resource || 'other paths',
      (requests / seconds).toFixed(1),
      errors > 0 ? (errors / seconds).toFixed(1) : '',
      mean,
      timed > 0 ? slowest(count, former) : '',
    ];
  });
  const cpus = (now.cpuSeconds - before.cpuSeconds) / seconds;
  return { cpus, perSecond: sum('requests'), errorsPerSecond: sum('errors'), rows };
}

/** Bars, one for each of the last rates. */
function chart(rates: readonly number[]): string {
  const most = Math.max(1, ...rates);
  return rates.map(rate => BARS[Math.ceil((rate / most) * (BARS.length - 1))]).join('');
}

const HEAD = ['VERB', 'RESOURCE', 'PER SECOND', 'ERRORS', 'MEAN', '99 %'];

function linesOf(server: string, now: Metrics, rates: Rates, history: readonly number[], style: Style): string[] {
  const facts = [
    `up ${formatAge(systemTime() / 1000 - now.started)}`,
    `CPU ${(rates.cpus * 100).toFixed(0)} %`,
    ...(now.residentBytes > 0 ? [`memory ${formatBytes(now.residentBytes)}`] : []),
    `watches ${now.watches}`,
    `in flight ${now.inFlight}`,
  ];
  const errors = `${rates.errorsPerSecond.toFixed(1)} refused`;
  const columns = new Columns([HEAD, ...rates.rows]);
  return [
    `${style.strong('capstan')} ${server}`,
    facts.join(style.faint(' · ')),
    `${rates.perSecond.toFixed(1)} requests/s, ${rates.errorsPerSecond > 0 ? style.bad(errors) : errors}  ${style.good(chart(history))}`,
    '',
    style.strong(columns.line(HEAD)),
    ...rates.rows.map(row => columns.line(row)),
  ];
}

/**
 * `capstan top`: shows the load of a server; on a terminal, each second until Ctrl-C or `q`, otherwise once. Returns
 * the exit code. Rejects if the server can no longer be reached.
 */
export async function topCommand(args: readonly string[], io: Io): Promise<number> {
  const parsed = parseArguments(args, flagsOf('top'));
  refuseOperands('top', parsed);
  const { values } = parsed;
  const access = serverOf(values);
  const client = new ApiClient(access);
  const look = async () => ({ metrics: await metricsOf(client), at: monotonicTime() });
  const style = styleOf();
  const history: number[] = [];
  let screen: Screen | undefined;
  try {
    let before = await look();
    if (process.stdout.isTTY) screen = new Screen(process.stdout, process.stdin);
    screen?.show([`${style.strong('capstan')} ${access.server}`, 'measuring; Ctrl-C or q ends']);
    do {
      await Promise.race([delay(INTERVAL_MS), screen?.ended ?? new Promise(() => undefined)]);
      if (screen?.isEnded) return 0;
      const now = await look();
      const rates = ratesBetween(before.metrics, now.metrics, (now.at - before.at) / 1000);
      history.push(rates.perSecond);
      if (history.length > HISTORY) history.shift();
      const lines = linesOf(access.server, now.metrics, rates, history, style);
      if (screen) screen.show(fitLines(lines, screen.rows));
      else for (const line of lines) io.out(line);
      before = now;
    } while (screen);
    return 0;
  } finally {
    screen?.close();
    access.close();
  }
}

/** The lines that fit on a screen; the last one tells how many more there are. */
function fitLines(lines: readonly string[], rows: number): readonly string[] {
  if (lines.length <= rows) return lines;
  const shown = Math.max(HEAD_LINES, rows - 1);
  return [...lines.slice(0, shown), `and ${lines.length - shown} more`];
}
