import { createHash } from 'node:crypto';

/** A version of an object, as an answer or an event showed it. `revision` is its resourceVersion. */
export interface Version {
  readonly revision: number;
  readonly uid: string;
  /** Identifies the write that made it; '' for objects that the traffic did not write. */
  readonly token: string;
  readonly color: string;
  /**
   * Digest of its metadata without the resourceVersion. All that the traffic writes is in the metadata, which every
   * form of an object shows.
   */
  readonly digest: string;
}

/**
 * A call about one object. An update with `creates` creates the object if it does not exist, whatever it expects. A get
 * without `at` is a most recent one; 0: any version; N: not older than N.
 */
export type Call =
  | { readonly is: 'create'; readonly token: string }
  | { readonly is: 'update'; readonly token: string; readonly expect: number; readonly creates?: boolean }
  | { readonly is: 'patch'; readonly token: string }
  | { readonly is: 'delete'; readonly expect?: number }
  | { readonly is: 'get'; readonly at?: number };

/**
 * The result of a call. `refused`: the call had no effect, and the answer has no information about the object.
 * `unknown`: there was no answer, or it is unknown whether the write took place. A successful delete has only the uid.
 */
export type Result =
  | { readonly is: 'ok'; readonly version: Version }
  | { readonly is: 'deleted'; readonly uid: string }
  | { readonly is: 'exists' | 'conflict' | 'missing' }
  | { readonly is: 'refused' | 'unknown'; readonly reason: string };

/** A recorded call. Times are milliseconds of one monotonic clock. */
export interface Operation {
  readonly id: number;
  readonly collection: string;
  readonly name: string;
  readonly call: Call;
  readonly start: number;
  readonly end: number;
  readonly result: Result;
}

/** The selectors of a list or watch. */
export type Selector =
  | { readonly is: 'color'; readonly color: string }
  | { readonly is: 'name'; readonly name: string };

/** An object in a list or among initial events. */
export interface Item {
  readonly name: string;
  readonly version: Version;
}

/** A complete list, on any number of pages. `start` is that of the first page. */
export interface Listing {
  readonly collection: string;
  readonly start: number;
  readonly end: number;
  readonly ask: { readonly is: 'recent' | 'any' } | { readonly is: 'notOlder' | 'exact'; readonly revision: number };
  readonly selector?: Selector;
  readonly revision: number;
  readonly items: readonly Item[];
}

/** An event of a watch; `at` is when it was received. */
export interface WatchEvent extends Item {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly at: number;
}

/** One watch stream. `from` undefined: it began with the initial state. */
export interface WatchSession {
  readonly id: number;
  readonly collection: string;
  readonly selector?: Selector;
  readonly from?: number;
  readonly start: number;
  /**
   * The initial events, and the revision of the bookmark that ended them; undefined until that bookmark has arrived.
   */
  initial?: { readonly revision: number; readonly items: readonly Item[]; readonly at: number };
  readonly events: WatchEvent[];
  /** `after`: the number of events before the bookmark. */
  readonly bookmarks: { readonly revision: number; readonly after: number }[];
  /** It ended with 410. */
  expired: boolean;
}

/** Everything that the clients of a round saw. `base`: all objects of the round were written above this revision. */
export interface History {
  readonly base: number;
  readonly operations: Operation[];
  readonly listings: Listing[];
  readonly sessions: WatchSession[];
}

/** The guarantees, see docs/reliability.md. */
export type Guarantee =
  | 'linearizable'
  | 'revisions'
  | 'consistent'
  | 'snapshot'
  | 'fresh'
  | 'ordered'
  | 'unique'
  | 'reliable'
  | 'resumable'
  | 'bookmarkable'
  | 'filtered'
  | 'previous state'
  | 'initial events'
  | 'phantom'
  /** A server ended, or a watch did not catch up. */
  | 'alive'
  /** The search for a linearization was given up. */
  | 'undecided'
  /** An answer that no client should get. */
  | 'answer';

/** A broken guarantee. */
export interface Violation {
  readonly guarantee: Guarantee;
  readonly message: string;
}

/** True if a selector matches an object. */
export const selects = (selector: Selector | undefined, { name, version }: Item): boolean =>
  selector === undefined || (selector.is === 'color' ? version.color === selector.color : name === selector.name);

/** The annotation that holds the token of a write. */
export const TOKEN = 'robustness';

/** A value with its members in the order of their names. */
function sortMembers(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortMembers);
  if (typeof value !== 'object' || value === null) return value;
  return Object.entries(value)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, member]) => [key, sortMembers(member)]);
}

/** The members of a received object that the checks use. */
export interface WireObject {
  readonly metadata: {
    readonly name: string;
    readonly uid: string;
    readonly resourceVersion: string;
    readonly labels?: { readonly color?: string };
    readonly annotations?: { readonly [name: string]: string | undefined };
  };
}

/** The version of a received object. */
export function versionOf({ metadata }: WireObject): Version {
  const { resourceVersion, ...others } = metadata;
  const digest = createHash('md5')
    .update(JSON.stringify(sortMembers(others)))
    .digest('base64url');
  const { uid, labels, annotations } = metadata;
  return {
    revision: Number(resourceVersion),
    uid,
    token: annotations?.[TOKEN] ?? '',
    color: labels?.color ?? '',
    digest,
  };
}
