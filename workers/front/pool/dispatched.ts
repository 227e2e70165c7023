import { POOL_QUEUE } from '../../../core/limits.js';
import { InFlight } from '../../../core/threads/inFlight.js';
import type { Job, JobResult } from '../../../core/threads/messages/messages.js';
import { BEGUN, FINAL, type Phase, QUEUED, type RunId, Runs } from '../../../core/threads/runs.js';
import type { Placement } from './lanes.js';

/** A job without an answer. */
export interface Waiting {
  readonly job: Job;
  /** The kind of job by which its cost is remembered. */
  readonly kind: string | undefined;
  /** Name of its user; '' for senders without one. */
  readonly user: string;
  readonly resolve: (result: JobResult) => void;
  readonly reject: (error: Error) => void;
  /** Its current run, once it was passed to Piscina. */
  run?: RunId;
  /** Number of times that it was taken from a thread that had begun it. */
  repeats?: number;
  /** Set when it may have kept the thread that could not complete it: it is run once more, but not a second time. */
  isRetried?: boolean;
}

/** Jobs that were passed to Piscina as one batch. */
export interface Dispatched {
  /** Undefined for a job that was answered, or is run elsewhere. */
  readonly jobs: (Waiting | undefined)[];
  unanswered: number;
  readonly placement: Placement;
  /** Called when the batch no longer keeps its thread, or is no longer awaited. */
  readonly left: () => void;
  /** Set when the batch has ended before all of its jobs, which continue in its thread. */
  isLate?: boolean;
}

/** Largest number of times that a job is taken from threads that have begun it, because other jobs keep them. */
const MOST_REPEATS = 2;

type Entry = readonly [id: number, batch: Dispatched];

/** The job that keeps a thread. */
export interface Culprit {
  /** Undefined if it continues after a promise or call, and others of the thread do as well. */
  readonly waiting: Waiting | undefined;
  /** Its user; '' if that is not known. */
  readonly user: string;
}

/**
 * The state of a thread. `kept`: it has not returned from a job for KEPT_THREAD_MS. `stuck`: it has not returned for
 * STUCK_JOB_MS. `ended`: it will not return.
 */
export type ThreadState = 'kept' | 'stuck' | 'ended';

/** The jobs of a thread that others can run. */
export interface Movable {
  /** Jobs that have not kept the thread, with their batches. */
  readonly innocent: readonly { readonly waiting: Waiting; readonly batch: Dispatched }[];
  /** Jobs that may have kept it. */
  readonly suspected: readonly Waiting[];
}

/** The jobs that have been passed to Piscina. Runs them elsewhere when their thread does not return. */
export class DispatchedJobs {
  readonly #batches = new InFlight<Dispatched>();
  readonly #runs = new Runs(POOL_QUEUE);
  /** Jobs that are run once more now. */
  #retried: readonly Waiting[] = [];

  /** The memory of the runs of all jobs. */
  get memory(): SharedArrayBuffer {
    return this.#runs.memory;
  }

  /** Adds a batch. Returns its id and the runs of its jobs. */
  add(jobs: readonly Waiting[], placement: Placement, left: () => void): { id: number; runs: RunId[] } {
    const runs = jobs.map(waiting => (waiting.run ??= this.#runs.open()));
    return { id: this.#batches.add({ jobs: [...jobs], unanswered: jobs.length, placement, left }), runs };
  }

  get(id: number): Dispatched | undefined {
    return this.#batches.get(id);
  }

  /** Takes a job out of its batch; undefined if it is no longer in it. */
  take(id: number, at: number): Waiting | undefined {
    const batch = this.#batches.get(id);
    const waiting = batch?.jobs[at];
    if (!waiting) return undefined;
    batch.jobs[at] = undefined;
    if (--batch.unanswered === 0) this.#batches.delete(id);
    return waiting;
  }

  /** Takes a batch. Returns its jobs. */
  takeBatch(id: number): Waiting[] {
    const jobs = this.#batches.get(id)?.jobs ?? [];
    this.#batches.delete(id);
    return jobs.filter(waiting => waiting !== undefined);
  }

  /** To be called when a job is answered: its runs that have not ended no longer have an effect. */
  close({ run }: Waiting): void {
    if (run) this.#runs.close(run);
  }

  /** The ids of all batches. */
  get ids(): number[] {
    return Array.from(this.#batches, ([id]) => id);
  }

  /** The batches of a thread that have no answer, or late ones; without a thread, those that wait for one. */
  of(thread: number | undefined): Entry[] {
    return [...this.#batches].filter(([, { placement }]) => placement.thread === thread);
  }

  /** Whether a thread has jobs without an answer. */
  hasJobs(thread: number): boolean {
    for (const [, { placement }] of this.#batches) if (placement.thread === thread) return true;
    return false;
  }

  /** Reserves the thread that these jobs run on: it is given no others. An empty list ends the reservation. */
  reserveThreadFor(jobs: readonly Waiting[]): void {
    this.#retried = jobs;
  }

  /** Whether a thread must not be given other jobs. */
  isReserved(thread: number): boolean {
    if (this.#retried.length === 0) return false;
    return this.of(thread).some(([, { jobs }]) => jobs.some(waiting => waiting && this.#retried.includes(waiting)));
  }

  /** Whether jobs wait for a thread: the one that it is in, or others that it has not begun. */
  isAwaited(thread: number, running: RunId | undefined): boolean {
    for (const [, { jobs, placement, isLate }] of this.#batches) {
      if (placement.thread !== thread || isLate) continue;
      if (running || jobs.some(waiting => waiting && this.#phaseOf(waiting) === QUEUED)) return true;
    }
    return false;
  }

  /**
   * The job that keeps a thread: the one that it is in. If it is in none, one of those that have begun continues after
   * a promise or call: the only one, if there is one. Its user is known if these have all been run once more.
   */
  culpritOf(thread: number, running: RunId | undefined): Culprit {
    const begun: Waiting[] = [];
    for (const [, { jobs }] of this.of(thread))
      for (const waiting of jobs) {
        if (!waiting) continue;
        if (running && waiting.run?.word === running.word && waiting.run.number === running.number)
          return { waiting, user: waiting.user };
        const phase = this.#phaseOf(waiting);
        if (phase === BEGUN || phase === FINAL) begun.push(waiting);
      }
    const [first, ...others] = begun;
    const isKnown = begun.every(({ isRetried, user }) => isRetried && user === first!.user);
    return { waiting: others.length === 0 ? first : undefined, user: first && isKnown ? first.user : '' };
  }

  /**
   * Takes the jobs of a thread that others can run:
   *
   * - those that have not begun, and those that have ended and not sent anything;
   * - once the thread is stuck or has ended, those that wait for something outside of it and have changed nothing.
   *   Where it is not known which one keeps the thread, each of them is suspected;
   * - once the thread has ended, the one that has kept it.
   *
   * A suspected job is taken once, others that have begun a few times. The thread, if it returns, does not complete
   * what was taken.
   */
  takeMovable(thread: number, state: ThreadState, culprit: Waiting | undefined): Movable {
    const innocent: Movable['innocent'][number][] = [];
    const suspected: Waiting[] = [];
    for (const [id, batch] of this.of(thread))
      for (const [at, waiting] of batch.jobs.entries()) {
        const phase = waiting && this.#phaseOf(waiting);
        if (!waiting || phase === undefined || phase === FINAL || (phase === BEGUN && state === 'kept')) continue;
        const { repeats = 0 } = waiting;
        const isSuspected = phase === BEGUN && (waiting === culprit || !culprit);
        if (phase === BEGUN && repeats >= MOST_REPEATS) continue;
        if (isSuspected && (waiting.isRetried || (waiting === culprit && state !== 'ended'))) continue;
        const run = this.#runs.take(waiting.run!, phase);
        if (!run) continue;
        waiting.run = run;
        if (phase !== QUEUED) waiting.repeats = repeats + 1;
        this.take(id, at);
        if (isSuspected) suspected.push(waiting);
        else innocent.push({ waiting, batch });
      }
    return { innocent, suspected };
  }

  #phaseOf({ run }: Waiting): Phase | undefined {
    return run && this.#runs.phaseOf(run);
  }
}
