import { type MessagePort, receiveMessageOnPort, type Worker } from 'node:worker_threads';
import type { Piscina } from 'piscina';
import type { Log } from '../../../core/api/host.js';
import { STUCK_JOB_MS, THREAD_CLOSE_MS } from '../../../core/limits.js';
import { monotonicTime } from '../../../core/runtime/clock.js';
import { clearInterval, setImmediate, setInterval, setTimeout } from '../../../core/runtime/timers.js';
import { type BatchOutcome, unpackLate } from '../../../core/threads/messages/jobs.js';
import type {
  FromPoolThread,
  LoadedPoolThread,
  ObservedValues,
  PoolInputs,
  PoolThreadCreated,
  ServiceState,
  ToPoolThread,
} from '../../../core/threads/messages/lifecycle.js';
import type { LateOutcome } from '../../../core/threads/messages/messages.js';
import { withResolvers } from '../../../core/runtime/withResolvers.js';
import { closeThread } from '../threads/closeThread.js';
import { Services } from './pluginServices.js';
import { type Culprits, culpritsText } from '../../../core/plugin/calls/blame.js';
import { RunningCalls } from '../../../core/plugin/calls/runningCalls.js';
import { stackOf } from '../../../core/plugin/calls/stack.js';
import type { ThreadData } from '../../../core/threads/data.js';
import { Inspection } from '../../../core/threads/inspection.js';
import { WatchedProgress } from '../../../core/threads/progress.js';
import { readThread, type ThreadReading } from '../../../core/threads/scheduling.js';
import { PING_MS, Unanswered } from '../../../core/threads/stalls/stalls.js';

/**
 * Pause before a thread begins, after one that ended before it was ready: plugins that cannot load may fail again.
 */
const RESTART_MS = 1000;

/** Functions of the pool that are called for its threads. */
export interface PoolThreadHandlers {
  /** The inputs of a thread that begins. */
  readonly inputs: () => PoolInputs;
  /** Takes outcomes of jobs whose batch was answered before. */
  readonly late: (outcomes: readonly LateOutcome[]) => void;
  /** Takes the outcome of a batch that was not returned to Piscina. */
  readonly batchEnded: (batch: number, outcome: BatchOutcome) => void;
  /** Takes the counts of plugins. */
  readonly observed: (observations: readonly ObservedValues[]) => void;
  /** Whether the pool has jobs without an answer. Threads are checked only then. */
  readonly isBusy: () => boolean;
  /** Called for a thread that has not answered the question whether it returns to its event loop. */
  readonly unresponsive: (thread: number) => void;
  /** Called when the thread has answered. */
  readonly responsive: (thread: number) => void;
  /** Called for a thread that does not return to its event loop, before it is ended. Returns the plugins it runs. */
  readonly stalled: (running: SharedArrayBuffer) => Culprits;
  /** Called when a thread is ready, with the memory of its progress (OwnProgress) and of outcomes that it writes. */
  readonly started: (thread: number, progress: SharedArrayBuffer, outcomes: SharedArrayBuffer) => void;
  /** The plugins that may have ended a thread: with an error, or else by an exit. */
  readonly culprits: (error: Error | undefined, running: SharedArrayBuffer | undefined) => Culprits;
  /**
   * Called when a thread has ended, including at the close, with the plugins that may have ended it, if it was ready
   * before.
   */
  readonly ended: (thread: number, reason: Error, culprits: Culprits | undefined) => void;
}

/** A thread of the pool. */
class PoolThread {
  /** The message that the thread posted when it was created. */
  created?: PoolThreadCreated;
  /** Its channel, the calls of plugins that it is in, and its current job, once it has loaded its modules. */
  port?: MessagePort;
  running?: SharedArrayBuffer;
  progress?: SharedArrayBuffer;
  outcomes?: SharedArrayBuffer;
  /** Its id in the operating system, once it is ready. */
  nativeId = 0;
  /** Resolves when it no longer loads modules, or has ended. */
  idle = withResolvers<void>();
  /** Resolves when it is ready. Rejects if it ends before. */
  readonly ready = withResolvers<void>();
  isReady = false;
  /** Whether the thread ends because it is no longer needed. */
  isRetired = false;
  /** Questions asked since its last answer; undefined if none is open. */
  unanswered?: Unanswered;
  /** Whether it has left a question unanswered for STUCK_JOB_MS. */
  isUnresponsive = false;
  error?: Error;
  /** The plugins that it is ended for. */
  culprits?: Culprits;

  constructor(
    /** `threadId`. */
    readonly id: number,
  ) {}
}

/**
 * The threads of a Piscina. Piscina creates them, and replaces those that end; each has a channel of its own to the
 * front end, for tasks that Piscina does not handle: the port to the writer, late outcomes, and an orderly close.
 */
export class PoolThreads {
  readonly #threads = new Map<Worker, PoolThread>();
  readonly inspection: Inspection;
  #timer: NodeJS.Timeout | undefined;
  /** The thread that was created last, until it is to load its modules. */
  #last: Worker | undefined;
  /** The same thread, even if it has ended since. */
  #lastThread: PoolThread | undefined;
  #pausedUntil = 0;
  /** True until the first threads are ready. */
  #isStarting = true;
  /** Why the last thread has not started; undefined once one has. */
  #startError: string | undefined;
  /** Channels of threads that wait for `begin`; undefined after it. */
  #waiting: MessagePort[] | undefined = [];
  /** Channels of the threads that have begun. */
  readonly #begun = new Set<MessagePort>();
  #isClosing = false;
  /** The services that plugins of the threads ask. */
  readonly services = new Services(state => this.#postAll(state));
  readonly #warned = new Set<string>();
  /** Resolves when all threads of the start are ready but the last of several. Rejects if one of them ends before. */
  readonly ready: Promise<unknown>;

  constructor(
    readonly piscina: Piscina,
    readonly handlers: PoolThreadHandlers,
    readonly log: Log,
    readonly data: Pick<ThreadData, 'plugins' | 'inspection'>,
  ) {
    this.inspection = new Inspection(data.inspection);
    this.#lookForDebugger();
    this.adopt();
    if (piscina.threads.length > 1) this.#last = piscina.threads.at(-1);
    this.#lastThread = this.#last && this.#threads.get(this.#last);
    const first = [...this.#threads].filter(([worker]) => worker !== this.#last);
    this.ready = Promise.all(first.map(([, { ready }]) => ready.promise));
    this.ready.then(
      () => (this.#isStarting = false),
      () => undefined,
    );
    piscina.on('message', (message: PoolThreadCreated) => this.#created(message));
    // Errors of threads are taken from the threads themselves; without a listener they would be thrown here.
    piscina.on('error', () => undefined);
  }

  /** Has threads start, now and as soon as they are created. */
  begin(): void {
    const waiting = this.#waiting ?? [];
    this.#waiting = undefined;
    for (const port of waiting) this.#begin(port);
  }

  /** `threadId` of the thread that was created last, if it has not begun. */
  get lastId(): number | undefined {
    return this.#last?.threadId;
  }

  /** The times of all threads. */
  get readings(): ThreadReading[] {
    return Array.from(this.#threads, ([worker, { nativeId }]) => readThread('pool', worker, nativeId));
  }

  /** Has the last thread load its modules and begin. Resolves when it is ready, and rejects if it ends before. */
  async beginLast(): Promise<void> {
    const thread = this.#lastThread;
    this.#last = this.#lastThread = undefined;
    if (thread?.created && !this.#isClosing) this.#load(thread, thread.created);
    await thread?.ready.promise;
  }

  /** Whether the end of a thread is still to be noticed. */
  has(id: number): boolean {
    return [...this.#threads.values()].some(thread => thread.id === id);
  }

  /** Looks for threads that Piscina has created since the last call. */
  adopt(): void {
    for (const worker of this.piscina.threads) {
      if (this.#threads.has(worker)) continue;
      // Piscina unrefs its threads, but a server whose start failed waits for theirs with nothing else to keep it.
      worker.ref();
      const thread = new PoolThread(worker.threadId);
      thread.ready.promise.catch(() => undefined);
      this.#threads.set(worker, thread);
      worker.once('error', error => (thread.error = error));
      worker.once('exit', code => {
        this.#threads.delete(worker);
        thread.idle.resolve();
        this.#ended(thread, code);
      });
    }
  }

  /**
   * Resolves when no thread is loading its modules. A thread that is must not be terminated: Node.js 20 may then abort
   * the process, as Piscina loads them with `require`.
   */
  async loaded(): Promise<void> {
    this.adopt();
    await Promise.all(Array.from(this.#threads.values(), ({ idle }) => idle.promise));
  }

  /** Has every thread release its resources, within a bounded time. */
  async close(): Promise<void> {
    this.#isClosing = true;
    this.#endWatch();
    await this.loaded();
    await Promise.all(Array.from(this.#threads.values(), ({ port }) => port && closeThread(port, THREAD_CLOSE_MS)));
  }

  /** Ends a thread that has no jobs, when it has released its resources. */
  async retire(id: number): Promise<void> {
    for (const [worker, thread] of this.#threads) {
      if (worker.threadId !== id || thread.isRetired || this.#isClosing) continue;
      thread.isRetired = true;
      await closeThread(thread.port!, THREAD_CLOSE_MS);
      await worker.terminate();
    }
  }

  /** Resolves when all threads that were created until now have ended. */
  async ended(): Promise<void> {
    await Promise.all(Array.from(this.#threads.keys(), worker => new Promise(resolve => worker.once('exit', resolve))));
  }

  /**
   * Asks the threads regularly whether they respond. To be called when there are jobs. Asking ends by itself when there
   * are none, and no question is open.
   */
  watch(): void {
    if (this.#isClosing || this.#timer) return;
    this.#lookForDebugger();
    this.#timer = setInterval(() => this.#pingAll(), PING_MS).unref();
  }

  #endWatch(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  /**
   * Asks every thread whether it returns to its event loop, and ends one that has left too many questions unanswered:
   * nothing else ends an endless loop. Piscina replaces it.
   */
  #pingAll(): void {
    const isBusy = this.handlers.isBusy();
    let isOpen = false;
    this.#lookForDebugger();
    for (const [worker, thread] of this.#threads) {
      if (this.inspection.isOpen) delete thread.unanswered;
      const { isReady, unanswered, port } = thread;
      if (this.inspection.isOpen || !isReady || (!unanswered && !isBusy)) continue;
      isOpen = true;
      if (!unanswered) {
        const [calls, progress] = [new RunningCalls(thread.running!), new WatchedProgress(thread.progress!)];
        thread.unanswered = new Unanswered(this.data.plugins, calls, progress);
        port?.postMessage({ is: 'ping' } satisfies ToPoolThread);
        continue;
      }
      const { ms, isStalled } = unanswered.add();
      // If this thread was late itself, the answer waits to be taken.
      if (ms >= STUCK_JOB_MS && !thread.isUnresponsive) setImmediate(() => this.#checkAnswer(thread, unanswered));
      if (!isStalled || thread.culprits) continue;
      thread.culprits = this.handlers.stalled(thread.running!);
      void worker.terminate();
    }
    if (!isBusy && !isOpen) this.#endWatch();
  }

  #lookForDebugger(): void {
    if (this.inspection.look())
      this.log.warn(
        {},
        'the inspector is open: calls of plugins have no time limit, and threads that do not return are not ended',
      );
  }

  #created(created: PoolThreadCreated): void {
    this.adopt();
    const worker = this.piscina.threads.find(({ threadId }) => threadId === created.thread);
    const thread = worker && this.#threads.get(worker);
    if (!thread) return;
    thread.created = created;
    thread.idle.resolve();
    if (worker !== this.#last && !this.#isClosing) this.#load(thread, created);
  }

  #load(thread: PoolThread, { port }: PoolThreadCreated): void {
    thread.idle = withResolvers<void>();
    port.on('message', (message: FromPoolThread) => {
      this.#takeOutcomes(message);
      if (message.is === 'observed') this.handlers.observed(message.observations);
      if (message.is === 'ask') void this.services.answer(message, answer => port.postMessage(answer));
      if (message.is === 'pong') this.#answered(thread);
      if (message.is === 'loaded') this.#loaded(thread, port, message);
      if (message.is !== 'ready') return;
      this.#warn(message.warnings);
      thread.isReady = true;
      thread.nativeId = message.nativeId;
      this.#startError = undefined;
      this.handlers.started(thread.id, thread.progress!, thread.outcomes!);
      thread.ready.resolve();
    });
    port.postMessage({ is: 'load' } satisfies ToPoolThread);
  }

  /** Logs warnings that no other thread has had. */
  #warn(warnings: readonly string[]): void {
    for (const warning of warnings) {
      if (this.#warned.has(warning)) continue;
      this.#warned.add(warning);
      this.log.warn({}, warning);
    }
  }

  /**
   * Takes outcomes that a thread has posted before its end: its proposals are with the writer already. It may also have
   * become ready since, and run jobs.
   */
  #takeLast(thread: PoolThread): void {
    const { port } = thread;
    for (let next = port && receiveMessageOnPort(port); next; next = receiveMessageOnPort(port!)) {
      const message = next.message as FromPoolThread;
      this.#takeOutcomes(message);
      if (message.is === 'ready') thread.isReady = true;
    }
  }

  #takeOutcomes(message: FromPoolThread): void {
    if (message.is === 'late') this.handlers.late(unpackLate(message.outcomes));
    if (message.is === 'ended') this.handlers.batchEnded(message.batch, message.outcome);
  }

  #checkAnswer(thread: PoolThread, unanswered: Unanswered): void {
    if (thread.unanswered !== unanswered || this.#isClosing) return;
    thread.isUnresponsive = true;
    this.handlers.unresponsive(thread.id);
  }

  #answered(thread: PoolThread): void {
    delete thread.unanswered;
    if (!thread.isUnresponsive) return;
    thread.isUnresponsive = false;
    this.handlers.responsive(thread.id);
  }

  #loaded(thread: PoolThread, port: MessagePort, { running, progress, outcomes }: LoadedPoolThread): void {
    Object.assign(thread, { port, running, progress, outcomes });
    thread.idle.resolve();
    if (this.#isClosing) return;
    if (this.#waiting) {
      this.#waiting.push(port);
      return;
    }
    const pause = this.#pausedUntil - monotonicTime();
    const begin = (): void => void ([...this.#threads.values()].includes(thread) && this.#begin(port));
    if (pause > 0) setTimeout(begin, pause).unref();
    else begin();
  }

  #begin(port: MessagePort): void {
    const inputs = this.handlers.inputs();
    port.postMessage({ is: 'begin', ...inputs } satisfies ToPoolThread, [inputs.writer.port]);
    for (const state of this.services.states) port.postMessage(state);
    this.#begun.add(port);
  }

  /** Posts a state to all threads that have begun; the others get it when they begin. */
  #postAll(state: ServiceState): void {
    for (const port of this.#begun) port.postMessage(state);
  }

  #ended(thread: PoolThread, code: number): void {
    this.#takeLast(thread);
    const isExpected = this.#isClosing || thread.isRetired;
    const culprits = thread.culprits ?? (isExpected ? {} : this.handlers.culprits(thread.error, thread.running));
    const { error } = thread;
    const why = error ? `${culpritsText(culprits)}: ${error.message}` : ` with code ${code}${culpritsText(culprits)}`;
    const reason = error && !thread.isReady ? error : new Error(`a pool thread ended${why}`, { cause: error });
    // Piscina has created the next one by now.
    this.adopt();
    this.handlers.ended(thread.id, reason, thread.isReady ? culprits : undefined);
    if (thread.port) this.#begun.delete(thread.port);
    thread.ready.reject(reason);
    if (isExpected) return;
    if (!thread.isReady) this.#pausedUntil = monotonicTime() + RESTART_MS;
    this.#log(thread, { ...culprits, ...(error ? { stack: stackOf(error) } : { code }) });
  }

  /**
   * Logs why a thread has ended. Logs nothing while the server starts, because the start fails with the error. Threads
   * that cannot start for the same reason, one after the other, are logged once.
   */
  #log({ isReady }: PoolThread, fields: object): void {
    const why = JSON.stringify(fields);
    if (this.#isStarting || (!isReady && this.#startError === why)) return;
    if (!isReady) this.#startError = why;
    this.log.error(fields, 'a pool thread failed; it is replaced');
  }
}
