import type { MessagePort } from 'node:worker_threads';
import { Piscina } from 'piscina';
import type { Log } from '../api/host.js';
import { POOL_BATCH, POOL_QUEUE, THREAD_CLOSE_MS, YOUNG_GENERATION_MB } from '../limits.js';
import { Refusal } from '../model/refusal.js';
import { type ThreadData, threadFlags } from '../threads/data.js';
import { type Job, type JobResult, packJobs, type WorkerBegun } from '../threads/messages.js';

/** The refusal of a request over a bound on those under way. */
export const tooBusy = (): Refusal =>
  new Refusal('TooManyRequests', 'the server is busy; please retry', { retryAfterSeconds: 1 });

type Waiting = { readonly resolve: (result: JobResult) => void; readonly reject: (error: Error) => void; readonly job: Job };

/** The pool of pipeline workers: gathers the jobs of one turn of the loop and hands them over in batches. */
export class Pool {
  readonly #piscina: Piscina;
  readonly #waiting: Waiting[] = [];
  #scheduled = false;
  #underway = 0;
  #closing = false;
  readonly #lives = new Set<MessagePort>();

  constructor(
    filename: URL,
    threads: number,
    data: ThreadData,
    /** A new worker's port to the writer: connect it. */
    onWorker: (port: MessagePort) => void,
    readonly log: Log,
  ) {
    this.#piscina = new Piscina({
      filename: filename.href,
      minThreads: threads,
      maxThreads: threads,
      idleTimeout: Number.POSITIVE_INFINITY,
      atomics: 'async',
      concurrentTasksPerWorker: 64,
      maxQueue: Number.POSITIVE_INFINITY,
      workerData: data,
      ...threadFlags(),
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_GENERATION_MB },
      // What Piscina measures per task costs more than a small job.
      recordTiming: false,
    });
    this.#piscina.on('message', ({ port, life }: WorkerBegun) => {
      this.#lives.add(life);
      life.once('close', () => this.#lives.delete(life));
      onWorker(port);
    });
    this.#piscina.on('error', (error: Error) => log.error({ stack: error.stack }, 'a pool worker failed; it is replaced'));
  }

  /** Resolves when every worker has loaded. */
  async ready(): Promise<void> {
    await this.#piscina.run([] satisfies Job[]);
  }

  /** Runs one job in the pool. Throws Refusal TooManyRequests over the bound, rejects with an error if the worker crashed. */
  run(job: Job): Promise<JobResult> {
    if (this.#waiting.length + this.#underway >= POOL_QUEUE) throw tooBusy();
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

  #flush(): void {
    while (this.#waiting.length > 0) void this.#batch(this.#waiting.splice(0, POOL_BATCH));
  }

  async #batch(batch: readonly Waiting[]): Promise<void> {
    this.#underway += batch.length;
    try {
      const [jobs, transferList] = packJobs(batch.map(waiting => waiting.job));
      const results = (await this.#piscina.run(jobs, { transferList })) as JobResult[];
      for (const [i, waiting] of batch.entries()) waiting.resolve(results[i]!);
    } catch (error) {
      const reason = this.#closing ? new Refusal('ServiceUnavailable', 'the server is shutting down') : (error as Error);
      for (const waiting of batch) waiting.reject(reason);
    } finally {
      this.#underway -= batch.length;
    }
  }

  /** Ends the workers, once their plugins have released what they hold; jobs under way, as of controllers that were stopped before, are refused with 503. */
  async close(): Promise<void> {
    this.#closing = true;
    await Promise.all(Array.from(this.#lives, ended));
    await this.#piscina.destroy();
  }
}

/** Tells a worker to end; resolves when it has released everything, or is gone, or has had its time. */
async function ended(life: MessagePort): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  await new Promise<void>(resolve => {
    timer = setTimeout(resolve, THREAD_CLOSE_MS);
    life.once('message', resolve);
    life.once('close', resolve);
    life.postMessage('close');
  });
  clearTimeout(timer);
  life.close();
}
