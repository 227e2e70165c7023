/**
 * A stored value with the revisions of its key. Revisions are numbers below 2^53. The value of a key that the store has
 * but cannot read is that of `unreadableValue`.
 *
 * @example
 * const found: Stored | undefined = await store.get('core/namespaces/default');
 */
export interface Stored {
  readonly key: string;
  readonly value: Uint8Array;
  /**
   * The revision that created the key, the revision that last changed it, and its version: 1 after the create,
   * incremented by each change.
   */
  readonly created: number;
  readonly modified: number;
  readonly version: number;
}

/**
 * A write. `expect` is its condition: 0 if the key must be absent, N if its modification revision must be N, undefined
 * for none. `gap` is the offset in `value` at which the store inserts the digits of the new revision, so that values
 * can contain their own version; undefined for none.
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
 * A transaction: all operations are committed at one revision, or none.
 *
 * @example
 * const move: Transaction = [{ is: 'delete', key: 'a', expect: 7 }, { is: 'put', key: 'b', value: bytes, expect: 0 }];
 */
export type Transaction = readonly Operation[];

/**
 * The result of a transaction: its revision and the stored values, or the first operation whose condition failed with
 * the current state of its key (and, in a shared store, a revision at which this was the state). With an error of class
 * Unavailable it is unknown whether the transaction was committed.
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
 * A committed change. Deletions have no value. `replaced` is the revision of the value that was replaced or removed,
 * and `previous` is this value. It is always set in events of `watch`. Outcomes of `commit` omit it, because the caller
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
 * A page of a range. `more` is set if further keys follow.
 *
 * @example
 * const { items, more }: Page = await store.range('core/pods/', { limit: 500 });
 */
export interface Page {
  readonly revision: number;
  readonly items: readonly Stored[];
  readonly more: boolean;
  /** The number of keys in the range after this page. If keys are not counted, any number above 0 if there are more. */
  readonly remaining: number;
}

/**
 * Selects a part of a range and a revision. With `counted: false`, the following keys are not counted, because counting
 * can take as long as visiting them.
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
 * The methods of a store that other processes write to at the same time.
 *
 * @example
 * const revision = await store.shared?.mark();
 */
export interface Shared {
  /**
   * The secret that signs tokens which clients may use with any server. It is stored with the data, so it is the same
   * in every process.
   */
  readonly secret: Uint8Array;
  /**
   * Creates a revision that every `watch` receives, and resolves with it. Readers wait for it if the current revision
   * may belong to a key outside of this store.
   */
  mark(): Promise<number>;
}

/**
 * The storage extension point. Implementations keep the order: durable, then events, then replies. Keys are compared as
 * UTF-8 bytes. After a restart, new revisions are above all revisions that were ever assigned.
 *
 * @example
 * const page = await store.range('core/namespaces/');
 */
export interface Storage {
  /** The name in the start message and of the health check. */
  readonly name: string;
  /**
   * Absent if one process owns the store; the outcomes of `commit` then include every change. Present if other
   * processes write too. Events are then taken only from `watch`, `revision` asks the store (the result is not below
   * any write acknowledged before the call by any process), and a leader is elected for tasks that only one process may
   * perform.
   */
  readonly shared?: Shared;
  revision(): Promise<number>;
  /** The revision up to and including which history was removed. */
  compactedRevision(): number;
  /**
   * Current objects, or those at `revision`, whose keys begin with `prefix`, in the order of the keys after `after`.
   * Throws Compacted or FutureRevision.
   */
  range(prefix: string, options?: RangeOptions): Promise<Page>;
  get(key: string, revision?: number): Promise<Stored | undefined>;
  /**
   * Commits independent transactions in the given order, durably with one sync; outcome i belongs to transaction i.
   * Later transactions see earlier ones. May be called again before it resolves: the next group is collected during the
   * sync. Groups resolve in the order of the calls, unless the store is shared; their events are published when they
   * resolve.
   */
  commit(group: readonly Transaction[]): Promise<readonly Outcome[]>;
  /**
   * Delivers every event with revision > `from` under `prefix` in order, with all events of a revision at once, then
   * new ones until `signal` aborts. Without `from`, begins now. Throws Compacted if history after `from` was removed.
   * `deliver` may be called without events, with a revision up to which all events were delivered. With `previous:
   * false`, previous values are omitted.
   */
  watch(
    prefix: string,
    from: number | undefined,
    deliver: (events: readonly StoreEvent[], revision: number) => void,
    signal: AbortSignal,
    options?: { readonly previous?: boolean },
  ): Promise<void>;
  /** Resolves only when the store can no longer write. Every later commit fails, and the server must end. */
  readonly failed?: Promise<Error>;
  /** Removes history up to `revision`, in small steps that do not delay commits. */
  compact(revision: number): Promise<void>;
  /** Reads from the store itself (not from memory), and throws if this fails. */
  check(): Promise<void>;
  close(): Promise<void>;
}
