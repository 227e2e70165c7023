import type { Worker } from 'node:worker_threads';
import type { Log } from '../../core/api/host.js';
import { POOL_BATCH, POOL_QUEUE, THREAD_CLOSE_MS } from '../../core/limits.js';
import { Refusal } from '../../core/model/refusal.js';
import { type FromPool, type Job, type JobResult, packJobs, type ToPool } from '../../core/threads/messages.js';
import { InFlight } from '../../core/threads/inFlight.js';

/** Pause before a thread that ended before it was ready is replaced. */
const REPLACE_MS = 1000;

/** The refusal of a request over a bound on those under way. */
export const tooBusy = (): Refusal =>
  new Refusal('TooManyRequests', 'the server is busy; please retry', { retryAfterSeconds: 1 });

type Waiting = {
  readonly resolve: (result: JobResult) => void;
  readonly reject: (error: Error) => void;
  readonly job: Job;
};

/** A thread of the pool, with the batches it was given. */
class PoolThread {
  readonly #batches = new InFlight<readonly Waiting[]>();
  #load = 0;
  #isReady = false;
  #failure: Error | undefined;
  /** Resolves once it has loaded. Rejects if it ends before. */
  readonly ready: Promise<void>;
  /** Resolves when it has ended, and its batches were given up; with whether it had been ready, and why it ended. */
  readonly ended: Promise<{ readonly wasReady: boolean; readonly why: Error }>;
  readonly #closed: Promise<void>;

  constructor(readonly thread: Worker) {
    let ready!: () => void;
    let closed!: () => void;
    const loaded = new Promise<void>(resolve => (ready = resolve));
    this.#closed = new Promise(resolve => (closed = resolve));
    thread.on('message', (message: FromPool) => {
      switch (message.is) {
        case 'ready':
          this.#isReady = true;
          return ready();
        case 'closed':
          return closed();
        default:
          this.#take(message);
      }
    });
    thread.once('error', error => (this.#failure = error));
    this.ended = new Promise(resolve =>
      thread.once('exit', code => {
        const why = this.#failure ?? new Error(`a pool thread ended with code ${code}`);
        closed();
        resolve({ wasReady: this.#isReady, why });
      }),
    );
    this.ready = Promise.race([loaded, this.ended.then(({ why }) => Promise.reject(why))]);
    // Whoever replaces a thread does not wait for it.
    this.ready.catch(() => undefined);
  }

  /** Jobs it has not answered. */
  get load(): number {
    return this.#load;
  }

  /** Throws what makes the jobs impossible to send. */
  run(batch: readonly Waiting[]): void {
    const [jobs, transfer] = packJobs(batch.map(waiting => waiting.job));
    const id = this.#batches.add(batch);
    try {
      this.thread.postMessage({ is: 'run', batch: id, jobs } satisfies ToPool, transfer);
      this.#load += batch.length;
    } catch (error) {
      this.#batches.delete(id);
      throw error;
    }
  }

  /** Ends the thread once its plugins have released what they hold, or have had their time. */
  async close(): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>(resolve => {
      timer = setTimeout(resolve, THREAD_CLOSE_MS);
    });
    this.thread.postMessage({ is: 'close' } satisfies ToPool);
    await Promise.race([this.#closed, late]);
    clearTimeout(timer);
    await this.thread.terminate();
  }

  /** Gives up what it has not answered. */
  abandon(why: Error): void {
    for (const [id, batch] of this.#batches) {
      this.#batches.delete(id);
      for (const waiting of batch) waiting.reject(why);
    }
  }

  #take(message: Extract<FromPool, { batch: number }>): void {
    const batch = this.#batches.get(message.batch);
    this.#batches.delete(message.batch);
    if (!batch) return;
    this.#load -= batch.length;
    if (message.is === 'ran') for (const [i, waiting] of batch.entries()) waiting.resolve(message.results[i]!);
    else for (const waiting of batch) waiting.reject(new Error(message.message));
  }
}

/**
 * The pool of pipeline threads: gathers the jobs of one turn of the loop and posts them in batches to the thread that
 * has the fewest. A thread that ends is replaced; what it had not answered fails.
 */
export class Pool {
  #threads: PoolThread[] = [];
  readonly #waiting: Waiting[] = [];
  #scheduled = false;
  #closing = false;

  constructor(
    threads: number,
    /** Starts a thread that is connected to the writer. */
    readonly start: () => Worker,
    readonly log: Log,
  ) {
    for (let i = 0; i < threads; i++) this.#add();
  }

  /** Resolves when every thread has loaded. Rejects if one cannot. */
  async ready(): Promise<void> {
    await Promise.all(this.#threads.map(thread => thread.ready));
  }

  /**
   * Runs one job in the pool. Throws Refusal TooManyRequests over the bound, rejects with an error if the thread ended.
   */
  run(job: Job): Promise<JobResult> {
    let underway = this.#waiting.length;
    for (const { load } of this.#threads) underway += load;
    if (underway >= POOL_QUEUE) throw tooBusy();
    return new Promise((resolve, reject) => {
      this.#waiting.push({ resolve, reject, job });
      if (this.#waiting.length >= POOL_BATCH) return this.#flush();
      if (this.#scheduled) return;
      this.#scheduled = true;
      setImmediate(() => {
        this.#scheduled = false;
        this.#flush();
      });
    });
  }

  /** Ends the threads; jobs under way, as of controllers that were stopped before, are refused with 503. */
  async close(): Promise<void> {
    this.#closing = true;
    await Promise.all(this.#threads.map(thread => thread.close()));
  }

  #add(): void {
    const thread = new PoolThread(this.start());
    this.#threads.push(thread);
    void thread.ended.then(({ wasReady, why }) => {
      this.#threads = this.#threads.filter(other => other !== thread);
      thread.abandon(this.#closing ? new Refusal('ServiceUnavailable', 'the server is shutting down') : why);
      if (this.#closing) return;
      this.log.error({ stack: why.stack }, 'a pool thread failed; it is replaced');
      if (wasReady) this.#add();
      else setTimeout(() => this.#closing || this.#add(), REPLACE_MS).unref();
    });
  }

  #flush(): void {
    while (this.#waiting.length > 0) this.#dispatch(this.#waiting.splice(0, POOL_BATCH));
  }

  #dispatch(batch: readonly Waiting[]): void {
    try {
      const [first, ...others] = this.#threads;
      if (!first)
        throw new Refusal('ServiceUnavailable', 'the pipeline is starting again; please retry', {
          retryAfterSeconds: 1,
        });
      others.reduce((least, thread) => (thread.load < least.load ? thread : least), first).run(batch);
    } catch (error) {
      for (const waiting of batch) waiting.reject(error as Error);
    }
  }
}
