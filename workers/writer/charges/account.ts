import { createHash } from 'node:crypto';
import type { Operation } from '../../../core/api/storage.js';
import { recordAt, recordsAt, type UnknownRecord } from '../../../core/model/record.js';
import { addQuantities, formatQuantity, type Quantity, quantityOf } from '../../../core/model/quantity.js';
import { readJson, writeJson } from '../../../core/model/text/jsonText.js';
import { randomUUID } from '../../../core/runtime/random.js';
import { withoutRevision } from '../../../core/plugin/informers/stored.js';
import type { ProposedCharge } from '../../../core/threads/messages/messages.js';
import { type ChargeWriter, takeCounters } from './ownership.js';

/** A stored object and its revision. */
export interface StoredObject {
  readonly value: Uint8Array;
  readonly modified: number;
}

const quantitiesOf = (amounts: UnknownRecord | undefined): Map<string, Quantity> =>
  new Map(Object.entries(amounts ?? {}).map(([name, amount]) => [name, quantityOf(amount)]));

/** A hash of all that charges depend on: the object without its version, its managers and the used amounts. */
function hashOfRest(object: UnknownRecord): string {
  const { resourceVersion: _version, managedFields: _managers, ...metadata } = recordAt(object, 'metadata') ?? {};
  const { used: _used, ...status } = recordAt(object, 'status') ?? {};
  return createHash('sha256')
    .update(writeJson({ ...object, metadata, status }))
    .digest('base64');
}

/** An encoded object in parts: the time of its last manager follows `head`, the used amounts `middle`. */
interface Template {
  /** Without the digits of the revision, which are missing at `gap`. */
  readonly head: Buffer;
  readonly gap: number;
  readonly middle: string;
  readonly tail: string;
  /** The counters in the order of their names, which `text` has as JSON. */
  readonly counters: readonly { readonly name: string; readonly text: string }[];
}

function templateOf(object: UnknownRecord, counters: readonly string[]): Template {
  // A text that no part of the object contains.
  const mark = randomUUID();
  const metadata = recordAt(object, 'metadata') ?? {};
  const managers = recordsAt(metadata, 'managedFields');
  const managedFields = [...managers.slice(0, -1), { ...managers.at(-1), time: mark }];
  const status = { ...recordAt(object, 'status'), used: mark };
  const text = writeJson({ ...object, metadata: { ...metadata, managedFields }, status });
  const [before = '', middle = '', tail = ''] = text.split(`"${mark}"`);
  const { value: head, gap } = withoutRevision(Buffer.from(before));
  return { head, gap, middle, tail, counters: counters.map(name => ({ name, text: JSON.stringify(name) })) };
}

/** An object whose counters are charged: the used amounts, with the charges that are not written yet. */
export class Account {
  #object: UnknownRecord = {};
  #rest = '';
  #used: Map<string, Quantity> = new Map();
  #hard: ReadonlyMap<string, Quantity> = new Map();
  /** The revision since which nothing but the counters has changed. */
  #base = 0;
  /** The revision of the object. */
  revision = 0;
  /** The encoded bytes of the object when it was read. */
  bytes = 0;
  /** By how much counters were changed since the object was last written, in billionths; never 0. */
  readonly #changed = new Map<string, bigint>();
  /** The encoded object, without the parts that change with each charge of the counters that `#manager` owns. */
  #template: Template | undefined;
  readonly #owned = new Set<string>();
  #manager = '';

  constructor(
    readonly key: string,
    stored: StoredObject,
  ) {
    this.read(stored);
  }

  /** Takes the object as others have written it. */
  read({ value, modified }: StoredObject): void {
    const object = readJson(value) as unknown as UnknownRecord;
    const rest = hashOfRest(object);
    if (rest !== this.#rest) this.#base = modified;
    this.#rest = rest;
    this.#object = object;
    this.#used = quantitiesOf(recordAt(object, 'status', 'used'));
    this.#hard = quantitiesOf(recordAt(object, 'status', 'hard'));
    this.#changed.clear();
    this.#owned.clear();
    this.#template = undefined;
    this.revision = modified;
    this.bytes = value.length;
  }

  /** Whether a charge was decided on the present content of the object, and leaves it within its bounds. */
  permits({ seen, amounts }: ProposedCharge): boolean {
    if (seen < this.#base) return false;
    return amounts.every(([name, amount]) => {
      const hard = this.#hard.get(name);
      return !hard || this.#sum(name, quantityOf(amount)).nano <= hard.nano;
    });
  }

  /** Adds a charge, or takes it back. */
  add({ amounts }: ProposedCharge, isRefund = false): void {
    for (const [name, text] of amounts) {
      const { nano, format } = quantityOf(text);
      const amount = { nano: isRefund ? -nano : nano, format };
      this.#used.set(name, this.#sum(name, amount));
      const change = (this.#changed.get(name) ?? 0n) + amount.nano;
      if (change === 0n) this.#changed.delete(name);
      else this.#changed.set(name, change);
    }
  }

  /** Whether there are charges that are not written. */
  get isChanged(): boolean {
    return this.#changed.size > 0;
  }

  /** The write of the object with its charges. */
  put(writer: ChargeWriter): Operation {
    const counters = [...this.#changed.keys()];
    const isOwner = writer.manager === this.#manager && counters.every(name => this.#owned.has(name));
    if (!isOwner) this.#take(counters, writer);
    this.#template ??= templateOf(this.#object, [...this.#used.keys()].sort());
    const { head, gap, middle, counters: names, tail } = this.#template;
    const used = names.map(({ name, text }) => `${text}:"${formatQuantity(this.#used.get(name)!)}"`).join(',');
    const rest = Buffer.from(`${JSON.stringify(writer.time)}${middle}{${used}}${tail}`);
    return { is: 'put', key: this.key, value: Buffer.concat([head, rest]), gap, expect: this.revision };
  }

  /** Makes the writer the owner of counters. */
  #take(counters: readonly string[], writer: ChargeWriter): void {
    const metadata = recordAt(this.#object, 'metadata') ?? {};
    const managedFields = takeCounters(metadata['managedFields'], counters, writer, this.#object['apiVersion']);
    this.#object = { ...this.#object, metadata: { ...metadata, managedFields } };
    if (writer.manager !== this.#manager) this.#owned.clear();
    this.#manager = writer.manager;
    for (const name of counters) this.#owned.add(name);
    this.#template = undefined;
  }

  /** To be called when the write is committed. */
  written(revision: number): void {
    this.revision = revision;
    this.#changed.clear();
  }

  #sum(name: string, amount: Quantity): Quantity {
    const used = this.#used.get(name);
    return used ? addQuantities(used, amount) : amount;
  }
}
