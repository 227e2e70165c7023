/**
 * The messages between threads, as closed unions. The bytes of a message share one transferred buffer where possible;
 * wire.ts has the form of those to and from the writer.
 * The writer posts in the order of commits: a thread that has taken as many messages as its counter says has seen every
 * acknowledged write.
 */
import type { Transaction } from '../api/storage.js';
import type { User } from '../model/user.js';
import type { DependsOn } from '../api/access.js';
import { packItems } from './pack.js';
import type { SnapshotPage } from './snapshot.js';

/** A committed change. `value` is a view of the message's buffer; absent for deletions. */
export interface WireEvent {
  readonly key: string;
  readonly revision: number;
  readonly created: number;
  readonly value?: Uint8Array;
  /** How often the object has changed since it was created. Only in pages. */
  readonly version?: number;
}

/** A past change, with the value that it replaced or deleted. */
export interface PastEvent extends WireEvent {
  readonly previous?: Uint8Array;
}

/**
 * The writer's answer to a proposal. `committed`: written at `revision`. `stale`: an object is not at the revision that
 * the proposal expects. `error`: the store failed. `unavailable`: the store did not answer, so that the proposal may
 * have been written or not.
 */
export type Verdict =
  | { readonly id: number; readonly is: 'committed'; readonly revision: number }
  | { readonly id: number; readonly is: 'stale' }
  | { readonly id: number; readonly is: 'error'; readonly message: string }
  | { readonly id: number; readonly is: 'unavailable'; readonly message: string };

/** A transaction for the writer, with the id of the request that it belongs to. */
export interface Proposal {
  readonly id: number;
  readonly operations: Transaction;
}

/**
 * Reads the objects with a prefix as they were at a revision: a page of at most `limit`, after the key `after`. The
 * objects behind the page are counted only if `counted`, because that takes as long as visiting them.
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
  | { readonly is: 'check'; readonly requestId: number }
  /** Answered with `synced` after the events of every write that was acknowledged anywhere. Shared stores only. */
  | { readonly is: 'sync'; readonly requestId: number }
  | RangeRequest
  | HistoryRequest;

/** A request failed. Each `reason` is answered to clients in its own way. */
export interface RequestFailed {
  readonly is: 'failed';
  readonly requestId: number;
  readonly reason: 'compacted' | 'future' | 'unavailable' | 'error';
  readonly message: string;
}

/** A page of the objects that a thread starts with. `last`: there are no more pages. */
export interface SnapshotMessage {
  readonly is: 'snapshot';
  readonly revision: number;
  readonly page: SnapshotPage;
  readonly last: boolean;
}

/** Committed changes, and to the front end what became of its proposals. */
export interface EventsMessage {
  readonly is: 'events';
  readonly revision: number;
  readonly events: readonly WireEvent[];
  readonly verdicts: readonly Verdict[];
  /** The events up to this revision are a summary; single changes before it are unknown. */
  readonly floor?: number;
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

/** The answer to a HistoryRequest. */
export interface PastMessage {
  readonly is: 'past';
  readonly requestId: number;
  readonly events: readonly PastEvent[];
}

/** From the writer, on a thread's channel. */
export type FromWriter =
  | SnapshotMessage
  | EventsMessage
  | PageMessage
  | PastMessage
  | { readonly is: 'checked'; readonly requestId: number; readonly error?: string }
  | { readonly is: 'synced'; readonly requestId: number }
  | RequestFailed;

/** Credentials of a request, for the pool to authenticate. */
export interface Credentials {
  readonly headers: readonly (readonly [string, string])[];
  readonly certificate?: string;
  readonly remoteAddress: string;
}

/** The current object that a write starts from. */
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
  /** The user, if the front end knows it; else `credentials` are set. */
  readonly user?: User;
  readonly credentials?: Credentials;
  /** Warnings about the sender's credentials, of the job that has authenticated it. */
  readonly warnings?: readonly string[];
  /** The front end knows that the request is allowed. */
  readonly granted: boolean;
  readonly body?: Uint8Array;
  readonly current?: Current;
  /** Key of the object in `current`, or that does not exist, where the path does not name it. */
  readonly currentKey?: string;
  /** The first of the request's two writes is done, by a proposal with `more`; it wrote `current`. */
  readonly begun?: boolean;
  /** Objects to encode, for reads in forms that the front end does not keep. */
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
  /** Texts of Warning headers. */
  readonly warnings?: readonly string[];
  /** For events of a watch: the type of each, and whether the first has the columns of a Table. */
  readonly events?: { readonly types: readonly string[]; readonly header: boolean };
}

/** An object, by its key in the store, as a revision has written it. */
export interface ObjectRevision {
  readonly key: string;
  readonly revision: number;
}

/** The outcome of authentication and authorization, and how long the front end may remember it. */
export interface Grant {
  readonly user: User;
  readonly identityFor: number | 'forever' | 'never';
  /** The identity is that of the credentials while these objects are unchanged. */
  readonly objects: readonly ObjectRevision[];
  readonly dependsOn: DependsOn;
  readonly allowed: boolean;
  /** Warnings about the credentials, where there are any. Such an identity is not remembered. */
  readonly warnings?: readonly string[];
}

/** The result of a job. */
export type JobResult = {
  readonly id: number;
  readonly grant?: Grant;
} & (
  | {
      readonly is: 'respond';
      readonly status: number;
      readonly headers: readonly (readonly [string, string])[];
      readonly body: Uint8Array;
      /** The key that a dry run would have written. */
      readonly key?: string;
    }
  /** `warnings`: what the answer to a deletecollection carries as Warning headers. */
  | { readonly is: 'granted'; readonly warnings?: readonly string[] }
  /** The job starts from an object that its body names: it is to be run again with this key as `currentKey`. */
  | { readonly is: 'unseen'; readonly key: string }
  | { readonly is: 'rendered'; readonly pieces: readonly Uint8Array[] }
  | {
      /**
       * Proposed to the writer; the request is answered when it is committed. `gaps` are the places in `body` where the
       * digits of the revision are missing; with `envelope` it goes into the metadata of a protobuf message. Without a
       * body, the answer is the committed object.
       */
      readonly is: 'proposed';
      readonly status: number;
      readonly headers: readonly (readonly [string, string])[];
      readonly body?: Uint8Array;
      readonly gaps?: readonly number[] | 'envelope';
      /** A second write follows: the job is to be run again, as `begun`. */
      readonly more?: boolean;
      /** The key that is written. If the proposal is stale, the next attempt gets the current object of this key. */
      readonly key: string;
    }
);

/** A task of the pool: jobs that were gathered in one turn of the front end's event loop. */
export interface Batch {
  readonly id: number;
  readonly jobs: readonly Job[];
}

/** What became of a job: its result, or an error that is none of the client's. */
export type JobOutcome = JobResult | { readonly is: 'failed'; readonly message: string };

/** What became of a batch: an outcome for each job in their order, null for those that follow as LateOutcome. */
export interface BatchOutcome {
  /** `threadId` of the thread that ran it. */
  readonly thread: number;
  readonly outcomes: (JobOutcome | null)[];
}

/** The outcome of the job at position `at` of a batch. */
export interface LateOutcome {
  readonly batch: number;
  readonly at: number;
  readonly outcome: JobOutcome;
}

/** Jobs with their bytes in one transferable buffer. */
export const packJobs = (jobs: readonly Job[]): readonly [Job[], ArrayBuffer[]] =>
  packItems(
    jobs,
    ({ body, current, render }) => [
      ...(body ? [body] : []),
      ...(current ? [current.bytes] : []),
      ...(render?.objects ?? []),
    ],
    (job, views) => {
      let at = 0;
      const body = job.body && views[at++]!;
      const current = job.current && { ...job.current, bytes: views[at++]! };
      const render = job.render && { ...job.render, objects: views.slice(at) };
      return { ...job, body, current, render };
    },
  );

const bytesOf = (outcome: JobOutcome | null): readonly Uint8Array[] => {
  switch (outcome?.is) {
    case 'rendered':
      return outcome.pieces;
    case 'respond':
    case 'proposed':
      return outcome.body ? [outcome.body] : [];
    default:
      return [];
  }
};

const withBytes = (outcome: JobOutcome | null, views: readonly Uint8Array[]): JobOutcome =>
  outcome?.is === 'rendered' ? { ...outcome, pieces: views } : ({ ...outcome, body: views[0] } as JobOutcome);

/** Outcomes of a batch with their bytes in one transferable buffer. */
export const packOutcomes = (
  outcomes: readonly (JobOutcome | null)[],
): readonly [(JobOutcome | null)[], ArrayBuffer[]] => packItems(outcomes, bytesOf, withBytes);

/** Late outcomes with their bytes in one transferable buffer. */
export const packLate = (late: readonly LateOutcome[]): readonly [LateOutcome[], ArrayBuffer[]] =>
  packItems(
    late,
    ({ outcome }) => bytesOf(outcome),
    (item, views) => ({ ...item, outcome: withBytes(item.outcome, views) }),
  );
