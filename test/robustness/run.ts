import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Backend, Deployment } from './deployment.js';
import { faultsOf } from './faults.js';
import type { Violation } from './history.js';
import { Random } from './random.js';
import { type PastRound, type RoundResult, runRound } from './round.js';

/** The settings of a run. */
export interface RunOptions {
  readonly backend: Backend;
  readonly seed: number;
  readonly minutes: number;
  /** Names of faults; undefined: all that apply to the backend. */
  readonly faults?: readonly string[];
  /** Calls per second of all clients. */
  readonly rate: number;
  readonly clients: number;
  readonly roundSeconds: number;
  /** Further flags of the servers. */
  readonly flags?: readonly string[];
  /** Called with lines to print after each round. */
  readonly onProgress?: (line: string) => void;
}

/** The result of a run. */
export interface Summary {
  readonly backend: Backend;
  readonly seed: number;
  minutes: number;
  rounds: number;
  /** Numbers of calls, answered or not, by kind. */
  readonly operations: { [kind: string]: number };
  /** Numbers of writes and gets, by result. */
  readonly results: { [result: string]: number };
  lists: number;
  streams: number;
  resumed: number;
  expired: number;
  events: number;
  bookmarks: number;
  /** Streams that resumed in earlier rounds. */
  lateStreams: number;
  lateExpired: number;
  readonly faults: { [kind: string]: number };
  violations: Violation[];
}

/** Earlier rounds in which watches may resume: more than the five minutes that history is kept. */
const PAST_ROUNDS = 8;
/** Maximum number of violations in a summary. */
const MOST_VIOLATIONS = 200;

function add(counts: { [name: string]: number }, name: string, amount = 1): void {
  counts[name] = (counts[name] ?? 0) + amount;
}

function count(summary: Summary, { history, violations, faults, late }: RoundResult): void {
  summary.rounds++;
  for (const { call, result } of history.operations) {
    add(summary.operations, call.is === 'get' && call.at !== undefined ? 'old get' : call.is);
    add(summary.results, result.is);
  }
  summary.lists += history.listings.length;
  for (const { events, bookmarks, from, expired, initial } of history.sessions) {
    summary.streams++;
    if (from !== undefined) summary.resumed++;
    if (expired) summary.expired++;
    summary.events += events.length + (initial?.items.length ?? 0);
    summary.bookmarks += bookmarks.length + (initial ? 1 : 0);
  }
  summary.lateStreams += late.streams;
  summary.lateExpired += late.expired;
  for (const [kind, times] of faults) add(summary.faults, kind, times);
  summary.violations = [...summary.violations, ...violations].slice(0, MOST_VIOLATIONS);
}

/** Runs rounds until the time is over. Each is checked before the next one starts. */
export async function run(options: RunOptions): Promise<Summary> {
  const { backend, seed, minutes } = options;
  const random = new Random(seed);
  const directory = mkdtempSync(join(tmpdir(), 'capstan-robustness-'));
  const summary: Summary = {
    ...{
      backend,
      seed,
      minutes: 0,
      rounds: 0,
      operations: {},
      results: {},
      lists: 0,
      streams: 0,
      resumed: 0,
      expired: 0,
    },
    ...{ events: 0, bookmarks: 0, lateStreams: 0, lateExpired: 0, faults: {}, violations: [] },
  };
  const deployment = await Deployment.start(backend, directory, random.fork(), options.flags ?? []);
  // The start does not count: on a busy machine it takes longer than a short run.
  const began = performance.now();
  const past: PastRound[] = [];
  try {
    while (
      performance.now() - began < minutes * 60_000 &&
      summary.violations.every(({ guarantee }) => guarantee !== 'alive')
    ) {
      const left = (minutes * 60_000 - (performance.now() - began)) / 1000;
      const result = await runRound({
        ...options,
        deployment,
        namespace: `round-${summary.rounds + 1}`,
        seconds: Math.min(options.roundSeconds, Math.max(5, left)),
        faults: options.faults ?? faultsOf(backend),
        random: random.fork(),
        past,
      });
      past.push({ namespace: `round-${summary.rounds + 1}`, ledger: result.ledger });
      if (past.length > PAST_ROUNDS) past.shift();
      count(summary, result);
      const { operations, sessions } = result.history;
      const broken = [...result.faults].map(([kind, times]) => `${kind} ${times}`).join(', ');
      options.onProgress?.(
        `round ${summary.rounds}: ${operations.length} operations (${result.unknown} unanswered), ${sessions.length} streams, faults: ${broken || 'none'}, ${result.violations.length} violations`,
      );
      for (const { guarantee, message } of result.violations.slice(0, 10))
        options.onProgress?.(`  ${guarantee}: ${message}`);
    }
  } finally {
    await deployment.close();
    if (summary.violations.length === 0) rmSync(directory, { recursive: true, force: true });
    else options.onProgress?.(`the data directories are kept: ${directory}`);
  }
  summary.minutes = (performance.now() - began) / 60_000;
  return summary;
}
