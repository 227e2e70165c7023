import type { Log } from '../../api/host.js';
import type { Culprits } from '../../plugin/calls/blame.js';
import { RunningCalls } from '../../plugin/calls/runningCalls.js';
import { clearInterval, setImmediate, setInterval } from '../../runtime/timers.js';
import type { ThreadData } from '../data.js';
import { Inspection } from '../inspection.js';
import { schedulingTimesOf } from '../scheduling.js';
import { reportStalled, Unanswered } from './stalls.js';

/** Time between two pings, also while the server is idle: each wakes two threads. */
export const WATCH_PING_MS = 1000;

/** The parts of an EventLoopWatch. */
export interface WatchParts {
  /** The thread in the log, such as `the writer`. */
  readonly thread: string;
  readonly data: Pick<ThreadData, 'plugins' | 'calls' | 'inspection'>;
  /** The calls of plugins that the thread is executing (RunningCalls). */
  readonly running: SharedArrayBuffer;
  readonly log: Log;
  /** How long a thread has had a core, and has waited for one; replaced in tests. */
  readonly times?: typeof schedulingTimesOf;
  /** Asks the thread; `answered` is to be called with its answer. */
  readonly ping: () => void;
  /** Called once, when the thread has not returned from a call of a plugin for longer than the call may take. */
  readonly stalled: (culprits: Culprits) => void;
}

/**
 * Pings a thread to check whether it returns to its event loop, because code of users runs in it: nothing else notices
 * an endless loop there. The pool has its own watch (`poolThreads.ts`), which pings more often and can use other
 * threads.
 */
export class EventLoopWatch {
  readonly #inspection: Inspection;
  readonly #calls: RunningCalls;
  #timer: NodeJS.Timeout | undefined;
  #unanswered: Unanswered | undefined;

  constructor(readonly parts: WatchParts) {
    this.#inspection = new Inspection(parts.data.inspection);
    this.#calls = new RunningCalls(parts.running);
  }

  /** To be called when the thread, with this native id (`ownNativeId`), has started. */
  begin(nativeId: number): void {
    const { times = schedulingTimesOf } = this.parts;
    // Its only steps are the calls of plugins.
    const progress = {
      step: 0,
      get times() {
        return times(nativeId);
      },
    };
    this.#timer ??= setInterval(() => this.#look(progress), WATCH_PING_MS).unref();
  }

  answered(): void {
    this.#unanswered = undefined;
  }

  end(): void {
    clearInterval(this.#timer);
    this.#unanswered = undefined;
  }

  #look(progress: Unanswered['progress']): void {
    const { data, ping } = this.parts;
    if (this.#inspection.isOpen) this.#unanswered = undefined;
    else if (!this.#unanswered) {
      this.#unanswered = new Unanswered(data.plugins, this.#calls, progress, WATCH_PING_MS);
      ping();
    } else if (this.#unanswered.add().isStalled) {
      const unanswered = this.#unanswered;
      // If this thread was late itself, the answer may already be waiting in its queue.
      setImmediate(() => this.#unanswered === unanswered && this.#stall());
    }
  }

  #stall(): void {
    const { thread, data, running, log, stalled } = this.parts;
    this.end();
    stalled(reportStalled(thread, data, running, log));
  }
}
