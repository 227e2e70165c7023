import { readJson, StoreError } from '../../../core/api/index.js';
import { recordAt } from '../../../core/model/record.js';
import { delay } from '../../../core/runtime/timers.js';
import { currentKey, currentValue, sharedDefinitionsNotice } from '../../../core/schema/storageLayout.js';
import { type Connection, isRejected } from './connection.js';
import { Compact, type KeyValue, Range, type RangeResponse, Txn, type TxnResponse } from './protocol.js';
import { modRevisionEquals } from './transaction.js';
import { type Keys, newTransactionId, splitValue, storedValue } from './values.js';

/** Keys read by one call. */
const PAGE_SIZE = 500;
/** Transactions in flight. */
const PARALLEL = 32;
/** A running server renews the Lease of its controllers every two seconds, and another one takes it over after ten. */
const LEASE_MS = 12_500;
/** Time between two reads of the leases: a start fails soon after the renewal that shows another server. */
const LEASE_POLL_MS = 250;
const LEASES = 'coordination.orchestrator.io/leases/';
const LEASE_NAME = '/capstan-controllers';

const isHeld = (value: Uint8Array): boolean => {
  const spec = recordAt(readJson(value), 'spec');
  return typeof spec?.['holderIdentity'] === 'string' && spec['holderIdentity'] !== '';
};

/** Moves the objects of custom kinds in etcd to their keys in the current layout. Former values are plain. */
export class KeyMove {
  constructor(
    readonly connection: Connection,
    readonly keys: Keys,
    readonly prefix: string,
    /** Called with messages for administrators. */
    readonly notice: (message: string) => void,
  ) {}

  /**
   * Throws StoreError if another server uses the store: it would take the objects that are moved for deleted ones, and
   * its garbage collector would delete their dependents. The Lease of the controllers shows it.
   */
  async checkUnused(): Promise<void> {
    const before = await this.#heldLeases();
    for (let waited = 0; before.size > 0 && waited < LEASE_MS; waited += LEASE_POLL_MS) {
      await delay(LEASE_POLL_MS);
      for (const [key, revision] of await this.#heldLeases())
        if (before.get(key) !== revision)
          throw new StoreError(
            `a server of an earlier release uses the store under ${this.prefix} in etcd, whose layout has changed: ` +
              'stop all servers, then start this one again',
          );
    }
  }

  /**
   * Moves all keys, each in a transaction of its own, then compacts the history, in which events of moved objects have
   * other keys. May run in several servers at once, and again after an interruption. Throws StoreError.
   */
  async run(): Promise<void> {
    const definitions: string[] = [];
    let revision = 0;
    for (let left = -1; left !== 0; ) {
      left = 0;
      for await (const page of this.#pages()) {
        ({ revision } = page);
        definitions.push(...page.objects.map(({ key }) => this.keys.decode(key)));
        const former = page.objects.filter(({ key }) => currentKey(this.keys.decode(key)) !== this.keys.decode(key));
        left += former.length;
        for (let at = 0; at < former.length; at += PARALLEL)
          await Promise.all(former.slice(at, at + PARALLEL).map(item => this.#move(item)));
      }
    }
    const message = sharedDefinitionsNotice(new Set(definitions));
    if (message !== undefined) this.notice(message);
    await this.#compact(revision);
  }

  /**
   * Compacts the history, also if other servers have moved all keys: they may have ended before they compacted it. One
   * of them may have compacted more, which etcd reports as an error.
   */
  async #compact(revision: number): Promise<void> {
    try {
      await this.connection.callWithRetry(Compact, { revision, physical: false });
    } catch (error) {
      if (!isRejected(error)) throw error;
    }
  }

  /** Moves a key. A transaction that fails because the object has changed is repeated later. */
  async #move(item: KeyValue): Promise<void> {
    const before = this.keys.decode(item.key);
    const { value, gap } = splitValue(item.value, before);
    const key = this.keys.encode(currentKey(before));
    const response: TxnResponse = await this.connection.callWithRetry(Txn, {
      compare: [modRevisionEquals(item.key, item.mod_revision), modRevisionEquals(key, 0)],
      success: [
        { remove: { key: item.key } },
        { put: { key, value: storedValue(currentValue(before, value), gap, newTransactionId()) } },
      ],
      failure: [{ range: { key: item.key, keys_only: true } }, { range: { key, keys_only: true } }],
    });
    const [former, current] = response.responses;
    if (!response.succeeded && former?.range?.kvs[0] && current?.range?.kvs[0])
      throw new StoreError(`etcd holds ${before} in the layouts of two releases: stop all servers of the earlier one`);
  }

  /** All objects in pages, of which the last one may be empty, each with the revision at which it was read. */
  async *#pages(): AsyncGenerator<{ readonly objects: readonly KeyValue[]; readonly revision: number }> {
    let after = '';
    for (;;) {
      const request = { ...this.keys.range('', after), limit: PAGE_SIZE };
      const { kvs, header }: RangeResponse = await this.connection.callWithRetry(Range, request);
      yield { objects: kvs.filter(({ key }) => !key.equals(this.keys.record)), revision: header.revision };
      if (kvs.length < PAGE_SIZE) return;
      after = this.keys.decode(kvs.at(-1)!.key);
    }
  }

  async #heldLeases(): Promise<ReadonlyMap<string, number>> {
    const { kvs }: RangeResponse = await this.connection.callWithRetry(Range, this.keys.range(LEASES));
    const named = kvs.filter(({ key }) => this.keys.decode(key).endsWith(LEASE_NAME));
    const held = named.filter(({ key, value }) => isHeld(splitValue(value, this.keys.decode(key)).value));
    return new Map(held.map(({ key, mod_revision }) => [this.keys.decode(key), mod_revision]));
  }
}
