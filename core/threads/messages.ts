/**
 * Everything that travels between threads, as closed unions. Bytes of one message share one buffer where they can,
 * which is transferred. Order on a port is the order of commits: whoever has taken the messages a port's counter
 * promises has seen every acknowledged write.
 */
import type { MessagePort } from 'node:worker_threads';
import type { Transaction } from '../api/storage.js';
import type { User } from '../model/user.js';
import type { DependsOn } from '../api/access.js';
import { packItems } from './pack.js';
import type { SnapshotPage } from './snapshot.js';

/** One committed change on the wire. `value` is a view into the message's shared buffer; absent for deletions. */
export interface WireEvent {
  readonly key: string;
  readonly revision: number;
  readonly created: number;
  readonly value?: Uint8Array;
  /** How often the object changed since it was created; in pages alone. */
  readonly version?: number;
}

/** A change of the past, with the value it replaced or removed. */
export interface PastEvent extends WireEvent {
  readonly previous?: Uint8Array;
}

/**
 * What the writer answers to a proposal: committed at `revision`, or lost a race, or an error of the store, or no
 * answer from it.
 */
export type Verdict =
  | { readonly id: number; readonly is: 'committed'; readonly revision: number }
  | { readonly id: number; readonly is: 'stale' }
  | { readonly id: number; readonly is: 'error'; readonly message: string }
  | { readonly id: number; readonly is: 'unavailable'; readonly message: string };

/** A proposed transaction with the id of the request it belongs to. */
export interface Proposal {
  readonly id: number;
  readonly operations: Transaction;
}

/** A historic read of the front end. */
export interface RangeRequest {
  readonly is: 'range';
  readonly requestId: number;
  readonly prefix: string;
  readonly revision: number;
  readonly limit: number;
  readonly after: string;
}

/** Events of the past, for a watch that resumes before what the front end remembers. */
export interface HistoryRequest {
  readonly is: 'history';
  readonly requestId: number;
  readonly prefix: string;
  readonly from: number;
  readonly to: number;
}

/** A thread's end of its channel to the writer, and its index among the counters of the writer's posts (feed.ts). */
export interface WriterChannel {
  readonly port: MessagePort;
  readonly counter: number;
}

/** To the writer, on a thread's channel. */
export type ToWriter =
  | { readonly is: 'propose'; readonly proposals: readonly Proposal[] }
  | { readonly is: 'subscribe'; readonly prefixes: readonly string[] }
  | { readonly is: 'check'; readonly requestId: number }
  /**
   * Asks for every write acknowledged anywhere before; answered with `synced` behind their events. Shared stores only.
   */
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

/** A page of the objects that a thread starts with; the last one tells that all have come. */
export interface SnapshotMessage {
  readonly is: 'snapshot';
  readonly revision: number;
  readonly page: SnapshotPage;
  readonly last: boolean;
}

/** From the writer, on a thread's channel. */
export type FromWriter =
  | SnapshotMessage
  | {
      readonly is: 'events';
      readonly revision: number;
      readonly events: readonly WireEvent[];
      readonly verdicts: readonly Verdict[];
      /** Events up to this revision are a summary: what happened in between is not known. */
      readonly floor?: number;
    }
  | {
      readonly is: 'page';
      readonly requestId: number;
      readonly revision: number;
      readonly items: readonly WireEvent[];
      readonly more: boolean;
      readonly remaining: number;
    }
  | { readonly is: 'past'; readonly requestId: number; readonly events: readonly PastEvent[] }
  | { readonly is: 'checked'; readonly requestId: number; readonly error?: string }
  | { readonly is: 'synced'; readonly requestId: number }
  | RequestFailed;

/** Credentials of a request whose identity the front end does not know yet. */
export interface Credentials {
  readonly headers: readonly (readonly [string, string])[];
  readonly certificate?: string;
  readonly remoteAddress: string;
}

/** The current object a write starts from. */
export interface Current {
  readonly bytes: Uint8Array;
  readonly revision: number;
}

/** What the pool is asked to do with one request. */
export interface Job {
  readonly id: number;
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly accept: string;
  readonly contentType: string;
  readonly userAgent: string;
  readonly ifMatch: string;
  /** Known identity, or the credentials to find it. */
  readonly user?: User;
  readonly credentials?: Credentials;
  /** Authorization was already found in the front end's cache. */
  readonly granted: boolean;
  readonly body?: Uint8Array;
  readonly current?: Current;
  /** The first of a request's two writes is done, by a proposal that said `more`: `current` is what it wrote. */
  readonly begun?: boolean;
  /** Objects to render, for reads in forms the front end does not hold. */
  readonly render?: Rendering;
}

/** Objects to be shown in another form (Table, YAML, another version …). `list` carries the list's metadata. */
export interface Rendering {
  readonly objects: readonly Uint8Array[];
  readonly status: number;
  readonly list?: {
    readonly resourceVersion: string;
    readonly continue?: string;
    readonly remainingItemCount?: number;
  };
  /** For watch events: one type per object, and whether the first carries a Table's columns. */
  readonly events?: { readonly types: readonly string[]; readonly header: boolean };
}

/** What the front end may remember of an authentication and authorization. */
export interface Grant {
  readonly user: User;
  readonly identityFor: number | 'forever' | 'never';
  readonly dependsOn: DependsOn;
  readonly allowed: boolean;
}

/** The pool's answer to one job. */
export type JobResult = {
  readonly id: number;
  readonly grant?: Grant;
} & (
  | {
      readonly is: 'respond';
      readonly status: number;
      readonly headers: readonly (readonly [string, string])[];
      readonly body: Uint8Array;
      /** What a dry run would have written. */
      readonly key?: string;
    }
  | { readonly is: 'granted' }
  | { readonly is: 'rendered'; readonly pieces: readonly Uint8Array[] }
  | {
      /**
       * Sent to the writer; answer once it has committed. `gaps` in `body`: where the revision's digits go (`envelope`:
       * into the metadata of a protobuf message); no body: the committed object itself.
       */
      readonly is: 'proposed';
      readonly status: number;
      readonly headers: readonly (readonly [string, string])[];
      readonly body?: Uint8Array;
      readonly gaps?: readonly number[] | 'envelope';
      /** A second write follows: the job runs again, as `begun`. */
      readonly more?: boolean;
      /** Key the proposal writes: if the writer refuses it, the next attempt is sent that key's object. */
      readonly key: string;
    }
);

/**
 * To every thread: `begin` has it start, with what it needs for that; `close` has it release what it and its plugins
 * hold. It answers with `ready` and `closed`.
 */
export type ToThread<Inputs = unknown> = ({ readonly is: 'begin' } & Inputs) | { readonly is: 'close' };
/** From every thread. */
export type FromThread<Outputs = unknown> = ({ readonly is: 'ready' } & Outputs) | { readonly is: 'closed' };

/** What the writer reports of the store it has opened. */
export interface OpenedStore {
  readonly storeName: string;
  readonly revision: number;
  /** Set if other processes write to the store too. */
  readonly shared?: { readonly secret: Uint8Array };
}

/** To the writer's thread. `connect` gives it its end of another thread's channel. */
export type ToWriterThread = ToThread | ({ readonly is: 'connect' } & WriterChannel);
/** From the writer's thread. `failed`: the store can no longer write; proposals are answered with an error. */
export type FromWriterThread = FromThread<OpenedStore> | { readonly is: 'failed'; readonly message: string };

/** To a pool thread. Jobs do not come this way: they are the tasks of the pool. */
export type ToPoolThread = ToThread<{ readonly writer: WriterChannel }>;
/** From a pool thread. `late`: outcomes of jobs that their batch did not wait for. */
export type FromPoolThread = FromThread | { readonly is: 'late'; readonly outcomes: readonly LateOutcome[] };

/** Posted once by a pool thread as it is created: its `threadId`, and the port for the messages above. */
export interface PoolThreadCreated {
  readonly thread: number;
  readonly port: MessagePort;
}

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
  readonly outcomes: readonly (JobOutcome | null)[];
}

/** The outcome of the job at position `at` of a batch. */
export interface LateOutcome {
  readonly batch: number;
  readonly at: number;
  readonly outcome: JobOutcome;
}

/** A request of a controller. */
export interface ControllerRequest {
  readonly requestId: number;
  /** Last revision that the controllers have seen: events may reach them before they reach the front end. */
  readonly revision: number;
  readonly controller: string;
  readonly method: string;
  readonly path: string;
  readonly contentType: string;
  readonly body?: Uint8Array;
}

/** The answer to a controller's request. */
export interface ControllerResponse {
  readonly requestId: number;
  readonly status: number;
  readonly body: Uint8Array;
}

/** What the control thread needs to begin. */
export interface ControlInputs {
  readonly writer: WriterChannel;
  /** Other processes may run controllers on the same store: one process is elected. */
  readonly shared: boolean;
  /** Name of this process in elections. */
  readonly identity: string;
}

/** To the control thread. */
export type ToControlThread = ToThread<ControlInputs> | ({ readonly is: 'response' } & ControllerResponse);
/**
 * From the control thread. `loaded`: its controllers are about to start, or another process runs them. `started`: the
 * controller has started. `demoted`: another process leads, this thread must end.
 */
export type FromControlThread =
  | FromThread
  | ({ readonly is: 'request' } & ControllerRequest)
  | { readonly is: 'loaded' | 'demoted' }
  | { readonly is: 'started'; readonly controller: string };

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

/** Proposals with their values in one transferable buffer. */
export const packProposals = (proposals: readonly Proposal[]): readonly [Proposal[], ArrayBuffer[]] =>
  packItems(
    proposals,
    ({ operations }) => operations.flatMap(operation => (operation.is === 'put' ? [operation.value] : [])),
    ({ id, operations }, views) => {
      let at = 0;
      return { id, operations: operations.map(o => (o.is === 'put' ? { ...o, value: views[at++]! } : o)) };
    },
  );

/** Events or stored items with their values in one transferable buffer. */
export const packEvents = (events: readonly WireEvent[]): readonly [WireEvent[], ArrayBuffer[]] =>
  packItems(
    events,
    ({ value }) => (value ? [value] : []),
    (event, [value]) => ({ ...event, value: value! }),
  );

/** Past changes with their values, and those they replaced, in one transferable buffer. */
export const packPast = (events: readonly PastEvent[]): readonly [PastEvent[], ArrayBuffer[]] =>
  packItems(
    events,
    ({ value, previous }) => [...(value ? [value] : []), ...(previous ? [previous] : [])],
    (event, views) => ({ ...event, value: event.value && views[0], previous: event.previous && views.at(-1) }),
  );
