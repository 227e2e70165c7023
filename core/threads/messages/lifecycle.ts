/** The messages between the front end and each other thread, as closed unions: from its start to its close. */
import type { MessagePort } from 'node:worker_threads';
import type { FixedResources } from '../../plugin/servedResources.js';
import type { ThreadData } from '../data.js';
import type { BatchOutcome, PackedLate } from './jobs.js';

/** A thread's end of its channel to the writer, and its index among the counters of the writer's messages (feed.ts). */
export interface WriterChannel {
  readonly port: MessagePort;
  readonly counter: number;
  /** Memory of a ring for events that the thread need not be woken for; the front end has none. */
  readonly ring?: SharedArrayBuffer;
}

/** The writer's end of a channel. */
export interface SubscriberChannel extends WriterChannel {
  /**
   * Whether the thread reacts to events and is woken for those in the ring. Other threads read them when they have work
   * to do.
   */
  readonly reacts: boolean;
  /** The number of the thread's front end, which is sent the verdicts on its proposals. */
  readonly front?: number;
}

/**
 * To every thread: `begin` starts it, with its inputs; `close` releases the resources of the thread and its plugins;
 * `ping` asks whether it still returns to its event loop. It answers with `ready`, `closed` and `pong`.
 */
export type ToThread<Inputs = unknown> = ({ readonly is: 'begin' } & Inputs) | { readonly is: 'close' | 'ping' };
/** From every thread. `nativeId`: its id in the operating system (`ownNativeId`). */
export type FromThread<Outputs = unknown> =
  | ({ readonly is: 'ready'; readonly nativeId: number } & Outputs)
  | { readonly is: 'closed' | 'pong' };

/** The properties of the store that the writer has opened. */
export interface OpenedStore {
  readonly storeName: string;
  readonly revision: number;
  /** Whether it had no objects when it was opened; it may have its first ones by now. */
  readonly isNew: boolean;
  /** Set if other processes write to the store too. */
  readonly shared?: { readonly secret: Uint8Array };
}

/** The input of the writer's thread: the file with the first objects of a new store, if they are known. */
export interface WriterInputs {
  readonly firstObjects?: string | undefined;
}
/** The main thread as the writer's thread watches it: its plugins, their calls (RunningCalls), and its native id. */
export interface MainThread extends Pick<ThreadData, 'plugins' | 'calls' | 'inspection'> {
  readonly running: SharedArrayBuffer;
  readonly nativeId: number;
}
/**
 * To the writer's thread. `connect` passes the writer's end of the channel to another thread. After `watchMain`, it
 * ends the process if the main thread no longer returns to its event loop. `mainPong` answers its `mainPing`.
 */
export type ToWriterThread =
  | ToThread<WriterInputs>
  | ({ readonly is: 'connect' } & SubscriberChannel)
  | { readonly is: 'watchMain'; readonly main: MainThread }
  | { readonly is: 'mainPong' };
/**
 * From the writer's thread. `failed`: the store can no longer write; proposals are answered with an error. `observed`:
 * the counts of its plugins. `mainPing` asks whether the main thread still returns to its event loop.
 */
export type FromWriterThread =
  | FromThread<OpenedStore>
  | { readonly is: 'failed'; readonly message: string }
  | { readonly is: 'observed'; readonly observations: readonly ObservedValues[] }
  | { readonly is: 'mainPing' };

/** The inputs of a pool thread: its channel to the writer, and the memory of all runs of jobs (`Runs`). */
export interface PoolInputs {
  readonly writer: WriterChannel;
  readonly runs: SharedArrayBuffer;
}

/**
 * To a pool thread. Jobs are not sent this way: they are the tasks of the pool. On `load`, the first message, the
 * thread loads the modules that run jobs and answers with `loaded`; all others follow.
 */
export type ToPoolThread = ToThread<PoolInputs> | { readonly is: 'load' } | ServiceState | ServiceAnswer;

/** A state that a service has published. */
export interface ServiceState {
  readonly is: 'state';
  readonly service: string;
  readonly state: unknown;
}
/** The answer to a question to a service: a value, or the message of an error. */
export interface ServiceAnswer {
  readonly is: 'answer';
  readonly id: number;
  readonly value?: unknown;
  readonly error?: string;
}

/** Values that a plugin has observed for one metric with the same labels, in order. */
export interface ObservedValues {
  readonly metric: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly values: readonly number[];
}

/**
 * The output of a pool thread that is ready: probable faults of its plugins, which are the same in all pool threads.
 */
export interface ReadyPoolThread {
  readonly warnings: readonly string[];
}

/**
 * From a pool thread. `late`: outcomes of jobs that their batch did not wait for. `ended`: the outcome of a batch, from
 * threads with plugins of the configuration: a message to Piscina is lost if the thread ends before it is received.
 * `observed`: the counts of plugins. `ask`: a question to a service.
 */
export type FromPoolThread =
  | FromThread<ReadyPoolThread>
  | { readonly is: 'late'; readonly outcomes: PackedLate }
  | { readonly is: 'ended'; readonly batch: number; readonly outcome: BatchOutcome }
  | { readonly is: 'observed'; readonly observations: readonly ObservedValues[] }
  | ServiceQuestion
  | LoadedPoolThread;

/** A question of a plugin to a service. */
export interface ServiceQuestion {
  readonly is: 'ask';
  /** Chosen by the thread. */
  readonly id: number;
  readonly service: string;
  readonly question: unknown;
}

/** Posted by a pool thread when it has loaded its modules. */
export interface LoadedPoolThread {
  readonly is: 'loaded';
  /** The calls of plugins that it is executing (RunningCalls). */
  readonly running: SharedArrayBuffer;
  /** Its current job (OwnProgress). */
  readonly progress: SharedArrayBuffer;
  /** The outcomes that it writes (WrittenOutcomes). */
  readonly outcomes: SharedArrayBuffer;
}

/** Posted once by a pool thread when it is created: its `threadId`, and the port for the messages above. */
export interface PoolThreadCreated {
  readonly thread: number;
  readonly port: MessagePort;
}

/** A request of a controller. */
export interface ControllerRequest {
  readonly requestId: number;
  /** The last revision that the controllers have received: events may reach them before the front end. */
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

/** The inputs of the control thread. */
export interface ControlInputs {
  readonly writer: WriterChannel;
  /** Whether other processes may run controllers on the same store. One process is then elected. */
  readonly shared: boolean;
  /** Whether the store had no objects: controllers then start one after another. */
  readonly isNew: boolean;
  /** Name of this process in elections. */
  readonly identity: string;
  /** The resources that the server has when it starts. */
  readonly resources: FixedResources;
}

/** To the control thread. */
export type ToControlThread = ToThread<ControlInputs> | ({ readonly is: 'response' } & ControllerResponse);
/**
 * From the control thread. `loaded`: its controllers are about to start, or another process runs them (`elsewhere`).
 * `started`: the controller has started. `observed`: the counts of controllers. `demoted`: another process leads, and
 * this thread must end.
 */
export type FromControlThread =
  | FromThread
  | ({ readonly is: 'request' } & ControllerRequest)
  | { readonly is: 'loaded'; readonly elsewhere: boolean }
  | { readonly is: 'demoted' }
  | { readonly is: 'started'; readonly controller: string }
  | { readonly is: 'observed'; readonly observations: readonly ObservedValues[] };
