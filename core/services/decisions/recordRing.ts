import type { DecisionRecord } from '../../api/observe/decisions.js';

/** Bytes of a record beside its texts: its members, user and target, and its places in the ring and the index. */
const RECORD_BYTES = 1000;
/** Bytes of a step or cause beside its texts. */
const PART_BYTES = 100;

/** An upper bound of the bytes that a record has in memory. Users are shared with the cache of identities. */
export function recordBytes({ path, refusal, opinions, steps, reason }: DecisionRecord): number {
  let characters = path.length + (reason?.length ?? 0) + (steps?.length ?? 0) + (refusal?.message.length ?? 0);
  let parts = 0;
  for (const { field, message } of refusal?.causes ?? []) {
    characters += field.length + message.length;
    parts++;
  }
  for (const { reason: why } of opinions ?? []) {
    characters += why?.length ?? 0;
    parts++;
  }
  return RECORD_BYTES + parts * PART_BYTES + 2 * characters;
}

/** A record with its number: later ones have greater numbers. */
export interface NumberedRecord {
  readonly number: number;
  readonly record: DecisionRecord;
}

/** The last records up to a number and a size. The oldest ones make room for new ones. */
export class RecordRing {
  readonly #slots: (NumberedRecord | undefined)[] = [];
  /** Positions in `#slots`: of the oldest record, and how many there are. */
  #first = 0;
  #count = 0;
  #bytes = 0;

  constructor(
    readonly maxCount: number,
    readonly maxBytes: number,
    /** Called with each record that is dropped. */
    readonly onDrop: (dropped: NumberedRecord) => void,
  ) {}

  get bytes(): number {
    return this.#bytes;
  }

  get size(): number {
    return this.#count;
  }

  add(added: NumberedRecord): void {
    if (this.#count === this.maxCount) this.#drop();
    this.#slots[(this.#first + this.#count) % this.maxCount] = added;
    this.#count++;
    this.#bytes += recordBytes(added.record);
    while (this.#bytes > this.maxBytes && this.#count > 1) this.#drop();
  }

  /** The records, the newest first. */
  *newestFirst(): Iterable<NumberedRecord> {
    for (let i = this.#count - 1; i >= 0; i--) yield this.#slots[(this.#first + i) % this.maxCount]!;
  }

  #drop(): void {
    const dropped = this.#slots[this.#first]!;
    this.#slots[this.#first] = undefined;
    this.#first = (this.#first + 1) % this.maxCount;
    this.#count--;
    this.#bytes -= recordBytes(dropped.record);
    this.onDrop(dropped);
  }
}
