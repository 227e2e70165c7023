import { recognizeCopies } from '../model/copies.js';
import { type Contributed, definePoint } from './point.js';

/**
 * A stored value with the revisions of its key. Revisions are numbers below 2^53.
 *
 * @example
 * const found: Stored | undefined = await store.get('core/namespaces/default');
 */
export interface Stored {
  readonly key: string;
  readonly value: Uint8Array;
  /**
   * Revision that created the key, revision that last changed it, and how often it changed since (1 after the create).
   */
  readonly created: number;
  readonly modified: number;
  readonly version: number;
}

/**
 * One write. `expect`: 0 the key must be absent, N its modification revision must be N, undefined whatever it is.
 * `gap`: offset into `value` at which the store writes the digits of the new revision, so that values can hold their
 * own version; undefined for none.
 *
 * @example
 * const create: Operation = { is: 'put', key: 'core/namespaces/a', value: bytes, expect: 0 };
 */
export type Operation =
  | {
      readonly is: 'put';
      readonly key: string;
      readonly value: Uint8Array;
      readonly gap?: number;
      readonly expect?: number;
    }
  | { readonly is: 'delete'; readonly key: string; readonly expect?: number };

/**
 * A transaction: all of its operations at one revision, or none.
 *
 * @example
 * const move: Transaction = [{ is: 'delete', key: 'a', expect: 7 }, { is: 'put', key: 'b', value: bytes, expect: 0 }];
 */
export type Transaction = readonly Operation[];

/**
 * What became of a transaction: its revision and the values stored, or the first operation whose expectation failed
 * with the current state of its key (and, in a shared store, a revision at which that was so). An error of class
 * Unavailable leaves open whether it took place.
 *
 * @example
 * const [outcome] = await store.commit([transaction]);
 * if (outcome?.is === 'failed') retry(outcome.current);
 */
export type Outcome =
  | { readonly is: 'committed'; readonly revision: number; readonly events: readonly StoreEvent[] }
  | { readonly is: 'failed'; readonly index: number; readonly revision?: number; readonly current?: Stored }
  | { readonly is: 'error'; readonly error: Error };

/**
 * A committed change. Deletions carry no value. `replaced` is the revision of the value it replaced or removed.
 * `previous` is that value: always there in events of `watch`; outcomes of `commit` leave it out, because who commits
 * has the value, and keeping every value in memory twice would cost more.
 *
 * @example
 * const isCreation = (event: StoreEvent): boolean => event.type === 'put' && event.version === 1;
 */
export interface StoreEvent {
  readonly type: 'put' | 'delete';
  readonly key: string;
  readonly revision: number;
  readonly created: number;
  readonly version: number;
  readonly value?: Uint8Array;
  readonly replaced?: number;
  readonly previous?: { readonly value: Uint8Array; readonly modified: number };
}

/**
 * A page of a range. `more` tells that keys follow the last one.
 *
 * @example
 * const { items, more }: Page = await store.range('core/pods/', { limit: 500 });
 */
export interface Page {
  readonly revision: number;
  readonly items: readonly Stored[];
  readonly more: boolean;
  /** Keys in the range after this page; where nobody wants their number, at least one if there are any. */
  readonly remaining: number;
}

/**
 * Which part of a range is wanted, and as of when. `counted: false`: nobody wants the number of the keys that follow,
 * which can cost as much as walking over them.
 *
 * @example
 * const options: RangeOptions = { limit: 500, after: lastKey, revision };
 */
export interface RangeOptions {
  readonly revision?: number;
  readonly limit?: number;
  readonly after?: string;
  readonly counted?: boolean;
  readonly signal?: AbortSignal;
}

/**
 * A read or watch at a revision whose history is gone.
 *
 * @example
 * if (revision <= this.compactedRevision()) throw new Compacted(this.compactedRevision());
 */
export class Compacted extends Error {
  constructor(readonly compactedRevision: number) {
    super(`history up to revision ${compactedRevision} has been compacted`);
  }
}

/**
 * A read at a revision that is not there yet.
 *
 * @example
 * if (asked > current) throw new FutureRevision(current);
 */
export class FutureRevision extends Error {
  constructor(readonly currentRevision: number) {
    super(`revision is above the current revision ${currentRevision}`);
  }
}

/**
 * A store that must not be opened or used: damaged, in use, of an unknown format. The message names what is wrong and
 * the remedy.
 *
 * @example
 * throw new StoreError(`${path} has format 2, which this release does not read: restore a snapshot`);
 */
export class StoreError extends Error {}

/**
 * The error for a shared store whose revision went back: it was restored from a backup, and what this process holds of
 * it is not what it contains.
 *
 * @example
 * if (revision < this.#revision) throw lostData(revision, this.#revision);
 */
export const lostData = (revision: number, before: number): StoreError =>
  new StoreError(`the store is at revision ${revision}, but was at ${before} before: it lost data; start again`);

/**
 * The store cannot be reached at present. Whether a write took place is not known.
 *
 * @example
 * return { is: 'error', error: new Unavailable('no etcd server answers') };
 */
export class Unavailable extends Error {}

for (const [name, error] of Object.entries({ Compacted, FutureRevision, StoreError, Unavailable }))
  recognizeCopies(error, name);

/**
 * What a store offers that other processes write to at the same time.
 *
 * @example
 * const revision = await store.shared?.mark();
 */
export interface Shared {
  /** Kept with the data, and so the same in every process: signs what clients may take from one to another. */
  readonly secret: Uint8Array;
  /**
   * Makes a revision that every `watch` comes to, and resolves with it: what a reader waits for where the current
   * revision may not be one of this store's.
   */
  mark(): Promise<number>;
}

/**
 * The storage point. Implementations keep the order: durable, then events, then replies. Keys are compared as UTF-8
 * bytes. A restarted store continues above every revision it ever gave out.
 *
 * @example
 * const page = await store.range('core/namespaces/');
 */
export interface Storage {
  /** Shown in the start message and as the name of the health check. */
  readonly name: string;
  /**
   * Absent: one process owns the store, and outcomes of `commit` tell every change. Present: others write too. Events
   * then are taken from `watch` alone, `revision` asks the store (every write acknowledged anywhere before the call is
   * at or below it), and one process is elected where only one may work.
   */
  readonly shared?: Shared;
  revision(): Promise<number>;
  /** Everything up to and including this revision is gone as history. */
  compactedRevision(): number;
  /**
   * Current or, with `revision`, historic objects whose key begins with `prefix`, in key order, after the key `after`.
   * Throws Compacted or FutureRevision.
   */
  range(prefix: string, options?: RangeOptions): Promise<Page>;
  get(key: string, revision?: number): Promise<Stored | undefined>;
  /**
   * Commits several independent transactions in the order given, durable together with one sync; outcome i belongs to
   * transaction i. Later transactions see earlier ones. May be called again before it resolves: the next group gathers
   * while this one syncs. Groups resolve in the order they were given, unless the store is shared: events are handed on
   * as they resolve.
   */
  commit(group: readonly Transaction[]): Promise<readonly Outcome[]>;
  /**
   * Every event with revision > `from` under `prefix`, in order, whole revisions at a time, then live ones, until
   * `signal` aborts. `from` undefined: from now on. Ends by throwing Compacted if history after `from` is gone.
   * `deliver` may be called without events, with a revision up to which all were delivered.
   * `previous: false` leaves the values before each change out, where nobody wants them.
   */
  watch(
    prefix: string,
    from: number | undefined,
    deliver: (events: readonly StoreEvent[], revision: number) => void,
    signal: AbortSignal,
    options?: { readonly previous?: boolean },
  ): Promise<void>;
  /**
   * Resolves when the store can no longer write, and only then: every later commit is answered with an error, and the
   * server must end.
   */
  readonly failed?: Promise<Error>;
  /** Forgets history up to `revision`, in bounded steps that do not hold up commits. */
  compact(revision: number): Promise<void>;
  /** Reads from the store itself (not from memory) and fails if that is impossible. */
  check(): Promise<void>;
  close(): Promise<void>;
}

function exactlyOne(inputs: readonly Contributed<Storage>[]): Storage {
  const [only, second] = inputs;
  if (only && !second) return only.value;
  const names = inputs.map(({ plugin }) => plugin).join(', ');
  throw new StoreError(`exactly one storage plugin is needed, found ${inputs.length}${names && `: ${names}`}`);
}

/**
 * Where objects are stored: exactly one. One of the configuration is used instead of the server's own. Only the writer
 * thread uses it.
 *
 * @example
 * contribute: config => [storage.of(host => openStore(config.path, host.now))],
 */
export const storage = definePoint<Storage>()('storage', ['store'], exactlyOne);
