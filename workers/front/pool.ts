import { ArrayTaskQueue, Piscina } from 'piscina';
import type { Log } from '../../core/api/host.js';
import type { Awaitable } from '../../core/api/point.js';
import { POOL_BATCH, POOL_QUEUE, YOUNG_GENERATION_MB } from '../../core/limits.js';
import { Refusal } from '../../core/model/refusal.js';
import { blame } from '../../core/plugin/blame.js';
import { type ThreadData, threadFlags } from '../../core/threads/data.js';
import { InFlight } from '../../core/threads/inFlight.js';
import { packJobs, unpackOutcomes } from '../../core/threads/jobs.js';
import type { Observation, WriterChannel } from '../../core/threads/lifecycle.js';
import type { Batch, BatchOutcome, Job, JobOutcome, JobResult, LateOutcome } from '../../core/threads/messages.js';
import { FairLimiter } from './fairLimiter.js';
import { JobCosts } from './jobCosts.js';
import { Lanes } from './lanes.js';
import { PoolThreads } from './poolThreads.js';
import { tooBusy } from './refusals.js';
import { maxUnanswered, reportStalled } from './stalledThreads.js';
import type { Usage } from './usage.js';

/** Chosen by measurement (docs/decisions/0007). */
const OPTIONS = {
  concurrentTasksPerWorker: 4,
  atomics: 'disabled',
  recordTiming: false,
  resourceLimits: { maxYoungGenerationSizeMb: YOUNG_GENERATION_MB },
} as const;

interface Waiting {
  readonly job: Job;
  /** The kind of job by which its cost is remembered. */
  readonly kind: string | undefined;
  readonly resolve: (result: JobResult) => void;
  readonly reject: (error: Error) => void;
}

/** Jobs that were passed to Piscina as one batch. */
interface Dispatched {
  /** Undefined in the place of a job that was answered. */
  readonly jobs: (Waiting | undefined)[];
  unanswered: number;
  /** Set when the batch has ended before all of its jobs: the thread that still runs them. */
  thread?: number;
}

/** The parts of the pool. */
export interface PoolParts {
  /** Number of threads. */
  readonly threads: number;
  /** Module that threads run: its default export takes a Batch. */
  readonly module: URL;
  readonly data: ThreadData;
  /** Connects a thread to the writer. */
  readonly connect: () => WriterChannel;
  /** Takes what plugins have counted. */
  readonly observed: (observations: readonly Observation[]) => void;
  readonly log: Log;
}

/** What runs jobs: the pool or, for a listening thread, the main thread. */
export interface JobRunner {
  /** See `Pool.run`. */
  run(job: Job, kind?: string): Promise<JobResult>;
  /** See `Pool.runInTurn`. */
  runInTurn(sender: Usage, take: () => Job, kind?: string): Promise<JobResult>;
  runInTurn(sender: Usage, take: () => Awaitable<Job | undefined>, kind?: string): Promise<JobResult | undefined>;
  readonly costs: Pick<JobCosts, 'isLong'>;
}

/** Tasks that wait for a thread. */
class TaskQueue extends ArrayTaskQueue {
  /** Drops all tasks: none of them is run. */
  clear(): void {
    this.tasks.length = 0;
  }
}

/**
 * The pool of pipeline threads, run by Piscina. The jobs of one turn of the event loop are gathered in batches, and a
 * batch is a task. It ends with its turn in the thread; a job that takes longer is answered by itself, so that none
 * waits for another. If a thread ends, the jobs that it had not answered fail, and Piscina replaces it.
 */
export class Pool implements JobRunner {
  readonly #queue = new TaskQueue();
  readonly #lanes = new Lanes(OPTIONS.concurrentTasksPerWorker);
  readonly #piscina: Piscina<Batch, BatchOutcome>;
  readonly #threads: PoolThreads;
  readonly #dispatched = new InFlight<Dispatched>();
  readonly #gathered: Waiting[] = [];
  /** Jobs without an answer. */
  #load = 0;
  #isScheduled = false;
  #isClosing = false;

  /** Long jobs run on all threads but one, their senders in turn, so that short jobs do not wait for them. */
  readonly #longJobs: FairLimiter;
  /** Which kinds of jobs have taken long. */
  readonly costs = new JobCosts();

  constructor({ threads, module, data, connect, observed, log }: PoolParts) {
    this.#longJobs = new FairLimiter(Math.max(1, threads - 1));
    this.#piscina = new Piscina({
      ...OPTIONS,
      filename: module.href,
      minThreads: threads,
      maxThreads: threads,
      taskQueue: this.#queue,
      loadBalancer: this.#lanes.choose,
      workerData: data,
      ...threadFlags(),
    });
    const late = (outcomes: readonly LateOutcome[]): void => {
      for (const { batch, at, outcome } of outcomes) this.#settle(batch, at, outcome);
    };
    this.#threads = new PoolThreads(
      this.#piscina,
      {
        connect,
        late,
        observed,
        isBusy: () => this.#load > 0,
        blame: stack => blame(stack, data),
        stalled: running => reportStalled(data, running, log),
        ended: (id, why) => this.#threadEnded(id, why),
      },
      log,
      maxUnanswered(data),
    );
    this.#lanes.absent = this.#threads.lastId;
  }

  /** Has the threads load their plugins, now and whenever there is another. Until then they only load their modules. */
  begin(): void {
    this.#threads.begin();
  }

  /** Resolves when jobs can be run, after `begin`: all threads have started but the last. Rejects if one cannot. */
  async ready(): Promise<void> {
    await this.#threads.ready;
  }

  /**
   * Has the last thread start as well, which until then takes no time from a server that starts: the others run what
   * may take long. Resolves when it is ready. Rejects if it cannot start, in which case another one replaces it.
   */
  async complete(): Promise<void> {
    await this.ready();
    try {
      await this.#threads.beginLast();
    } finally {
      this.#lanes.absent = undefined;
    }
  }

  /**
   * Runs a job, in a batch with others. What it costs is remembered in `costs` under its `kind`. Throws Refusal
   * TooManyRequests if too many jobs are in flight. Rejects with an error if the thread ends, and with Refusal
   * ServiceUnavailable if the pool is closed before.
   */
  run(job: Job, kind?: string): Promise<JobResult> {
    this.#addLoad();
    return new Promise((resolve, reject) => {
      this.#gathered.push({ job, kind, resolve, reject });
      if (this.#gathered.length >= POOL_BATCH) {
        void this.#dispatch(this.#gathered.splice(0));
        return;
      }
      if (this.#isScheduled) return;
      this.#isScheduled = true;
      setImmediate(() => {
        this.#isScheduled = false;
        if (this.#gathered.length > 0) void this.#dispatch(this.#gathered.splice(0));
      });
    });
  }

  /**
   * Runs a job that may take long: alone, when it is the turn of the sender. `take` is called then, and may return
   * undefined if nothing is left to do. The turn ends when the job no longer keeps the thread, also if a plugin that it
   * has called has not answered. Resolves and rejects as `run`, and rejects with what `take` throws.
   */
  runInTurn(sender: Usage, take: () => Job, kind?: string): Promise<JobResult>;
  runInTurn(sender: Usage, take: () => Awaitable<Job | undefined>, kind?: string): Promise<JobResult | undefined>;
  async runInTurn(
    sender: Usage,
    take: () => Awaitable<Job | undefined>,
    kind?: string,
  ): Promise<JobResult | undefined> {
    let answer: Promise<JobResult> | undefined;
    await this.#longJobs.run(sender, async () => {
      const job = await take();
      if (!job) return;
      this.#addLoad();
      let left: Promise<void> | undefined;
      answer = new Promise((resolve, reject) => {
        left = this.#dispatch([{ job, kind, resolve, reject }], true);
      });
      // It may reject before the turn has ended, when nobody waits for it yet.
      answer.catch(() => undefined);
      await left;
    });
    return await answer;
  }

  /** Counts a job. Throws Refusal TooManyRequests if there are too many. */
  #addLoad(): void {
    if (this.#load >= POOL_QUEUE) throw tooBusy();
    this.#load++;
  }

  /** Ends the threads, once their plugins have released what they hold. Jobs in flight are refused with 503. */
  async close(): Promise<void> {
    this.#isClosing = true;
    await this.#threads.close();
    // Piscina replaces a thread that fails at its error and at its exit. An exit after `destroy` makes another thread.
    do {
      await this.#threads.loaded();
      await this.#piscina.destroy();
      await this.#threads.ended();
    } while (this.#piscina.threads.length > 0);
    for (const [id] of this.#dispatched) this.#refuse(id);
  }

  /**
   * Passes jobs to Piscina as one task. Resolves when they no longer keep the thread. Refuses them when the pool
   * closes: Piscina, once it has ended its threads, would make another one for them.
   */
  #dispatch(jobs: readonly Waiting[], isLong = false): Promise<void> {
    const id = this.#dispatched.add({ jobs: [...jobs], unanswered: jobs.length });
    if (this.#isClosing) {
      this.#refuse(id);
      return Promise.resolve();
    }
    const [packed, transferList] = packJobs(jobs.map(({ job }) => job));
    const batch: Batch = { id, jobs: packed };
    const release = isLong ? this.#lanes.markLong(batch) : undefined;
    return this.#piscina.run(batch, { transferList }).then(
      outcome => {
        release?.();
        this.#batchEnded(id, outcome);
      },
      error => {
        release?.();
        this.#fail(id, error);
      },
    );
  }

  #batchEnded(id: number, { thread, outcomes, ms }: BatchOutcome): void {
    const jobs = this.#dispatched.get(id)?.jobs;
    if (jobs)
      this.costs.record(
        jobs.map(waiting => waiting?.kind),
        ms,
      );
    for (const [at, outcome] of unpackOutcomes(outcomes).entries()) if (outcome) this.#settle(id, at, outcome);
    // Piscina's Map of tasks outlives them by some collections, and with each task its result (docs/decisions/0007).
    outcomes.rows = [];
    outcomes.bytes = undefined;
    const dispatched = this.#dispatched.get(id);
    if (dispatched) dispatched.thread = thread;
  }

  /** Answers a job. */
  #settle(id: number, at: number, outcome: JobOutcome): void {
    const dispatched = this.#dispatched.get(id);
    const waiting = dispatched?.jobs[at];
    if (!waiting) return;
    dispatched.jobs[at] = undefined;
    if (--dispatched.unanswered === 0) this.#dispatched.delete(id);
    this.#load--;
    if (outcome.is === 'failed') waiting.reject(new Error(outcome.message));
    else waiting.resolve(outcome);
  }

  /** Refuses the jobs of a batch that have no answer, because the pool closes. */
  #refuse(id: number): void {
    this.#reject(id, new Refusal('ServiceUnavailable', 'the server is shutting down'));
  }

  /** Fails the jobs of a batch that have no answer. */
  #fail(id: number, reason: Error): void {
    if (this.#isClosing) this.#refuse(id);
    else this.#reject(id, reason);
  }

  #reject(id: number, error: Error): void {
    const dispatched = this.#dispatched.get(id);
    this.#dispatched.delete(id);
    for (const waiting of dispatched?.jobs ?? [])
      if (waiting) {
        this.#load--;
        waiting.reject(error);
      }
  }

  /** Piscina fails the tasks of a thread that ends; late jobs are failed here, and all if there is no other thread. */
  #threadEnded(thread: number | undefined, reason: Error): void {
    const isLast = this.#piscina.threads.length === 0;
    if (isLast) this.#queue.clear();
    for (const [id, dispatched] of this.#dispatched)
      if (isLast || (thread !== undefined && dispatched.thread === thread)) this.#fail(id, reason);
  }
}
