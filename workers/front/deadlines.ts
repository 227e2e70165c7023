/** A deadline that is set. */
export interface Deadline {
  readonly due: number;
  readonly expire: () => void;
}

/**
 * Deadlines that all come the same time after they were set, in milliseconds. One timer serves all of them, because
 * nearly all are cleared long before they are due, and a timer of its own costs each request memory and time.
 */
export class Deadlines {
  /** In the order in which they are due. */
  readonly #deadlines = new Set<Deadline>();
  #timer: NodeJS.Timeout | undefined;

  constructor(readonly milliseconds: number) {}

  /** Calls `expire` when the time is over, unless the deadline is cleared before. */
  set(expire: () => void): Deadline {
    const deadline = { due: performance.now() + this.milliseconds, expire };
    this.#deadlines.add(deadline);
    this.#timer ??= this.#wakeAfter(this.milliseconds);
    return deadline;
  }

  /** Forgets a deadline, which may have been due already. */
  clear(deadline: Deadline): void {
    this.#deadlines.delete(deadline);
  }

  #wakeAfter(milliseconds: number): NodeJS.Timeout {
    return setTimeout(() => this.#expireDue(), milliseconds).unref();
  }

  #expireDue(): void {
    this.#timer = undefined;
    const now = performance.now();
    for (const deadline of this.#deadlines) {
      if (deadline.due > now) {
        this.#timer = this.#wakeAfter(Math.ceil(deadline.due - now));
        return;
      }
      this.#deadlines.delete(deadline);
      deadline.expire();
    }
  }
}
