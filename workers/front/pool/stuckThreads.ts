import { STAND_INS } from '../../../core/limits.js';
import { monotonicTime } from '../../../core/runtime/clock.js';
import type { RunId } from '../../../core/threads/runs.js';
import { FairLimiter } from '../fairness/fairLimiter.js';
import type { Lanes } from './lanes.js';
import { Suspects } from './suspects.js';
import { ThreadWatch } from './threadWatch.js';

/** The functions of the pool that the search for stuck threads uses. Threads are named by their `threadId`. */
export interface StuckThreadsPool {
  /** Whether there are jobs without an answer. */
  readonly isBusy: () => boolean;
  /** Takes the outcomes that threads have written. Called at each check, in case nothing else calls it. */
  readonly takeOutcomes: () => void;
  /** Whether threads may be stopped at a breakpoint, which is not a failure of a plugin. */
  readonly isInspected: () => boolean;
  /** Whether jobs wait for a thread that is in a job. */
  readonly isAwaited: (thread: number, running: RunId | undefined) => boolean;
  /** Whether a thread has jobs without an answer. */
  readonly hasJobs: (thread: number) => boolean;
  /** The user of the job that keeps a thread; '' if that is not known. */
  readonly userIn: (thread: number) => string;
  /** Has other threads run jobs of a thread that does not return. */
  readonly move: (thread: number, state: 'kept' | 'stuck') => void;
  /** Chooses threads for the tasks that wait for one. */
  readonly distribute: () => void;
  /** Creates threads until there are this many. */
  readonly addThread: (count: number) => void;
  /** Ends a thread that has no jobs. */
  readonly retire: (thread: number) => void;
  /** Number of threads. */
  readonly threadCount: () => number;
}

/** A thread that is kept by a job. */
interface Kept {
  /** The user of the job; '' if that is not known. */
  readonly user: string;
  /** Whether the job is stuck. */
  isStuck?: boolean;
  /** Whether the thread has returned, and another one has its place. */
  isReplaced?: boolean;
}

/**
 * The threads of the pool that do not return from a job, whose other jobs continue elsewhere (docs/decisions/0021).
 * Such a thread gets no more jobs until it returns. If that takes long, another one is made in its place.
 */
export class StuckThreads {
  readonly suspects = new Suspects(monotonicTime);
  readonly #kept = new Map<number, Kept>();
  readonly #watch: ThreadWatch;
  /** The jobs of suspects, one at a time. */
  readonly #apart = new FairLimiter(1);
  /** Called when a thread returns or ends, or another one is ready. */
  #changed: (() => void)[] = [];
  #isClosing = false;

  constructor(
    readonly lanes: Lanes,
    /** Number of threads that the pool has without stuck ones. */
    readonly threads: number,
    readonly pool: StuckThreadsPool,
  ) {
    this.#watch = new ThreadWatch({
      isBusy: pool.isBusy,
      isAwaited: pool.isAwaited,
      kept: thread => this.#begin(thread),
      stuck: thread => this.#strike(thread),
      look: pool.takeOutcomes,
      looked: () => this.#retire(),
    });
  }

  /** To be called when there are jobs. */
  watch(): void {
    this.#watch.begin();
  }

  /** To be called when a thread is ready. */
  addThread(thread: number, progress: SharedArrayBuffer): void {
    this.lanes.ready.add(thread);
    this.#watch.add(thread, progress);
    this.#notify();
  }

  /**
   * To be called when the last thread has begun, or will be replaced: it may get tasks, including those that wait for a
   * thread now.
   */
  completed(): void {
    this.lanes.absent = undefined;
    this.pool.distribute();
    this.#notify();
  }

  /** The job that a thread is in; undefined if it is in none, or has never been ready. */
  runningIn(thread: number): RunId | undefined {
    return this.#watch.runningIn(thread);
  }

  /**
   * To be called when a thread does not return to its event loop. If it is in no job, one continues after a promise.
   */
  unresponsive(thread: number): void {
    if (!this.#kept.has(thread)) this.#begin(thread);
    this.#strike(thread);
  }

  /**
   * To be called when a thread has returned a task, or has returned to its event loop. After its last task it is given
   * jobs again, unless another thread has replaced it.
   */
  returned(thread: number): void {
    this.#notify();
    const kept = this.#kept.get(thread);
    if (!kept || kept.isReplaced || this.lanes.hasTasks(thread)) return;
    this.suspects.end(kept.user);
    if (this.pool.threadCount() - this.#kept.size >= this.threads) kept.isReplaced = true;
    else {
      this.#kept.delete(thread);
      this.lanes.stuck.delete(thread);
      this.pool.distribute();
    }
    this.#resize();
    this.#notify();
  }

  /** To be called when a job of a user has ended a thread: it counts as a stuck job. */
  blame(thread: number, user: string): void {
    if (this.#kept.get(thread)?.isStuck) return;
    this.suspects.begin(user);
    this.suspects.strike(user);
    this.suspects.end(user);
  }

  /** To be called when a thread has ended. */
  threadEnded(thread: number): void {
    const kept = this.#kept.get(thread);
    this.#kept.delete(thread);
    this.lanes.forget(thread);
    this.#watch.delete(thread);
    if (kept && !kept.isReplaced) this.suspects.end(kept.user);
    this.#resize();
    this.#notify();
  }

  /**
   * Runs a job of a suspect when it is its turn, on a thread that others do not need. Resolves like `run`. Rejects with
   * Refusal 429 if the user is slowed down by then.
   */
  runApart<T>(user: string, run: () => Promise<T>): Promise<T> {
    return this.#apart.run(this.suspects.ownerOf(user), async () => {
      while (!this.#isClosing && !this.lanes.hasFreeLane) {
        this.suspects.check(user);
        await new Promise<void>(resolve => this.#changed.push(resolve));
      }
      this.suspects.check(user);
      const began = monotonicTime();
      const result = await run();
      this.suspects.record(user, monotonicTime() - began);
      return result;
    });
  }

  /** Ends watching, and has the waiting jobs continue. */
  close(): void {
    this.#isClosing = true;
    this.#watch.close();
    this.#notify();
  }

  #begin(thread: number): void {
    const before = this.#kept.get(thread);
    if (before?.isReplaced) return;
    // The thread has returned from the earlier job, and another job keeps it now.
    if (before) this.suspects.end(before.user);
    const user = this.pool.isInspected() ? '' : this.pool.userIn(thread);
    this.#kept.set(thread, { user });
    this.suspects.begin(user);
    this.lanes.stuck.add(thread);
    this.pool.move(thread, 'kept');
  }

  #strike(thread: number): void {
    const kept = this.#kept.get(thread);
    if (!kept || kept.isStuck || kept.isReplaced) return;
    kept.isStuck = true;
    this.suspects.strike(kept.user);
    this.#resize();
    // Jobs that have begun are not run elsewhere while they are being debugged in this thread.
    if (!this.pool.isInspected()) this.pool.move(thread, 'stuck');
    this.#notify();
  }

  /** Gives the pool one more thread for each that is stuck or is to end, up to a bound. */
  #resize(): void {
    const stuck = [...this.#kept.values()].filter(({ isStuck, isReplaced }) => isStuck || isReplaced).length;
    if (!this.#isClosing) this.pool.addThread(this.threads + Math.min(STAND_INS, stuck));
  }

  /** Ends replaced threads once their asynchronous jobs, which wait for something outside, have ended as well. */
  #retire(): void {
    for (const [thread, { isReplaced }] of this.#kept)
      if (isReplaced && !this.pool.hasJobs(thread)) this.pool.retire(thread);
  }

  #notify(): void {
    if (this.#changed.length === 0) return;
    const changed = this.#changed;
    this.#changed = [];
    for (const resolve of changed) resolve();
  }
}
