/** The messages between the front end and each other thread, as closed unions: from its start to its close. */
import type { MessagePort } from 'node:worker_threads';
import type { LateOutcome } from './messages.js';

/** A thread's end of its channel to the writer, and its index among the counters of the writer's posts (feed.ts). */
export interface WriterChannel {
  readonly port: MessagePort;
  readonly counter: number;
}

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
