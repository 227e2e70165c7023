import type { Contributed } from '../point.js';
import { Compacted, FutureRevision, StoreError, Unavailable } from './errors.js';
import type { Operation, Outcome, Page, RangeOptions, Storage, Stored, StoreEvent, Transaction } from './types.js';

/** Errors that the contract of a store permits. */
const mayThrow = (thrown: unknown): boolean =>
  [Compacted, FutureRevision, StoreError, Unavailable].some(permitted => thrown instanceof permitted);

const wrong = (fault: string): TypeError => new TypeError(`the store returned ${fault}`);

const isRevision = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;

const revisionFault = (value: unknown): string | undefined => (isRevision(value) ? undefined : 'no revision');

const isAfter = (a: string, b: string): boolean => Buffer.compare(Buffer.from(a), Buffer.from(b)) > 0;

/** Describes what is wrong with the value of a key that was read at a revision; undefined if nothing is. */
function storedFault(item: Stored | null | undefined, prefix: string, revision: number): string | undefined {
  if (typeof item?.key !== 'string' || !item.key.startsWith(prefix)) return `a key without the prefix ${prefix}`;
  if (!(item.value instanceof Uint8Array)) return `no bytes as the value of ${item.key}`;
  const { created, modified, version } = item;
  if (!isRevision(created) || !isRevision(modified) || !isRevision(version) || created > modified)
    return `wrong revisions of ${item.key}`;
  return modified > revision ? `a revision of ${item.key} above that of the read` : undefined;
}

/** Describes what is wrong with a page; undefined if nothing is. */
function pageFault(page: Page | null | undefined, prefix: string, options: RangeOptions): string | undefined {
  if (!isRevision(page?.revision)) return 'no revision of the page';
  if (options.revision && page.revision !== options.revision) return 'a page of another revision';
  if (!Array.isArray(page.items)) return 'no list of items';
  if (typeof page.more !== 'boolean' || !isRevision(page.remaining)) return 'no number of the remaining keys';
  if (options.limit && page.items.length > options.limit) return 'more items than the limit';
  let last = options.after;
  for (const item of page.items as readonly Stored[]) {
    const fault = storedFault(item, prefix, page.revision);
    if (fault) return fault;
    if (last && !isAfter(item.key, last)) return `${item.key} after ${last}`;
    last = item.key;
  }
  return undefined;
}

/** Describes what is wrong with the event of an operation that was committed at a revision; undefined if nothing is. */
function eventFault(event: StoreEvent | null | undefined, operation: Operation, revision: number): string | undefined {
  const { key } = operation;
  if (event?.key !== key || event.type !== operation.is || event.revision !== revision)
    return `an event that is not that of ${key}`;
  if (event.type === 'put' && !(event.value instanceof Uint8Array)) return `no bytes in the event of ${key}`;
  return isRevision(event.created) && isRevision(event.version) ? undefined : `wrong revisions in the event of ${key}`;
}

/** Describes what is wrong with the outcome of a transaction after the revision `before`; undefined if nothing is. */
function outcomeFault(outcome: Outcome, transaction: Transaction, before: number): string | undefined {
  if (outcome?.is === 'error') return outcome.error instanceof Error ? undefined : 'an error without an Error';
  if (outcome?.is === 'failed') return undefined;
  if (outcome?.is !== 'committed') return 'an outcome of no known form';
  const { revision, events } = outcome;
  if (!isRevision(revision) || revision < before || (revision === before && events?.length > 0))
    return 'a revision that is not above the last one';
  if (!Array.isArray(events)) return 'no list of events';
  // The deletion of an absent key has no event.
  let next = 0;
  for (const operation of transaction) {
    if (operation.is === 'delete' && events[next]?.key !== operation.key) continue;
    const fault = eventFault(events[next++], operation, revision);
    if (fault) return fault;
  }
  return next < events.length ? 'more events than changes' : undefined;
}

/** Describes what is wrong with events of a watch after the revision `before`; undefined if nothing is. */
function watchFault(events: readonly StoreEvent[], revision: number, prefix: string, before: number) {
  if (!Array.isArray(events) || !isRevision(revision)) return 'no list of events with their revision';
  let last = before;
  for (const event of events as readonly (StoreEvent | null)[]) {
    if (typeof event?.key !== 'string' || !event.key.startsWith(prefix)) return `a key without the prefix ${prefix}`;
    if (event.type === 'put' ? !(event.value instanceof Uint8Array) : event.type !== 'delete')
      return `an event of ${event.key} of no known form`;
    if (!isRevision(event.revision) || event.revision <= before || event.revision < last)
      return `the event of ${event.key} out of order`;
    last = event.revision;
  }
  return revision < last ? 'events above their revision' : undefined;
}

/**
 * A store of a plugin of the configuration. Its calls have the time limit of the plugin, and what it returns is
 * checked. A read that fails makes its request fail. After a commit that fails in a way that its contract does not
 * permit, it is unknown what is stored, so nothing in memory can be trusted: it rejects with PluginFailure, and the
 * server ends.
 *
 * @example
 * const store = input.isBuiltIn ? input.value : new CheckedStorage(input);
 */
export class CheckedStorage implements Storage {
  readonly name: string;
  readonly shared: Storage['shared'];
  readonly failed: Storage['failed'];
  readonly #store: Storage;
  /** The revision of the last commit. */
  #revision = 0;

  constructor(readonly input: Contributed<Storage>) {
    this.#store = input.value;
    this.name = this.#store.name;
    const { shared } = this.#store;
    if (shared) {
      const mark = () => this.#call('mark', () => shared.mark(), revisionFault);
      this.shared = { secret: shared.secret, mark };
    }
    this.failed = this.#store.failed;
  }

  async revision(): Promise<number> {
    const revision = await this.#call('revision', () => this.#store.revision(), revisionFault);
    this.#revision = Math.max(this.#revision, revision);
    return revision;
  }

  compactedRevision(): number {
    return this.#store.compactedRevision();
  }

  range(prefix: string, options: RangeOptions = {}): Promise<Page> {
    return this.#call(
      'range',
      () => this.#store.range(prefix, options),
      page => pageFault(page, prefix, options),
    );
  }

  get(key: string, revision?: number): Promise<Stored | undefined> {
    return this.#call(
      'get',
      () => this.#store.get(key, revision),
      found => {
        if (found === undefined) return undefined;
        return found?.key === key ? storedFault(found, key, revision ?? Number.MAX_SAFE_INTEGER) : 'another key';
      },
    );
  }

  async commit(group: readonly Transaction[]): Promise<readonly Outcome[]> {
    return this.#call(
      'commit',
      () => this.#store.commit(group),
      outcomes => this.#groupFault(group, outcomes),
    );
  }

  #groupFault(group: readonly Transaction[], outcomes: readonly Outcome[]): string | undefined {
    if (!Array.isArray(outcomes) || outcomes.length !== group.length) return 'not one outcome for each transaction';
    for (const [i, outcome] of (outcomes as readonly Outcome[]).entries()) {
      // Groups of a shared store resolve in any order.
      const fault = outcomeFault(outcome, group[i]!, this.shared ? 0 : this.#revision);
      if (fault) return fault;
      if (outcome.is === 'committed') this.#revision = Math.max(this.#revision, outcome.revision);
    }
    return undefined;
  }

  /** A watch has no time limit. */
  async watch(...[prefix, from, deliver, signal, options]: Parameters<Storage['watch']>): Promise<void> {
    const stop = new AbortController();
    let last = from ?? 0;
    let broken: TypeError | undefined;
    const take: typeof deliver = (events, revision) => {
      if (broken) return;
      const fault = watchFault(events, revision, prefix, last);
      if (fault) {
        broken = wrong(fault);
        stop.abort();
        return;
      }
      last = revision;
      deliver(events, revision);
    };
    await this.#store.watch(prefix, from, take, AbortSignal.any([signal, stop.signal]), options);
    if (broken) await this.input.call(() => Promise.reject(broken as TypeError), undefined, { function: 'watch' });
  }

  async compact(revision: number): Promise<void> {
    await this.#store.compact(revision);
  }

  /** A check may fail with any error. */
  async check(): Promise<void> {
    await this.input.call(
      () => this.#store.check(),
      () => true,
      { function: 'check' },
    );
  }

  async close(): Promise<void> {
    await this.input.call(() => this.#store.close(), mayThrow, { function: 'close' });
  }

  /** Calls a function of the store within its time limit. `fault` says what is wrong with the result. */
  async #call<T>(name: string, operation: () => Promise<T>, fault: (result: T) => string | undefined): Promise<T> {
    const checked = async (): Promise<T> => {
      const result = await operation();
      const found = fault(result);
      if (found) throw wrong(found);
      return result;
    };
    return await this.input.call(checked, mayThrow, { function: name });
  }
}
