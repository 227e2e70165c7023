import { Worker } from 'node:worker_threads';
import type { DecisionRecord } from '../../../core/api/observe/decisions.js';
import type { CredentialUse } from '../../../core/api/access.js';
import type { Log } from '../../../core/api/host.js';
import type { Awaitable } from '../../../core/api/point.js';
import { DRAIN_MS, THREAD_CLOSE_MS } from '../../../core/limits.js';
import { culpritsOf, threadError } from '../../../core/plugin/calls/blame.js';
import { RunningCalls } from '../../../core/plugin/calls/runningCalls.js';
import { setImmediate } from '../../../core/runtime/timers.js';
import type { RequestCounts } from '../../../core/services/metrics/requests.js';
import type { Registry } from '../../../core/schema/resource.js';
import { hasOnlyBuiltIns, type ThreadData, threadFlags } from '../../../core/threads/data.js';
import { InFlight } from '../../../core/threads/inFlight.js';
import { readThread, type ThreadReading } from '../../../core/threads/scheduling.js';
import { packOutcomes, unpackJobs } from '../../../core/threads/messages/jobs.js';
import {
  errorOf,
  type FromListeningThread,
  type JobOrder,
  type ListeningInputs,
  postedError,
  type ToListeningThread,
} from '../../../core/threads/messages/listening.js';
import type { ObservedValues } from '../../../core/threads/messages/lifecycle.js';
import type { Job, JobOutcome } from '../../../core/threads/messages/messages.js';
import { EventLoopWatch } from '../../../core/threads/stalls/eventLoopWatch.js';
import { closeThread } from '../threads/closeThread.js';
import type { PathHandler } from '../paths/routes.js';
import type { JobRunner } from '../pool/pool.js';
import { PathAnswers } from './remotePaths.js';
import { Usages } from '../fairness/usage.js';

/** The parts of the server that listening threads need. */
export interface ListeningParts {
  readonly data: ThreadData;
  readonly log: Log;
  readonly pool: JobRunner;
  readonly registry: () => Registry;
  readonly paths: PathHandler;
  readonly decided: (record: DecisionRecord) => void;
  readonly record: (use: CredentialUse) => void;
  readonly observed: (observations: readonly ObservedValues[]) => void;
}

/** The main thread's side of a listening thread: runs its jobs in the pool, and answers requests that it forwards. */
export class ListeningThread {
  readonly #worker: Worker;
  readonly #watch: EventLoopWatch;
  readonly #paths: PathAnswers;
  /** Users take turns with long jobs. Those of all listening threads are told apart by name. */
  readonly #usages = new Usages();
  /** Takes the long job whose turn it is, by the id of its order, from the thread. */
  readonly #turns = new Map<number, (job: Job | undefined) => void>();
  readonly #scrapes = new InFlight<(counts: RequestCounts) => void>();
  readonly #renewals = new InFlight<(renewed: Awaitable<readonly number[]>) => void>();
  #outcomes: { readonly id: number; readonly outcome: JobOutcome }[] = [];
  #isClosing = false;
  /** Id of the thread in the operating system, once it is ready. */
  #nativeId = 0;
  #isReady: (targets: readonly number[]) => void = () => undefined;
  readonly #targets = new Promise<readonly number[]>(resolve => (this.#isReady = resolve));
  /** Resolves when the thread ends without having been closed. */
  readonly failed: Promise<Error>;

  constructor(
    readonly parts: ListeningParts,
    inputs: ListeningInputs,
  ) {
    this.#paths = new PathAnswers(parts.registry, parts.paths, (requestId, answer, transfer) =>
      this.#post({ is: 'answer', requestId, answer }, transfer),
    );
    const { data, log } = parts;
    const running = RunningCalls.memory(data.plugins.length);
    this.#worker = new Worker(new URL('./main.js', import.meta.url), {
      workerData: { ...data, running } satisfies ThreadData,
      ...threadFlags(),
    });
    this.#watch = new EventLoopWatch({
      thread: 'a listening thread',
      data,
      running,
      log,
      ping: () => this.#post({ is: 'ping' }),
      stalled: () => void this.#worker.terminate(),
    });
    this.#worker.on('message', (message: FromListeningThread) => this.#take(message));
    this.failed = new Promise(resolve => {
      this.#worker.once('error', resolve);
      this.#worker.once('exit', code => {
        this.#watch.end();
        if (this.#isClosing) return;
        resolve(threadError('a listening thread', culpritsOf(undefined, running, data), `exit code ${code}`));
      });
    });
    this.#worker.postMessage({ is: 'begin', ...inputs } satisfies ToListeningThread, [inputs.writer.port]);
  }

  /**
   * Resolves with the argument of `Listening.share` for each binding, once the thread can serve. Rejects if it cannot
   * begin.
   */
  async ready(): Promise<readonly number[]> {
    const failure = this.failed.then(error => Promise.reject(error));
    return await Promise.race([this.#targets, failure]);
  }

  /** To be called when connections are passed to the thread. */
  serve(): void {
    this.#post({ is: 'serve' });
  }

  /** Resolves with the counts of the thread. */
  counts(): Promise<RequestCounts> {
    return new Promise(resolve => {
      const id: number = this.#scrapes.add(counts => {
        this.#scrapes.delete(id);
        resolve(counts);
      });
      this.#post({ is: 'count', id });
    });
  }

  /**
   * Makes it read the files of certificates again. Resolves with the targets that replace those of `ready` or of the
   * last renewal; rejects if the files cannot be used.
   */
  renew(): Promise<readonly number[]> {
    return new Promise(resolve => {
      const id: number = this.#renewals.add(renewed => {
        this.#renewals.delete(id);
        resolve(renewed);
      });
      this.#post({ is: 'renew', id });
    });
  }

  /** The times of the thread. */
  get reading(): ThreadReading {
    return readThread('front', this.#worker, this.#nativeId);
  }

  /** Ends watches with their last bookmark, and ends the thread once requests in flight are answered. */
  async close(): Promise<void> {
    this.#isClosing = true;
    this.#watch.end();
    await closeThread(this.#worker, DRAIN_MS + THREAD_CLOSE_MS);
    await this.#worker.terminate();
  }

  #take(message: FromListeningThread): void {
    switch (message.is) {
      case 'ready':
        this.#nativeId = message.nativeId;
        if (!hasOnlyBuiltIns(this.parts.data)) this.#watch.begin(message.nativeId);
        this.#isReady(message.targets);
        break;
      case 'run':
        for (const [i, job] of unpackJobs(message.jobs).entries()) void this.#run(message.orders[i]!, job);
        break;
      case 'turn':
        void this.#runInTurn(message, () => this.#taken(message.id));
        break;
      case 'taken':
        this.#turns.get(message.id)?.(unpackJobs(message.jobs)[0]);
        this.#turns.delete(message.id);
        break;
      case 'path':
        void this.#paths.answer(message);
        break;
      case 'pathAborted':
        this.#paths.abort(message.requestId);
        break;
      case 'pathAccepted':
        this.#paths.accept(message.requestId, message.bytes);
        break;
      case 'decided':
        for (const record of message.records) this.parts.decided(record);
        break;
      case 'used':
        this.parts.record(message.use);
        break;
      case 'observed':
        this.parts.observed(message.observations);
        break;
      case 'counted':
        this.#scrapes.get(message.id)?.(message.counts);
        break;
      case 'renewed':
        this.#renewals.get(message.id)?.(message.targets);
        break;
      case 'notRenewed':
        this.#renewals.get(message.id)?.(Promise.reject(errorOf(message.error)));
        break;
      case 'pong':
        this.#watch.answered();
        break;
      case 'closed':
        break;
    }
  }

  /** Runs a job. If jobs of its kind have taken long, it waits for its turn. */
  async #run(order: JobOrder, job: Job): Promise<void> {
    const { pool } = this.parts;
    const { id, kind, user } = order;
    if (kind !== undefined && pool.costs.isLong(kind)) return await this.#runInTurn(order, () => job);
    try {
      this.#answer(id, await pool.run(job, kind, user));
    } catch (error) {
      this.#post({ is: 'jobFailed', id, error: postedError(error) });
    }
  }

  async #runInTurn({ id, kind, user }: JobOrder, take: () => Awaitable<Job | undefined>): Promise<void> {
    try {
      const outcome = await this.parts.pool.runInTurn(this.#usages.of(user), take, kind);
      if (outcome) this.#answer(id, outcome);
    } catch (error) {
      this.#post({ is: 'jobFailed', id, error: postedError(error) });
    }
  }

  /** Asks the thread for the long job whose turn it is. */
  #taken(id: number): Promise<Job | undefined> {
    return new Promise(resolve => {
      this.#turns.set(id, resolve);
      this.#post({ is: 'turn', id });
    });
  }

  /** Posts the outcomes of a turn of the event loop together. */
  #answer(id: number, outcome: JobOutcome): void {
    if (this.#outcomes.push({ id, outcome }) > 1) return;
    setImmediate(() => {
      const ended = this.#outcomes;
      this.#outcomes = [];
      const [outcomes, transfer] = packOutcomes(ended.map(({ outcome: one }) => one));
      this.#post({ is: 'outcomes', ids: ended.map(({ id: one }) => one), outcomes }, transfer);
    });
  }

  #post(message: ToListeningThread, transfer: readonly ArrayBuffer[] = []): void {
    this.#worker.postMessage(message, transfer);
  }
}
