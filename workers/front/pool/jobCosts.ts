import { LONG_BATCH_MS, LONG_JOB_MS } from '../../../core/limits.js';

/** Cheap jobs of a kind in a row after which the kind no longer counts as expensive. */
const MOST_DOUBT = 7;
/** Largest number of kinds that are remembered. */
const KINDS = 1000;

/**
 * Kinds of jobs, such as the creates of one resource, that have kept a thread for a long time: their policies may have
 * expensive expressions, which the size of a body does not show. Such jobs run apart from short ones (`Lanes`), each
 * alone, so that the cost of each becomes known. The more often a kind was expensive, the more cheap jobs in a row it
 * takes until it counts as short again.
 */
export class JobCosts {
  readonly #doubts = new Map<string, number>();

  /** Whether jobs of a kind are expected to take long. */
  isLong(kind: string): boolean {
    return this.#doubts.has(kind);
  }

  /**
   * Records what a batch with jobs of these kinds cost: `ms` milliseconds of a thread. Undefined: a kind that is not
   * recorded.
   */
  record(kinds: readonly (string | undefined)[], ms: number): void {
    if (kinds.length === 1) {
      if (kinds[0] !== undefined) this.#recordAlone(kinds[0], ms >= LONG_JOB_MS);
      return;
    }
    if (ms < LONG_BATCH_MS) return;
    for (const kind of kinds) if (kind !== undefined && !this.#doubts.has(kind)) this.#set(kind, 1);
  }

  #recordAlone(kind: string, tookLong: boolean): void {
    const doubts = this.#doubts.get(kind) ?? 0;
    if (tookLong) this.#set(kind, Math.min(2 * doubts + 1, MOST_DOUBT));
    else if (doubts > 1) this.#set(kind, doubts - 1);
    else this.#doubts.delete(kind);
  }

  #set(kind: string, doubts: number): void {
    if (this.#doubts.size < KINDS || this.#doubts.has(kind)) this.#doubts.set(kind, doubts);
  }
}
