import { after } from '../../../core/api/awaitable.js';
import type { Awaitable } from '../../../core/api/point.js';
import { ENCODINGS_WHOLE_BYTES, FRONT_ENCODING_BYTES, FRONT_SLICE_BYTES, RENDER_AHEAD } from '../../../core/limits.js';
import type { Entry } from '../../../core/threads/entries/entry.js';
import type { Rendering } from '../../../core/threads/messages/messages.js';
import type { EncodingCache } from './encodingCache.js';
import { inOrder } from '../answers/inOrder.js';
import type { PoolClient } from '../pool/poolClient.js';
import { renderSlices } from '../answers/renderSlices.js';
import type { FrontRequest } from '../access/sender.js';
import type { Slices } from '../fairness/slices.js';

/** Encodings of objects that are kept and shared by reads. */
export interface EncodingForm {
  /** How the pool makes them. */
  readonly records: NonNullable<Rendering['records']>;
  /** Equal keys share encodings. */
  readonly key: string;
  /**
   * Makes encodings in this thread, from stored texts, if these contain all that is needed. With `isPacked`, encodings
   * that can be packed are.
   */
  readonly encode?: ((texts: readonly Uint8Array[], isPacked: boolean) => Uint8Array[]) | undefined;
  /** Unpacks encodings that share bytes with the stored texts. Some of those that are kept may not be packed. */
  readonly packed?: Packed | undefined;
}

/** Encodings that are smaller while they are kept. */
export interface Packed {
  /** The length of an encoding, which may be packed. */
  lengthOf(encoding: Uint8Array): number;
  /** The encodings of objects with these texts, in one piece of `length` bytes. */
  unpack(encodings: readonly Uint8Array[], texts: Iterable<Uint8Array>, length: number): Uint8Array;
}

/** Parts that the pool encodes in one job: some 5 ms. */
const POOL_PARTS = 4;

/** Entries to encode, in parts that the front end takes from the front, and the pool from the end. */
interface Work {
  readonly parts: (readonly Entry[])[];
  /** Takes the encodings that are made of entries. */
  readonly take: (entries: readonly Entry[], records: readonly Uint8Array[]) => void;
  /** Whether an entry is still to be encoded. */
  readonly isMissing: (entry: Entry) => boolean;
  /** Resolves when the pool has returned the entries that it has taken. */
  inPool?: Promise<void> | undefined;
}

/**
 * The encodings of entries, which are made where they are missing: those of large objects in the pool, all others here,
 * in slices of time between which others are served. Those of a long list are made by both at the same time: the front
 * end begins with the first ones, the pool with the last.
 */
export class SharedEncodings {
  constructor(
    readonly pool: Pick<PoolClient, 'render' | 'renderWhenFree'>,
    readonly cache: EncodingCache,
    readonly slices: Slices,
  ) {}

  /** The encodings of entries, in few pieces. */
  find(request: FrontRequest, entries: readonly Entry[], form: EncodingForm): Awaitable<readonly Uint8Array[]> {
    return this.known(entries, form) ?? this.make(request, entries, form);
  }

  /** The encodings of entries, in few pieces; undefined if one of them is missing. */
  known(entries: readonly Entry[], form: EncodingForm): readonly Uint8Array[] | undefined {
    const kept = this.cache.find(entries, form.key);
    return kept && this.#unpack(kept, entries, form);
  }

  /** Makes the encodings of entries. */
  make(request: FrontRequest, entries: readonly Entry[], form: EncodingForm): Awaitable<readonly Uint8Array[]> {
    return after(this.#make(request, entries, form), records => this.#unpack(records, entries, form));
  }

  /** Makes the encodings of entries, a piece for each. */
  async makeEach(request: FrontRequest, entries: readonly Entry[], form: EncodingForm): Promise<Uint8Array[]> {
    const records = await this.#make(request, entries, form);
    return records.map((record, i) => unpacked(record, entries[i]!.value, form));
  }

  #unpack(
    records: readonly Uint8Array[],
    entries: readonly Entry[],
    { key, packed }: EncodingForm,
  ): readonly Uint8Array[] {
    if (!packed) return records;
    let length = 0;
    for (const entry of entries) length += this.cache.lengthOf(entry, key)!;
    const kept = records.reduce((sum, record) => sum + record.length, 0);
    if (kept === length) return records;
    return [packed.unpack(records, valuesOf(entries), length)];
  }

  /** Makes the encodings of entries, a piece for each, as they are kept. */
  #make(request: FrontRequest, entries: readonly Entry[], form: EncodingForm): Awaitable<readonly Uint8Array[]> {
    const { encode } = form;
    if (!encode) return this.#makeInPool(request, entries, form);
    if (entries.every(isSmall) && renderSlices(entries, FRONT_SLICE_BYTES).length === 1)
      return this.#makeHere(entries, { ...form, encode });
    return this.#makeMany(request, entries, { ...form, encode });
  }

  async #makeMany(request: FrontRequest, entries: readonly Entry[], form: HereForm): Promise<readonly Uint8Array[]> {
    const made = new Map<Entry, Uint8Array>();
    const isMissing = (entry: Entry): boolean => {
      // Another read may have made it meanwhile.
      const record = this.cache.find([entry], form.key)?.[0];
      if (record) made.set(entry, record);
      return !record;
    };
    const take: Work['take'] = (entries, records) => {
      for (const [i, entry] of entries.entries()) made.set(entry, records[i]!);
    };
    const large = entries.filter(entry => !isSmall(entry));
    if (large.length > 0) take(large, await this.#makeInPool(request, large, form));
    await this.#makeParts(form, { parts: partsOf(entries), take, isMissing });
    return entries.map(entry => made.get(entry)!);
  }

  /**
   * Encodes all entries once, and keeps the encodings as far as the cache allows. Resolves with their total length.
   * Ends early, with any number, when the client has gone away.
   */
  async measure(request: FrontRequest, entries: readonly Entry[], form: EncodingForm): Promise<number> {
    await this.#measure(request, entries, form);
    return entries.reduce((sum, entry) => sum + (this.cache.lengthOf(entry, form.key) ?? 0), 0);
  }

  async #measure(request: FrontRequest, entries: readonly Entry[], form: EncodingForm): Promise<void> {
    const { encode } = form;
    const isMissing = (entry: Entry): boolean =>
      !request.exchange.aborted && this.cache.lengthOf(entry, form.key) === undefined;
    const isHere = (entry: Entry): boolean => encode !== undefined && isSmall(entry);
    const others = renderSlices(entries.filter(entry => !isHere(entry) && isMissing(entry)));
    for await (const _ of inOrder(others, RENDER_AHEAD, slice => {
      const missing = slice.filter(isMissing);
      return missing.length > 0 ? this.#makeInPool(request, missing, form) : [];
    }))
      if (request.exchange.aborted) return;
    if (!encode) return;
    const parts = partsOf(entries.filter(isMissing));
    const work: Work = { parts, take: () => undefined, isMissing };
    if (parts.length > 1) void this.#workInPool(request, form, work);
    await this.#makeParts({ ...form, encode }, work);
  }

  /**
   * Has the pool encode small entries from the last one on, while a list is made of the first ones. It stops at entries
   * that are encoded already, when the cache keeps no more, or when the client has gone away.
   */
  makeAhead(request: FrontRequest, entries: readonly Entry[], form: EncodingForm): void {
    if (!form.encode || this.cache.isFull) return;
    const isMissing = (entry: Entry): boolean => !this.cache.find([entry], form.key);
    const work: Work = { parts: partsOf(entries), take: () => undefined, isMissing };
    const isOver = (): boolean => request.exchange.aborted || this.cache.isFull;
    if (work.parts.length > 1) void this.#workInPool(request, form, work, isOver);
  }

  /** Encodes the parts of some work in this thread, except those that the pool takes. */
  async #makeParts(form: HereForm, work: Work): Promise<void> {
    const { parts, take, isMissing } = work;
    try {
      // If the pool fails, the entries that it has taken are encoded here.
      while (parts.length > 0) {
        await this.slices.forEach(
          // Each visit encodes the first part that is left: the pool may take others meanwhile.
          [...parts],
          () => {
            const missing = parts.shift()?.filter(isMissing) ?? [];
            if (missing.length > 0) take(missing, this.#makeHere(missing, form));
            return parts.length > 0;
          },
          part => part.length,
        );
        await work.inPool;
      }
    } finally {
      parts.length = 0;
    }
  }

  /**
   * Has the pool encode parts from the last one on, until it comes to parts that are encoded already. Never rejects.
   */
  async #workInPool(
    request: FrontRequest,
    form: EncodingForm,
    work: Work,
    isOver: () => boolean = () => false,
  ): Promise<void> {
    while (!isOver() && (await this.#takeToPool(request, form, work)));
  }

  /** Has the pool encode the last parts of some work. Resolves with true if it has; otherwise puts the parts back. */
  async #takeToPool(request: FrontRequest, form: EncodingForm, work: Work): Promise<boolean> {
    const { parts, take, isMissing } = work;
    let taken: readonly Entry[] = [];
    let release: () => void = () => undefined;
    try {
      const result = await this.pool.renderWhenFree(request, () => {
        const share = Math.min(POOL_PARTS, Math.floor(parts.length / 2));
        taken = parts
          .splice(parts.length - share)
          .flat()
          .filter(isMissing);
        if (taken.length === 0) return undefined;
        work.inPool = new Promise(resolve => (release = resolve));
        return { objects: taken.map(entry => entry.value), status: 200, records: form.records, packed: this.#isPacked };
      });
      if (result?.is === 'rendered') {
        this.#keep(taken, form, result.pieces);
        take(taken, result.pieces);
        taken = [];
        return true;
      }
    } catch {
      // The thread that has failed is reported where threads are replaced.
    } finally {
      if (taken.length > 0) parts.push(taken);
      release();
    }
    return false;
  }

  #makeHere(entries: readonly Entry[], form: HereForm): readonly Uint8Array[] {
    const texts = entries.map(entry => entry.value);
    const records = form.encode(texts, this.#isPacked);
    this.#keep(entries, form, records);
    return records;
  }

  /** Whether encodings that are made now are packed. */
  get #isPacked(): boolean {
    return this.cache.bytes >= ENCODINGS_WHOLE_BYTES;
  }

  #keep(entries: readonly Entry[], { key, packed }: EncodingForm, records: readonly Uint8Array[]): void {
    this.cache.add(entries, key, records, packed?.lengthOf);
  }

  async #makeInPool(
    request: FrontRequest,
    entries: readonly Entry[],
    form: EncodingForm,
  ): Promise<readonly Uint8Array[]> {
    const objects = entries.map(entry => entry.value);
    const result = await this.pool.render(request, {
      objects,
      status: 200,
      records: form.records,
      packed: this.#isPacked,
    });
    if (result.is !== 'rendered') throw new Error('the pool could not encode objects');
    this.#keep(entries, form, result.pieces);
    return result.pieces;
  }
}

/** The encoding of an object with this text, as it was made. */
const unpacked = (encoding: Uint8Array, text: Uint8Array, { packed }: EncodingForm): Uint8Array =>
  packed && packed.lengthOf(encoding) > encoding.length
    ? packed.unpack([encoding], [text], packed.lengthOf(encoding))
    : encoding;

function* valuesOf(entries: readonly Entry[]): Generator<Uint8Array> {
  for (const entry of entries) yield entry.value;
}

/** A form whose encodings can be made here. */
type HereForm = EncodingForm & { readonly encode: NonNullable<EncodingForm['encode']> };

/** The entries that are encoded here, in parts that each take a fraction of a slice. */
const partsOf = (entries: readonly Entry[]): Entry[][] => renderSlices(entries.filter(isSmall), FRONT_SLICE_BYTES);

/** Whether an object is so small that the front end encodes it itself. */
const isSmall = ({ length }: Entry): boolean => length <= FRONT_ENCODING_BYTES;
