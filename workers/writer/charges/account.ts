import type { Operation } from '../../../core/api/storage.js';
import { isRecord, recordAt, type UnknownRecord } from '../../../core/model/record.js';
import { addQuantities, formatQuantity, type Quantity, quantityOf } from '../../../core/model/quantity.js';
import { readJson, writeJson } from '../../../core/model/text/jsonText.js';
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

/** The text of all that charges depend on: the object without its version, its managers and what is used of it. */
function textOfRest(object: UnknownRecord): string {
  const { resourceVersion: _version, managedFields: _managers, ...metadata } = recordAt(object, 'metadata') ?? {};
  const { used: _used, ...status } = recordAt(object, 'status') ?? {};
  return writeJson({ ...object, metadata, status });
}

/** An object whose counters are charged: what is used of it, with the charges that are not written yet. */
export class Account {
  #object: UnknownRecord = {};
  #rest = '';
  #used: Map<string, Quantity> = new Map();
  #hard: ReadonlyMap<string, Quantity> = new Map();
  /** The revision since which nothing but the counters has changed. */
  #base = 0;
  /** The revision of the object. */
  revision = 0;
  /** The counters that were changed since the object was last written. */
  readonly #changed = new Set<string>();

  constructor(
    readonly key: string,
    stored: StoredObject,
  ) {
    this.read(stored);
  }

  /** Takes the object as others have written it. */
  read({ value, modified }: StoredObject): void {
    const object = readJson(value) as unknown as UnknownRecord;
    const rest = textOfRest(object);
    if (rest !== this.#rest) this.#base = modified;
    this.#rest = rest;
    this.#object = object;
    this.#used = quantitiesOf(recordAt(object, 'status', 'used'));
    this.#hard = quantitiesOf(recordAt(object, 'status', 'hard'));
    this.#changed.clear();
    this.revision = modified;
  }

  /** Whether a charge was decided on what the object still is, and leaves it within its bounds. */
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
      const amount = quantityOf(text);
      this.#used.set(name, this.#sum(name, isRefund ? { ...amount, nano: -amount.nano } : amount));
      this.#changed.add(name);
    }
  }

  /** Whether there are charges that are not written. */
  get isChanged(): boolean {
    return this.#changed.size > 0;
  }

  /** The write of the object with its charges. */
  put(writer: ChargeWriter): Operation {
    const object = this.#object;
    const used = [...this.#used].sort(([a], [b]) => (a < b ? -1 : 1));
    const status = {
      ...recordAt(object, 'status'),
      used: Object.fromEntries(used.map(([n, q]) => [n, formatQuantity(q)])),
    };
    const metadata = isRecord(object['metadata']) ? object['metadata'] : {};
    const { managedFields } = metadata;
    const managers = takeCounters(managedFields, [...this.#changed], writer, object['apiVersion']);
    this.#object = { ...object, metadata: { ...metadata, managedFields: managers }, status };
    const { value, gap } = withoutRevision(Buffer.from(writeJson(this.#object)));
    return { is: 'put', key: this.key, value, gap, expect: this.revision };
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
