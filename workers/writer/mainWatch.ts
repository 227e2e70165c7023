import type { Log } from '../../core/api/host.js';
import { EventLoopWatch } from '../../core/threads/stalls/eventLoopWatch.js';
import type { MainThread } from '../../core/threads/messages/lifecycle.js';

/**
 * Ends the process when its main thread does not return to its event loop: no request would be answered, and SIGTERM
 * would do nothing. Only another thread can end it, and only by a signal, which loses no write that was answered.
 */
export class MainWatch {
  #watch: EventLoopWatch | undefined;

  constructor(
    readonly ping: () => void,
    readonly log: Log,
  ) {}

  /** Begins, or continues with other plugins. */
  watch({ running, nativeId, ...data }: MainThread): void {
    this.end();
    const { ping, log } = this;
    const stalled = (): void => void process.kill(process.pid, 'SIGKILL');
    this.#watch = new EventLoopWatch({ thread: 'the main thread', data, running, log, ping, stalled });
    this.#watch.begin(nativeId);
  }

  /** To be called when the main thread has answered. */
  answered(): void {
    this.#watch?.answered();
  }

  end(): void {
    this.#watch?.end();
  }
}
