import type { Awaitable } from '../../../core/api/point.js';
import { STORE_HEALTH_MS } from '../../../core/limits.js';
import { monotonicTime } from '../../../core/runtime/clock.js';
import { clearInterval, setInterval } from '../../../core/runtime/timers.js';

/**
 * Whether the store works. A check that has passed holds for STORE_HEALTH_MS, and another is made before that time is
 * over: health endpoints answer at once, however often they are asked, and clients can pipeline their requests.
 */
export class StoreHealth {
  #passedAt = Number.NEGATIVE_INFINITY;
  #running: Promise<void> | undefined;
  readonly #timer: NodeJS.Timeout;

  /** `read` reads from the store, and rejects if that fails. */
  constructor(readonly read: () => Promise<void>) {
    const refresh = (): void => void this.#run().catch(() => undefined);
    refresh();
    this.#timer = setInterval(refresh, STORE_HEALTH_MS / 2).unref();
  }

  /** Throws the error of the store, if it does not work. */
  check(): Awaitable<void> {
    if (monotonicTime() - this.#passedAt > STORE_HEALTH_MS) return this.#run();
  }

  /** Makes no more checks by itself. */
  close(): void {
    clearInterval(this.#timer);
  }

  /** Reads from the store; calls share a read that is in progress. */
  #run(): Promise<void> {
    this.#running ??= this.read()
      .then(
        () => {
          this.#passedAt = monotonicTime();
        },
        error => {
          this.#passedAt = Number.NEGATIVE_INFINITY;
          throw error;
        },
      )
      .finally(() => {
        this.#running = undefined;
      });
    return this.#running;
  }
}
