import type { DecisionRecord } from '../../api/observe/decisions.js';
import { RECORDED_BYTES, RECORDED_REFUSALS, RECORDED_WRITES } from '../../limits.js';
import { type NumberedRecord, recordBytes, RecordRing } from './recordRing.js';

/** Bounds of the records. */
export interface DecisionLimits {
  readonly refusals: number;
  readonly refusalBytes: number;
  readonly writes: number;
  readonly writeBytes: number;
}

const LIMITS: DecisionLimits = {
  refusals: RECORDED_REFUSALS,
  refusalBytes: RECORDED_BYTES,
  writes: RECORDED_WRITES,
  writeBytes: RECORDED_BYTES,
};

/**
 * The decisions of the server that can be explained: the last refusals and the last writes, in the memory of the main
 * thread. Number and size of each are limited separately, so that many of one kind do not displace the other.
 */
export class Decisions {
  readonly #refusals: RecordRing;
  readonly #writes: RecordRing;
  #number = 0;

  constructor(limits: DecisionLimits = LIMITS) {
    this.#refusals = new RecordRing(limits.refusals, limits.refusalBytes);
    this.#writes = new RecordRing(limits.writes, limits.writeBytes);
  }

  /** The number of the last record. */
  get lastNumber(): number {
    return this.#number;
  }

  add(record: DecisionRecord): void {
    const numbered = { number: ++this.#number, record, bytes: recordBytes(record) };
    (record.code >= 400 ? this.#refusals : this.#writes).add(numbered);
  }

  /**
   * The last record with an id. All records are searched, in about 0.1 ms: an index would add a third to the time of
   * adding a record, which every refusal does.
   */
  get(auditId: string): DecisionRecord | undefined {
    for (const { record } of this.newestFirst(Number.POSITIVE_INFINITY)) if (record.auditId === auditId) return record;
    return undefined;
  }

  /** All records with a smaller number than `before`, the newest first. */
  *newestFirst(before: number): Iterable<NumberedRecord> {
    const [refusals, writes] = [this.#refusals, this.#writes].map(ring => ring.newestFirst()[Symbol.iterator]());
    let [a, b] = [refusals!.next(), writes!.next()];
    while (!a.done || !b.done) {
      const isRefusal = b.done || (!a.done && a.value.number > b.value.number);
      const { value } = isRefusal ? a : b;
      if ((value as NumberedRecord).number < before) yield value as NumberedRecord;
      if (isRefusal) a = refusals!.next();
      else b = writes!.next();
    }
  }
}
