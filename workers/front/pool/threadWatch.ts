import { KEPT_THREAD_MS, STUCK_JOB_MS } from '../../../core/limits.js';
import { clearTimeout, setTimeout } from '../../../core/runtime/timers.js';
import { WatchedProgress } from '../../../core/threads/progress.js';
import type { RunId } from '../../../core/threads/runs.js';
import { StepTime } from '../../../core/threads/scheduling.js';

/** Time between two checks of the progress of the threads, while jobs wait for one of them. */
const LOOK_MS = 25;
/** Time between two checks otherwise: each one wakes the front end. */
const REST_MS = 75;

/** The handlers that a watch calls. Threads are named by their `threadId`. */
export interface ThreadWatchHandlers {
  /** Whether the pool has jobs without an answer. If not, threads are not checked. */
  readonly isBusy: () => boolean;
  /** Whether jobs that were passed to a thread wait for it, while it is in the job `running`. */
  readonly isAwaited: (thread: number, running: RunId | undefined) => boolean;
  /** A thread has taken no step for KEPT_THREAD_MS, without the time for which it has waited for a core. */
  readonly kept: (thread: number) => void;
  /** A thread has taken no step for STUCK_JOB_MS, without the time for which it has waited for a core. */
  readonly stuck: (thread: number) => void;
  /** Called at the beginning and at the end of each check. */
  readonly look: () => void;
  readonly looked: () => void;
}

interface Watched {
  readonly progress: WatchedProgress;
  step: number;
  readonly time: StepTime;
  /** The last state reported for this step, so that each is reported once. */
  said?: 'kept' | 'stuck' | undefined;
}

/** Checks at short intervals which job each thread of the pool is in, and for how long, while there are jobs. */
export class ThreadWatch {
  readonly #threads = new Map<number, Watched>();
  #timer: NodeJS.Timeout | undefined;

  constructor(readonly handlers: ThreadWatchHandlers) {}

  /** Watches a thread that has started. */
  add(thread: number, memory: SharedArrayBuffer): void {
    const progress = new WatchedProgress(memory);
    this.#threads.set(thread, { progress, step: 0, time: new StepTime(LOOK_MS, () => progress.times) });
  }

  /** Forgets a thread that has ended. */
  delete(thread: number): void {
    this.#threads.delete(thread);
  }

  /** The job that a thread is in; undefined if it is in none, or is not watched. */
  runningIn(thread: number): RunId | undefined {
    return this.#threads.get(thread)?.progress.running;
  }

  /** To be called when there are jobs. The watch ends by itself when there are none. */
  begin(): void {
    this.#timer ??= this.#lookAfter(REST_MS);
  }

  /** Ends the watch. */
  close(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #lookAfter(milliseconds: number): NodeJS.Timeout {
    return setTimeout(() => this.#look(), milliseconds).unref();
  }

  #look(): void {
    this.close();
    this.handlers.look();
    const awaited = [...this.#threads].filter(([thread, watched]) => this.#lookAt(thread, watched));
    this.handlers.looked();
    if (this.handlers.isBusy()) this.#timer ??= this.#lookAfter(awaited.length > 0 ? LOOK_MS : REST_MS);
  }

  /** Returns whether jobs wait for the thread. */
  #lookAt(thread: number, watched: Watched): boolean {
    const { step, running } = watched.progress;
    const isAwaited = this.handlers.isAwaited(thread, running);
    if (step !== watched.step || !isAwaited) {
      watched.step = step;
      watched.time.restart();
      watched.said = undefined;
      return isAwaited;
    }
    if (watched.said === 'stuck') return true;
    const ms = watched.time.add();
    if (ms >= KEPT_THREAD_MS && !watched.said) {
      watched.said = 'kept';
      this.handlers.kept(thread);
    }
    if (ms < STUCK_JOB_MS) return true;
    watched.said = 'stuck';
    this.handlers.stuck(thread);
    return true;
  }
}
