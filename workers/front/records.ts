import type { Awaitable } from '../../core/api/point.js';
import { FRONT_ENCODING_BYTES } from '../../core/limits.js';
import type { Entry } from '../../core/threads/entry.js';
import type { Rendering } from '../../core/threads/messages.js';
import type { Encodings } from './encodings.js';
import type { PoolClient } from './poolClient.js';
import type { FrontRequest } from './sender.js';

/** Encodings of objects that are kept and shared by reads. */
export interface RecordForm {
  /** How the pool makes them. */
  readonly records: NonNullable<Rendering['records']>;
  /** Equal keys share encodings. */
  readonly key: string;
  /** Makes them of stored texts here, where they are made of the bytes that are stored. */
  readonly encode?: ((texts: readonly Uint8Array[]) => Uint8Array[]) | undefined;
}

/** The encodings of entries, which are made where they are missing: of a few here, of others in the pool. */
export class Records {
  constructor(
    readonly pool: Pick<PoolClient, 'render'>,
    readonly encodings: Encodings,
  ) {}

  /** The encodings of entries, in as few pieces as they lie in. */
  find(request: FrontRequest, entries: readonly Entry[], form: RecordForm): Awaitable<readonly Uint8Array[]> {
    return this.encodings.find(entries, form.key) ?? this.make(request, entries, form);
  }

  /** Makes the encodings of entries, a piece for each. */
  make(request: FrontRequest, entries: readonly Entry[], form: RecordForm): Awaitable<readonly Uint8Array[]> {
    if (!form.encode || !isShort(entries)) return this.#makeInPool(request, entries, form);
    const records = form.encode(entries.map(entry => entry.value));
    this.encodings.add(entries, form.key, records);
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

/** Whether entries are so few bytes that the front end encodes them itself. */
function isShort(entries: readonly Entry[]): boolean {
  let bytes = 0;
  for (const { length } of entries) if ((bytes += length) > FRONT_ENCODING_BYTES) return false;
  return true;
}
