import { type MessagePort, workerData } from 'node:worker_threads';
import type { Log, Thread } from '../api/host.js';
import type { HostServices } from '../plugin/host.js';
import { loadPlugins, type Plugins } from '../plugin/load/load.js';
import { logExits, logOf, logUnhandledRejections } from '../plugin/log.js';
import { RunningCalls } from '../plugin/calls/runningCalls.js';
import { Closers } from '../plugin/closers.js';
import { collectGarbageWhenIdle } from './garbage.js';
import type { ThreadData } from './data.js';
import type { FromThread } from './messages/lifecycle.js';
import { ownNativeId } from './scheduling.js';

/** The scope of a thread, which exists before its start. */
export interface ThreadScope {
  readonly data: ThreadData;
  readonly log: Log;
  /** Released when the thread closes, in reverse order. */
  readonly closers: Closers;
  /** Loads the plugins of this kind of thread and makes their parts. Throws ConfigError. */
  loadPlugins(services?: Omit<HostServices, 'closers'>): Promise<Plugins>;
  /** Ends the thread with an error; in a shared thread, only the guest. */
  fail(error: unknown): void;
}

/** The scope of a thread of a kind; `name` is that of its log. */
export function threadScope(
  data: ThreadData,
  kind: Thread,
  name: string,
  closers: Closers = new Closers(),
): ThreadScope {
  const running = data.running && { running: new RunningCalls(data.running) };
  return {
    data,
    log: logOf(name, data),
    closers,
    loadPlugins: services => loadPlugins(data, kind, { ...running, ...services, closers }),
    fail,
  };
}

/** Ends the thread with an uncaught error, with all guests that it has. */
export function fail(error: unknown): void {
  queueMicrotask(() => {
    throw error;
  });
}

type Message = { readonly is: string };
/** The message that a thread begins with. */
type Begin<In extends Message> = Extract<In, { is: 'begin' }>;
/** The messages that are specific to the thread. */
type Own<In extends Message> = Exclude<In, { is: 'begin' | 'close' | 'ping' }>;

/** The result of starting a thread. */
export interface Started<In extends Message, Out extends Message> {
  /** The message to post to the front end; the native id of the thread is added. */
  readonly ready: Omit<Extract<Out, { is: 'ready' }>, 'nativeId'>;
  /** Handles a message that is specific to the thread (not of ToThread). */
  take?(message: Own<In>): void;
}

/** Defines a thread other than the front end's: its plugins and how it starts. */
export interface ThreadMain<In extends Message, Out extends Message, S extends Started<In, Out>> {
  readonly kind: Thread;
  /** Name of the thread in the log. */
  readonly name: string;
  /** The thread's end of its channel to the front end. */
  readonly port: MessagePort;
  /** Set for a guest of a shared thread (sharedThread.ts): its data, and a function that ends it with an error. */
  readonly guest?: { readonly data: ThreadData; readonly fail: (error: unknown) => void };
  /** Called once, when the front end has posted `begin`. */
  start(scope: ThreadScope, begin: Begin<In>, post: (message: Out, transfer?: ArrayBuffer[]) => void): Promise<S>;
}

/**
 * Runs a thread: waits for `begin`, starts, posts `ready`, passes messages on in their order, answers `ping`, and on
 * `close` releases everything and posts `closed`. If the start fails, everything is released and the thread ends with
 * that error. Resolves when the thread has started.
 */
export function runThread<In extends Message, Out extends Message, S extends Started<In, Out>>(
  main: ThreadMain<In, Out, S>,
): Promise<S> {
  const { port, guest } = main;
  const scope = { ...threadScope(guest?.data ?? (workerData as ThreadData), main.kind, main.name), ...guest };
  if (!guest) reportErrors(main.kind, scope);
  const post = (message: Message, transfer: ArrayBuffer[] = []): void => port.postMessage(message, transfer);
  let begin: ((message: Begin<In>) => void) | undefined;
  const started = new Promise<Begin<In>>(resolve => (begin = resolve)).then(async message => {
    const thread = await main.start(scope, message, post);
    if (!guest) scope.closers.add('the garbage collector', collectGarbageWhenIdle());
    post({ ...thread.ready, is: 'ready', nativeId: ownNativeId() } satisfies FromThread);
    return thread;
  });
  started.catch(async error => {
    await scope.closers.closeAll(scope.log);
    scope.fail(error);
  });
  const close = async (): Promise<void> => {
    // A start in progress may still acquire resources that have to be released.
    if (!begin) await started;
    await scope.closers.closeAll(scope.log);
    post({ is: 'closed' });
  };
  port.on('message', (message: In) => {
    if (message.is === 'begin') {
      begin?.(message as Begin<In>);
      begin = undefined;
    } else if (message.is === 'close') void close().catch(() => undefined);
    else if (message.is === 'ping') post({ is: 'pong' });
    else void started.then(thread => thread.take?.(message as Own<In>)).catch(() => undefined);
  });
  return started;
}

/** Logs unhandled errors of a thread, and the error that ends it. */
export function reportErrors(kind: Thread, { log, data }: Pick<ThreadScope, 'log' | 'data'>): void {
  // The writer ends with every unexpected error: a wrong store is worse than none.
  if (kind !== 'writer') logUnhandledRejections(log, () => data);
  logExits(log, () => data);
}
