import type { Log } from '../../../core/api/host.js';
import type { Culprits } from '../../../core/plugin/calls/blame.js';
import { RunningCalls } from '../../../core/plugin/calls/runningCalls.js';
import { clearInterval, setInterval } from '../../../core/runtime/timers.js';
import type { ThreadData } from '../../../core/threads/data.js';
import { Inspection } from '../../../core/threads/inspection.js';
import type { WatchedProgress } from '../../../core/threads/progress.js';
import type { SchedulingTimes } from '../../../core/threads/scheduling.js';
import { reportStalled, Unanswered } from '../pool/stalledThreads.js';

/** Time between two questions, also while the server is idle: each wakes two threads. */
export const WRITER_PING_MS = 1000;

/** The parts of a WriterWatch. */
export interface WriterWatchParts {
  readonly data: ThreadData;
  /** The calls of plugins that the writer is in (RunningCalls). */
  readonly running: SharedArrayBuffer;
  readonly log: Log;
  /** Returns for how long the writer has had a core, and has waited for one; undefined if that is not known. */
  readonly times: () => SchedulingTimes | undefined;
  /** Asks the writer, which calls `answered` with its answer. */
  readonly ping: () => void;
  /** Called once, when the writer has not returned from a call of its store for longer than that may take. */
  readonly stalled: (culprits: Culprits) => void;
}

/**
 * Asks the writer's thread whether it returns to its event loop, if its store is that of a plugin of the configuration:
 * nothing else ends an endless loop, and no write would be answered before the time limit of requests.
 */
export class WriterWatch {
  readonly #inspection: Inspection;
  readonly #calls: RunningCalls;
  readonly #progress: Pick<WatchedProgress, 'step' | 'times'>;
  #timer: NodeJS.Timeout | undefined;
  #unanswered: Unanswered | undefined;

  constructor(readonly parts: WriterWatchParts) {
    const { data, running, times } = parts;
    this.#inspection = new Inspection(data.inspection);
    this.#calls = new RunningCalls(running);
    // It takes no other steps than the calls of its store.
    this.#progress = {
      step: 0,
      get times() {
        return times();
      },
    };
  }

  /** To be called when the store is open. */
  begin(): void {
    const { plugins } = this.parts.data;
    if (plugins.some(({ path, points }) => path !== undefined && points?.includes('storage')))
      this.#timer = setInterval(() => this.#look(), WRITER_PING_MS).unref();
  }

  answered(): void {
    this.#unanswered = undefined;
  }

  end(): void {
    clearInterval(this.#timer);
  }

  #look(): void {
    const { data, running, log, ping, stalled } = this.parts;
    if (this.#inspection.isOpen) this.#unanswered = undefined;
    else if (!this.#unanswered) {
      this.#unanswered = new Unanswered(data.plugins, this.#calls, this.#progress, WRITER_PING_MS);
      ping();
    } else if (this.#unanswered.add().isStalled) {
      this.end();
      stalled(reportStalled('the writer', data, running, log));
    }
  }
}
