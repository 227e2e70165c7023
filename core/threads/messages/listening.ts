/** The messages between the main thread and a listening thread, as closed unions. */
import type { DecisionRecord } from '../../api/observe/decisions.js';
import type { CredentialUse } from '../../api/access.js';
import type { Binding } from '../../api/listener.js';
import type { RequestCounts } from '../../services/metrics/requests.js';
import { Refusal } from '../../model/refusal.js';
import type { AggregationRules } from '../../settings/aggregation.js';
import type { Settings } from '../../settings/settings.js';
import type { PackedJobs, PackedOutcomes } from './jobs.js';
import type { FromThread, ObservedValues, ToThread, WriterChannel } from './lifecycle.js';

/** The inputs of a listening thread. */
export interface ListeningInputs {
  readonly writer: WriterChannel;
  /** The number of its front end, from 1 on. */
  readonly front: number;
  /** Whether other processes write to the store too. */
  readonly shared: boolean;
  /** Secret of continue tokens: a list may continue in another thread. */
  readonly continueSecret: Uint8Array;
  readonly settings: Pick<Settings, 'naming' | 'historyRetention' | 'auditPolicyFile'>;
  readonly aggregation: AggregationRules;
  /** The bindings of the main thread. */
  readonly bindings: readonly Binding[];
}

/** A job of a listening thread. */
export interface JobOrder {
  /** Id of the job in the listening thread. */
  readonly id: number;
  /** See `Pool.run`. */
  readonly kind: string | undefined;
  /** Name of the sender; '' for all senders without one. */
  readonly user: string;
}

/** An error, as it is posted. */
export type PostedError =
  | ({ readonly is: 'refusal' } & Pick<Refusal, 'reason' | 'message' | 'details' | 'code' | 'metadata'>)
  | { readonly is: 'error'; readonly message: string };

/** An error in the form in which it is posted. */
export function postedError(error: unknown): PostedError {
  if (!(error instanceof Refusal)) return { is: 'error', message: String((error as Error)?.message ?? error) };
  const { reason, message, details, code, metadata } = error;
  return { is: 'refusal', reason, message, details, code, metadata };
}

/** The error that was posted: the same Refusal, or an Error with the same message. */
export const errorOf = (posted: PostedError): Error =>
  posted.is === 'refusal'
    ? new Refusal(posted.reason, posted.message, posted.details, posted.code, posted.metadata)
    : new Error(posted.message);

/** A request outside of the resources, which the main thread answers. Its sender is authorized, except for a site. */
export interface PathRequest {
  readonly requestId: number;
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly remoteAddress: string;
  readonly secure: boolean;
  /** Set for a request for a site. */
  readonly body?: Uint8Array | undefined;
}

/** A part of the answer to a request outside of the resources. */
export type PathAnswer =
  | { readonly is: 'respond' | 'stream'; readonly status: number; readonly headers: PathRequest['headers'] }
  | { readonly is: 'piece'; readonly bytes: Uint8Array }
  | { readonly is: 'end' | 'abort' }
  /** The last one. `isKnown`: whether there is something at the path. */
  | { readonly is: 'handled'; readonly isKnown: boolean }
  | { readonly is: 'failed'; readonly error: PostedError };

/** To a listening thread. */
export type ToListeningThread =
  | ToThread<ListeningInputs>
  /** The outcomes of jobs with these ids. */
  | { readonly is: 'outcomes'; readonly ids: readonly number[]; readonly outcomes: PackedOutcomes }
  | { readonly is: 'jobFailed'; readonly id: number; readonly error: PostedError }
  /** It is the turn of a long job: the thread posts it as `taken`. */
  | { readonly is: 'turn'; readonly id: number }
  | { readonly is: 'answer'; readonly requestId: number; readonly answer: PathAnswer }
  | { readonly is: 'count'; readonly id: number }
  /** The files of certificates have changed. */
  | { readonly is: 'renew'; readonly id: number }
  /** The thread receives connections from now on. */
  | { readonly is: 'serve' };

/** From a listening thread. `ready` has the argument of `Listening.share`, for each binding. */
export type FromListeningThread =
  | FromThread<{ readonly targets: readonly number[] }>
  | { readonly is: 'run'; readonly orders: readonly JobOrder[]; readonly jobs: PackedJobs }
  /** Asks for the turn of a long job. */
  | ({ readonly is: 'turn' } & JobOrder)
  /** The job whose turn it is; empty if it is no longer needed. */
  | { readonly is: 'taken'; readonly id: number; readonly jobs: PackedJobs }
  | ({ readonly is: 'path' } & PathRequest)
  /** The client has disconnected. */
  | { readonly is: 'pathAborted'; readonly requestId: number }
  /** The connection has accepted this many bytes of a stream. */
  | { readonly is: 'pathAccepted'; readonly requestId: number; readonly bytes: number }
  /** Records of requests that were refused, or have changed something. */
  | { readonly is: 'decided'; readonly records: readonly DecisionRecord[] }
  | { readonly is: 'used'; readonly use: CredentialUse }
  /** Metrics that plugins have counted. */
  | { readonly is: 'observed'; readonly observations: readonly ObservedValues[] }
  | { readonly is: 'counted'; readonly id: number; readonly counts: RequestCounts }
  /** The targets that replace the former ones, or why the files cannot be used. */
  | { readonly is: 'renewed'; readonly id: number; readonly targets: readonly number[] }
  | { readonly is: 'notRenewed'; readonly id: number; readonly error: PostedError };
