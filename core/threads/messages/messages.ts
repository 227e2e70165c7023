/**
 * The messages between threads, as closed unions. The bytes of a message share one transferred buffer where possible;
 * wire.ts has the form of those to and from the writer, jobs.ts of those to and from the pool. The writer posts in the
 * order of commits: a thread that has handled as many messages as its counter says has seen every acknowledged write.
 */
import type { Transaction } from '../../api/storage.js';
import type { User } from '../../model/user.js';
import type { CacheFor, CredentialUse } from '../../api/access.js';
import type { Trail } from '../../api/observe/decisions.js';
import type { TraceContext } from '../../request/traceContext.js';
import type { StartPage } from '../entries/startPage.js';
import type { WireEvent } from './wireEvent.js';

/** A past change, with the value that it replaced or deleted. */
export interface PastEvent extends WireEvent {
  readonly previous?: Uint8Array;
}

/**
 * The writer's answer to a proposal. `committed`: written at `revision`. `stale`: an object is not at the revision that
 * the proposal expects. `error`: the store failed. `unavailable`: the store did not answer, so the proposal may have
 * been written or not.
 */
export type Verdict =
  | { readonly id: number; readonly is: 'committed'; readonly revision: number }
  | { readonly id: number; readonly is: 'stale' }
  | { readonly id: number; readonly is: 'error'; readonly message: string }
  | { readonly id: number; readonly is: 'unavailable'; readonly message: string };

/** Amounts to add to the counters of the object at a key, which was read at a revision (`Charge` in core/api). */
export interface ProposedCharge {
  readonly key: string;
  readonly seen: number;
  /** Quantities by counter. */
  readonly amounts: readonly (readonly [counter: string, quantity: string])[];
}

/** The charges of a proposal, and the field manager and time (RFC 3339) of the resulting writes. */
export interface Charges {
  readonly manager: string;
  readonly time: string;
  readonly items: readonly ProposedCharge[];
}

/** A transaction for the writer, with the id of the request that it belongs to, and its charges. */
export interface Proposal {
  readonly id: number;
  readonly operations: Transaction;
  /** The trace of the request, for the record of a failure. */
  readonly trace?: TraceContext | undefined;
  readonly charges?: Charges | undefined;
}

/**
 * Reads the objects with a prefix as they were at a revision: a page of at most `limit`, after the key `after`. The
 * objects after the page are counted only if `counted`, because that takes as long as visiting them.
 */
export interface RangeRequest {
  readonly is: 'range';
  readonly requestId: number;
  readonly prefix: string;
  readonly revision: number;
  readonly limit: number;
  readonly after: string;
  readonly counted: boolean;
}

/** Reads past changes, for a watch that resumes at a revision before those that the front end keeps. */
export interface HistoryRequest {
  readonly is: 'history';
  readonly requestId: number;
  readonly prefix: string;
  readonly from: number;
  readonly to: number;
}

/** To the writer, on a thread's channel. */
export type ToWriter =
  | { readonly is: 'propose'; readonly proposals: readonly Proposal[] }
  | { readonly is: 'subscribe'; readonly prefixes: readonly string[] }
  | MovedMessage
  | { readonly is: 'check'; readonly requestId: number }
  /** Answered with `synced` after the events of every write that was acknowledged anywhere. Shared stores only. */
  | { readonly is: 'sync'; readonly requestId: number }
  | RangeRequest
  | HistoryRequest;

/** A request failed. Clients get another error for each `reason`. */
export interface RequestFailed {
  readonly is: 'failed';
  readonly requestId: number;
  readonly reason: 'compacted' | 'future' | 'unavailable' | 'error';
  readonly message: string;
}

/** A page of the objects that exist when a thread subscribes. `last`: whether it is the last page. */
export interface StartPageMessage {
  readonly is: 'startPage';
  readonly revision: number;
  readonly page: StartPage;
  readonly last: boolean;
  /** Prefixes with objects that are still to come; undefined if objects with any prefix may be. */
  readonly missing?: readonly string[];
}

/** Committed changes, and for the front end the verdicts on its proposals. */
export interface EventsMessage {
  readonly is: 'events';
  readonly revision: number;
  readonly events: readonly WireEvent[];
  readonly verdicts: readonly Verdict[];
  /** Up to this revision, the events summarize changes that are no longer known individually. */
  readonly floor?: number;
}

/** The values of the events of further messages are in this shared memory. */
export interface MemoryMessage {
  readonly is: 'memory';
  readonly memory: SharedArrayBuffer;
}

/**
 * The front end has copied values of current objects to this shared memory, because most of the memory in which they
 * were is no longer used. Each other thread that still has an object at the revision refers to the copy from now on.
 */
export interface MovedMessage {
  readonly is: 'moved';
  readonly memory: SharedArrayBuffer;
  readonly keys: readonly string[];
  /** For each key, the revision of the object and the offset of its value. */
  readonly places: readonly (readonly [revision: number, byteOffset: number])[];
}

/** The answer to a RangeRequest. */
export interface PageMessage {
  readonly is: 'page';
  readonly requestId: number;
  readonly revision: number;
  readonly items: readonly WireEvent[];
  readonly more: boolean;
  readonly remaining: number;
}

/** The answer to a HistoryRequest: its events up to `revision`, which is below `to` if they have many bytes. */
export interface PastMessage {
  readonly is: 'past';
  readonly requestId: number;
  readonly revision: number;
  readonly events: readonly PastEvent[];
}

/** From the writer, on a thread's channel. */
export type FromWriter =
  | StartPageMessage
  | MemoryMessage
  | EventsMessage
  | MovedMessage
  | PageMessage
  | PastMessage
  | { readonly is: 'checked'; readonly requestId: number; readonly error?: string }
  | { readonly is: 'synced'; readonly requestId: number }
  | RequestFailed;

/** The messages that a feed passes to its thread: it handles messages about memory itself. */
export type FedMessage = Exclude<FromWriter, MemoryMessage>;

/** Credentials of a request, for the pool to authenticate. */
export interface Credentials {
  readonly headers: readonly (readonly [string, string])[];
  readonly certificate?: string;
  readonly hasInvalidCertificate?: boolean;
  readonly remoteAddress: string;
}

/** The current object that a write changes. */
export interface Current {
  readonly bytes: Uint8Array;
  readonly revision: number;
}

/** A request, or a step of one, for the pool. */
export interface Job {
  readonly id: number;
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly accept: string;
  readonly contentType: string;
  readonly userAgent: string;
  readonly ifMatch: string;
  /** The id of its audit events, if it is known. */
  readonly auditId?: string;
  /** The trace that it belongs to, if the client has named one. */
  readonly trace?: TraceContext | undefined;
  /** The user, if it is cached; otherwise `credentials` is set. */
  readonly user?: User;
  readonly credentials?: Credentials;
  /** Warnings about the sender's credentials, from the job that authenticated it. */
  readonly warnings?: readonly string[];
  /** Whether the permission is cached. */
  readonly granted: boolean;
  readonly body?: Uint8Array;
  readonly current?: Current;
  /** The key of the object in `current`, or of the object that does not exist, if the path does not name it. */
  readonly currentKey?: string;
  /** Whether the write is one of the deletes of a deletecollection. */
  readonly collection?: boolean;
  /** Whether the first of the request's two writes is committed: a proposal with `more`, which wrote `current`. */
  readonly begun?: boolean;
  /** Objects to encode, for reads in forms that the front end cannot produce. */
  readonly render?: Rendering;
}

/** Objects to encode in another form: as a Table, YAML, another version. `list` is the metadata of their list. */
export interface Rendering {
  readonly objects: readonly Uint8Array[];
  readonly status: number;
  readonly list?: {
    readonly resourceVersion: string;
    readonly continue?: string;
    readonly remainingItemCount?: number;
  };
  /**
   * Whether the objects are a part of a list in a text form. The first part has `list` and is answered with `rest`;
   * each other part is answered with one piece.
   */
  readonly part?: boolean;
  /**
   * The objects or their metadata are to be encoded as records of a protobuf list, or the objects as rows of a Table or
   * as records of a list in CBOR. The result has one piece per object.
   */
  readonly records?: 'object' | 'partial' | 'row' | 'cbor';
  /**
   * Whether records of a protobuf list are to be without the parts that they share with the objects
   * (`packedEncodings.ts`).
   */
  readonly packed?: boolean;
  /** Texts of Warning headers. */
  readonly warnings?: readonly string[];
  /**
   * For events of a watch: the type of each, whether the first has the columns of a Table, and whether the watch is
   * used instead of a list.
   */
  readonly events?: { readonly types: readonly string[]; readonly header: boolean; readonly listed: boolean };
}

/** A revision of an object. `key` is its key in the store. */
export interface ObjectRevision {
  readonly key: string;
  readonly revision: number;
}

/** The outcome of authentication and authorization, and how long the front end may cache it. */
export interface Grant {
  readonly user: User;
  readonly identityFor: CacheFor;
  /** The identity may be cached only while these objects are unchanged. */
  readonly objects: readonly ObjectRevision[];
  readonly allowed: boolean;
  /**
   * How long the permission may be cached, and the resources, by storage name; it ends with the first change to one of
   * these.
   */
  readonly allowedFor: CacheFor;
  readonly resources: readonly string[];
  /** Warnings about the credentials, if any. Such an identity is not cached. */
  readonly warnings?: readonly string[];
  /** The use of the credentials, to be recorded. */
  readonly use?: CredentialUse;
  /** The plugin that has authenticated the sender. */
  readonly authenticator?: string | undefined;
  /** The sender of a request that impersonates `user`. */
  readonly impersonator?: User;
  /** The reason why the request is allowed, for its audit event. */
  readonly reason?: string;
  /** The plugin that allows it. */
  readonly allowedBy?: string | undefined;
}

/** The result of a job. */
export type JobResult = {
  readonly id: number;
  readonly grant?: Grant;
  /** The annotations that admission adds to the audit event of a write. */
  readonly annotations?: Readonly<Record<string, string>>;
  /** The explanation of a request that was refused, or has changed something. */
  readonly trail?: Trail | undefined;
  /** The value of the answer's header `audit-id`, which is not among `headers`: the answers of a batch share these. */
  readonly auditId?: string | undefined;
} & (
  | {
      readonly is: 'respond';
      readonly status: number;
      readonly headers: readonly (readonly [string, string])[];
      readonly body: Uint8Array;
      /** The key that a dry run would have written. */
      readonly key?: string;
      /**
       * For the first part of a list: the texts between two parts and after the last one. `mayFail`: objects are
       * converted by functions or webhooks, so a later part may be refused even though this one was not.
       */
      readonly rest?: { readonly between: Uint8Array; readonly tail: Uint8Array; readonly mayFail: boolean };
    }
  /** `warnings`: the Warning headers of the answer to a deletecollection. */
  | { readonly is: 'granted'; readonly warnings?: readonly string[] }
  /** The job changes an object that its body names: it must be run again with this key as `currentKey`. */
  | { readonly is: 'unseen'; readonly key: string }
  | { readonly is: 'rendered'; readonly pieces: readonly Uint8Array[] }
  | {
      /**
       * Proposed to the writer; the request is answered after the commit. `gaps` are the positions in `body` where the
       * digits of the revision are missing; with `envelope` they are in the metadata of a protobuf message. Without a
       * body, the answer is the committed object.
       */
      readonly is: 'proposed';
      readonly status: number;
      readonly headers: readonly (readonly [string, string])[];
      readonly body?: Uint8Array;
      readonly gaps?: readonly number[] | 'envelope';
      /** A second write follows: the job must be run again with `begun`. */
      readonly more?: boolean;
      /** The key that is written. If the proposal is stale, the next attempt gets the current object of this key. */
      readonly key: string;
    }
);

/** The outcome of a job: its result, or an internal error. */
export type JobOutcome = JobResult | { readonly is: 'failed'; readonly message: string };

/** The outcome of the job at position `at` of a batch. */
export interface LateOutcome {
  readonly batch: number;
  readonly at: number;
  readonly outcome: JobOutcome;
}
