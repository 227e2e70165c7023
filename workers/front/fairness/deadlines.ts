import { monotonicTime } from '../../../core/runtime/clock.js';
import { setTimeout } from '../../../core/runtime/timers.js';
import { InFlight } from '../../../core/threads/inFlight.js';

interface Pending {
  readonly due: number;
  readonly expire: () => void;
}

/**
 * Deadlines that all come the same time after they were set, in milliseconds. One timer serves all of them, because
 * nearly all are cleared long before they are due, and a timer for each would cost memory and time.
 */
export class Deadlines {
  /** Not in a Set, which would keep the requests of its deadlines in memory after they have ended: see `InFlight`. */
  readonly #pending = new InFlight<Pending>();
  #timer: NodeJS.Timeout | undefined;

  constructor(readonly milliseconds: number) {}

  /** Calls `expire` when the time is over, unless the deadline is cleared before. Returns the argument for `clear`. */
  set(expire: () => void): number {
    const id = this.#pending.add({ due: monotonicTime() + this.milliseconds, expire });
    this.#timer ??= this.#wakeAfter(this.milliseconds);
    return id;
  }

  /** Forgets a deadline, which may have been due already. */
  clear(id: number): void {
    this.#pending.delete(id);
  }

  #wakeAfter(milliseconds: number): NodeJS.Timeout {
    return setTimeout(() => this.#expireDue(), milliseconds).unref();
  }

  /** Calls the expired deadlines in the order in which they were set, and sets the timer for the next one. */
  #expireDue(): void {
    const now = monotonicTime();
    const due = [...this.#pending].filter(([, pending]) => pending.due <= now).sort((a, b) => a[1].due - b[1].due);
    for (const [id, { expire }] of due) {
      // An earlier callback may have cleared it.
      if (!this.#pending.get(id)) continue;
      this.#pending.delete(id);
      expire();
    }
    let next = Number.POSITIVE_INFINITY;
    for (const [, pending] of this.#pending) next = Math.min(next, pending.due);
    this.#timer = this.#pending.size > 0 ? this.#wakeAfter(Math.max(0, Math.ceil(next - now))) : undefined;
  }
}
