import { KEPT_THREAD_MS, STUCK_JOB_MS } from '../../../core/limits.js';
import { clearInterval, setInterval } from '../../../core/runtime/timers.js';
import { type Position, WatchedProgress } from '../../../core/threads/progress.js';

/** Time between two looks at the progress of the threads. */
const LOOK_MS = 25;
/** Checks are counted instead of time, because the process may have been suspended meanwhile. */
const KEPT_LOOKS = KEPT_THREAD_MS / LOOK_MS;
const STUCK_LOOKS = STUCK_JOB_MS / LOOK_MS;

/** The handlers that a watch calls. Threads are named by their `threadId`. */
export interface ThreadWatchHandlers {
  /** Whether the pool has jobs without an answer. Without, nothing is looked at. */
  readonly isBusy: () => boolean;
  /** Whether jobs that were passed to a thread wait for it, which is at this position. */
  readonly isAwaited: (thread: number, position: Position) => boolean;
  /** A job has kept a thread for KEPT_THREAD_MS. All other jobs of the thread were taken from it. */
  readonly kept: (thread: number, position: Position) => void;
  /** The job has kept it for STUCK_JOB_MS. */
  readonly stuck: (thread: number) => void;
  /** Called at the end of each look. */
  readonly looked: () => void;
}

interface Watched {
  readonly progress: WatchedProgress;
  step: number;
  /** For how many looks the thread has not taken a step. */
  looks: number;
}

/** Looks in short intervals which job each thread of the pool is in, and for how long, while there are jobs. */
export class ThreadWatch {
  readonly #threads = new Map<number, Watched>();
  #timer: NodeJS.Timeout | undefined;

  constructor(readonly handlers: ThreadWatchHandlers) {}

  /** Watches a thread that has started. */
  add(thread: number, memory: SharedArrayBuffer): void {
    this.#threads.set(thread, { progress: new WatchedProgress(memory), step: 0, looks: 0 });
  }

  /** Forgets a thread that has ended. */
  delete(thread: number): void {
    this.#threads.delete(thread);
  }

  /** Where a thread is; undefined if it is not watched. */
  positionOf(thread: number): Position | undefined {
    return this.#threads.get(thread)?.progress.position;
  }

  /** Lets a thread run jobs again that has returned all that were taken from it. */
  giveBack(thread: number): void {
    const watched = this.#threads.get(thread);
    if (!watched) return;
    watched.progress.giveBack();
    watched.looks = 0;
  }

  /** To be called when there are jobs. Looking ends by itself when there are none. */
  begin(): void {
    this.#timer ??= setInterval(() => this.#look(), LOOK_MS).unref();
  }

  /** Ends looking. */
  close(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #look(): void {
    for (const [thread, watched] of this.#threads) this.#lookAt(thread, watched);
    this.handlers.looked();
    if (!this.handlers.isBusy()) this.close();
  }

  #lookAt(thread: number, watched: Watched): void {
    const { progress } = watched;
    const { step } = progress;
    if (step < 0) {
      if (++watched.looks === STUCK_LOOKS) this.handlers.stuck(thread);
      return;
    }
    if (step !== watched.step || !this.handlers.isAwaited(thread, progress.position)) {
      watched.step = step;
      watched.looks = 0;
      return;
    }
    if (++watched.looks < KEPT_LOOKS) return;
    const position = progress.take(step);
    if (position) this.handlers.kept(thread, position);
  }
}
