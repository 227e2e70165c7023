import { freemem, totalmem } from 'node:os';
import { ENCODINGS_IDLE_MS, ENCODINGS_MEMORY_SHARE } from '../../../core/limits.js';
import { monotonicTime } from '../../../core/runtime/clock.js';
import { clearInterval, setInterval } from '../../../core/runtime/timers.js';
import type { Encoding, EncodingSegment, Entry } from '../../../core/threads/entries/entry.js';

/** Time between two computations of the budget. */
const BUDGET_MS = 1000;

/** The memory of the machine, or of the container if that has less. */
const memory = (): number => Math.min(totalmem(), process.constrainedMemory?.() || Number.POSITIVE_INFINITY);

function encodingOf(entry: Entry, form: string): Encoding | undefined {
  let encoding = entry.encoding;
  while (encoding && encoding.form !== form) encoding = encoding.next;
  return encoding;
}

/** Copies pieces into a buffer of their own, unless they have one. */
function alone(pieces: readonly Uint8Array[]): readonly Uint8Array[] {
  const total = pieces.reduce((sum, piece) => sum + piece.length, 0);
  if (pieces.every(piece => piece.buffer === pieces[0]!.buffer) && pieces[0]!.buffer.byteLength === total)
    return pieces;
  const bytes = new Uint8Array(total);
  let at = 0;
  return pieces.map(piece => {
    bytes.set(piece, at);
    at += piece.length;
    return bytes.subarray(at - piece.length, at);
  });
}

/**
 * The encodings of current objects in other forms than their JSON, or parts of these, made when they are first asked
 * for and shared by gets, lists and watches. Their bytes are dropped when they have not been read for a while; their
 * lengths stay known. Above a budget, a share of the memory, no further ones are kept: if new ones replaced those in
 * use, repeated reads of a collection larger than the budget would replace each encoding before its next read.
 */
export class EncodingCache {
  /** In the order of their last read, the oldest first. */
  readonly #segments = new Set<EncodingSegment>();
  #bytes = 0;
  #isFull = false;
  #budget = 0;
  #budgetAt = Number.NEGATIVE_INFINITY;
  #timer: NodeJS.Timeout | undefined;

  constructor(
    /** Largest number of bytes that are kept, even if there is more memory. */
    readonly limit = Number.POSITIVE_INFINITY,
  ) {}

  /** Bytes that are kept now. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Whether the last encodings were not kept, and none has been dropped since. */
  get isFull(): boolean {
    return this.#isFull;
  }

  /** The length of an entry's encoding; undefined if it was never encoded in the form. */
  lengthOf(entry: Entry, form: string): number | undefined {
    return encodingOf(entry, form)?.length;
  }

  /** The encodings of entries, in as few pieces as they are stored in; undefined if one of them is missing. */
  find(entries: readonly Entry[], form: string): Uint8Array[] | undefined {
    const runs: { readonly segment: EncodingSegment; readonly start: number; end: number }[] = [];
    for (const entry of entries) {
      const encoding = encodingOf(entry, form);
      const segment = encoding?.segment;
      if (!segment?.bytes) return undefined;
      const run = runs.at(-1);
      if (run?.segment === segment && run.end === encoding!.offset) run.end += encoding!.size;
      else runs.push({ segment, start: encoding!.offset, end: encoding!.offset + encoding!.size });
    }
    return runs.map(({ segment, start, end }) => {
      this.#use(segment);
      return segment.bytes!.subarray(start, end);
    });
  }

  /**
   * Keeps the encodings of entries that were made together or, over the budget, only their lengths. `lengthOf` returns
   * the length that an encoding has when it is unpacked.
   */
  add(
    entries: readonly Entry[],
    form: string,
    encodings: readonly Uint8Array[],
    lengthOf: (encoding: Uint8Array) => number = encoding => encoding.length,
  ): void {
    if (entries.length === 0) return;
    const pieces = alone(encodings);
    const bytes = new Uint8Array(pieces[0]!.buffer);
    const isKept = this.#bytes + bytes.length <= this.#limit();
    this.#isFull = !isKept;
    const segment = isKept ? { bytes, usedAt: monotonicTime(), current: bytes.length } : undefined;
    if (segment) {
      this.#segments.add(segment);
      this.#bytes += bytes.length;
      this.#timer ??= setInterval(() => this.#dropIdle(), ENCODINGS_IDLE_MS / 2).unref();
    }
    for (const [i, entry] of entries.entries()) {
      const { byteOffset: offset, length: size } = pieces[i]!;
      const known = encodingOf(entry, form);
      if (!known) entry.encoding = { form, length: lengthOf(pieces[i]!), size, segment, offset, next: entry.encoding };
      else if (segment) Object.assign(known, { segment, offset });
    }
  }

  /** Drops the encodings of an object that is no longer current, with others where most of a segment is unused. */
  remove(entry: Entry): void {
    for (let encoding = entry.encoding; encoding; encoding = encoding.next) {
      const { segment } = encoding;
      if (!segment?.bytes) continue;
      segment.current -= encoding.size;
      if (segment.current < segment.bytes.length / 2) this.#drop(segment);
    }
  }

  #use(segment: EncodingSegment): void {
    segment.usedAt = monotonicTime();
    this.#segments.delete(segment);
    this.#segments.add(segment);
  }

  #limit(): number {
    const now = monotonicTime();
    if (now - this.#budgetAt >= BUDGET_MS) {
      this.#budgetAt = now;
      this.#budget = Math.min(this.limit, memory() * ENCODINGS_MEMORY_SHARE, (freemem() + this.#bytes) / 2);
    }
    return this.#budget;
  }

  /** Drops segments that have not been read for a while. */
  #dropIdle(): void {
    const idleSince = monotonicTime() - ENCODINGS_IDLE_MS;
    for (const segment of this.#segments) {
      if (segment.usedAt > idleSince) return;
      this.#drop(segment);
    }
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #drop(segment: EncodingSegment): void {
    this.#segments.delete(segment);
    this.#isFull = false;
    this.#bytes -= segment.bytes!.length;
    segment.bytes = undefined;
  }
}
