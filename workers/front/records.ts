import type { Awaitable } from '../../core/api/point.js';
import { FRONT_ENCODING_BYTES, FRONT_SLICE_BYTES } from '../../core/limits.js';
import type { Entry } from '../../core/threads/entry.js';
import type { Rendering } from '../../core/threads/messages.js';
import type { Encodings } from './encodings.js';
import type { PoolClient } from './poolClient.js';
import { renderSlices } from './renderedList.js';
import type { FrontRequest } from './sender.js';
import type { Slices } from './slices.js';

/** Encodings of objects that are kept and shared by reads. */
export interface RecordForm {
  /** How the pool makes them. */
  readonly records: NonNullable<Rendering['records']>;
  /** Equal keys share encodings. */
  readonly key: string;
  /** Makes them of stored texts here, where they are made of the bytes that are stored. */
  readonly encode?: ((texts: readonly Uint8Array[]) => Uint8Array[]) | undefined;
}

/**
 * The encodings of entries, which are made where they are missing: those of large objects in the pool, all others here,
 * because copying them for the pool takes as long. Many are made in slices of time, between which others are served.
 */
export class Records {
  constructor(
    readonly pool: Pick<PoolClient, 'render'>,
    readonly encodings: Encodings,
    readonly slices: Slices,
  ) {}

  /** The encodings of entries, in as few pieces as they lie in. */
  find(request: FrontRequest, entries: readonly Entry[], form: RecordForm): Awaitable<readonly Uint8Array[]> {
    return this.encodings.find(entries, form.key) ?? this.make(request, entries, form);
  }

  /** Makes the encodings of entries, a piece for each. */
  make(request: FrontRequest, entries: readonly Entry[], form: RecordForm): Awaitable<readonly Uint8Array[]> {
    const { encode } = form;
    if (!encode) return this.#makeInPool(request, entries, form);
    const small = entries.filter(isSmall);
    const here = renderSlices(small, FRONT_SLICE_BYTES);
    if (small.length === entries.length && here.length === 1) return this.#makeHere(entries, form.key, encode);
    return this.#makeMany(request, entries, here, { ...form, encode });
  }

  async #makeMany(
    request: FrontRequest,
    entries: readonly Entry[],
    here: readonly (readonly Entry[])[],
    form: RecordForm & Pick<Required<RecordForm>, 'encode'>,
  ): Promise<readonly Uint8Array[]> {
    const large = entries.filter(entry => !isSmall(entry));
    const larges = large.length > 0 ? await this.#makeInPool(request, large, form) : [];
    const smalls: Uint8Array[] = [];
    await this.slices.forEach(
      here,
      part => {
        // Another read may have made them since the last slice of time.
        const kept = part.map(entry => this.encodings.find([entry], form.key)?.[0]);
        const missing = part.filter((_, i) => !kept[i]);
        const made = this.#makeHere(missing, form.key, form.encode).values();
        smalls.push(...kept.map(record => record ?? made.next().value!));
        return true;
      },
      part => part.length,
    );
    const [small, other] = [smalls.values(), larges.values()];
    return entries.map(entry => (isSmall(entry) ? small : other).next().value!);
  }

  #makeHere(entries: readonly Entry[], key: string, encode: NonNullable<RecordForm['encode']>): readonly Uint8Array[] {
    const records = encode(entries.map(entry => entry.value));
    this.encodings.add(entries, key, records);
    return records;
  }

  async #makeInPool(
    request: FrontRequest,
    entries: readonly Entry[],
    form: RecordForm,
  ): Promise<readonly Uint8Array[]> {
    const objects = entries.map(entry => entry.value);
    const result = await this.pool.render(request, { objects, status: 200, records: form.records });
    if (result.is !== 'rendered') throw new Error('the pool could not encode objects');
    this.encodings.add(entries, form.key, result.pieces);
    return result.pieces;
  }
}

/** Whether an object is so small that the front end encodes it itself. */
const isSmall = ({ length }: Entry): boolean => length <= FRONT_ENCODING_BYTES;
