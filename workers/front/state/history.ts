import type { Change, Collection } from './collection.js';

/** Bytes of history kept in memory; older changes are read from the store. */
const HISTORY_BYTES = 128 * 1024 * 1024;

/** The most recent changes, in order of revision. Watches resume from them without a request to the store. */
export class History {
  /** Undefined in the place of a change that was removed. */
  #changes: ({ readonly change: Change; readonly at: number } | undefined)[] = [];
  #head = 0;
  #bytes = 0;

  constructor(
    /** Every change above this revision is here. */
    public floor: number,
    /** How long a change is kept, in ms. */
    readonly retention: number,
  ) {}

  add(change: Change, now: number): void {
    this.#changes.push({ change, at: now });
    this.#bytes += sizeOf(change);
    while (
      this.#head < this.#changes.length &&
      (this.#changes[this.#head]!.at < now - this.retention || this.#bytes > HISTORY_BYTES)
    ) {
      const { change: old } = this.#changes[this.#head]!;
      this.#changes[this.#head++] = undefined;
      this.#bytes -= sizeOf(old);
      this.floor = Math.max(this.floor, old.revision);
    }
    // Old changes are dropped when they are most of the array: then the copy costs constant time for each change.
    if (this.#head > 1024 && this.#head > this.#changes.length / 2) {
      this.#changes = this.#changes.slice(this.#head);
      this.#head = 0;
    }
  }

  /**
   * The changes of a collection above the revision `from`, which must not be below the floor, up to `reached`: that is
   * `to`, unless they are more than `most`. A revision has all of its changes.
   */
  between(
    from: number,
    to: number,
    collection: Collection,
    most: number,
  ): { readonly changes: readonly Change[]; readonly reached: number } {
    const changes: Change[] = [];
    for (let i = this.#firstAbove(from); i < this.#changes.length; i++) {
      const { change } = this.#changes[i]!;
      if (change.revision > to) break;
      if (change.collection !== collection) continue;
      if (changes.length >= most && change.revision > changes.at(-1)!.revision)
        return { changes, reached: change.revision - 1 };
      changes.push(change);
    }
    return { changes, reached: to };
  }

  /** The changes that `revision` made. */
  at(revision: number): Change[] {
    const found: Change[] = [];
    for (let i = this.#firstAbove(revision - 1); this.#changes[i]?.change.revision === revision; i++)
      found.push(this.#changes[i]!.change);
    return found;
  }

  #firstAbove(revision: number): number {
    let low = this.#head;
    let high = this.#changes.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#changes[middle]!.change.revision <= revision) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** Bytes of a change: only history keeps the object before it. The cache or a later change has the one after it. */
const sizeOf = (change: Change): number => (change.before?.length ?? 0) + 200;
