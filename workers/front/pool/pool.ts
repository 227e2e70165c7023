import { ArrayTaskQueue, Piscina } from 'piscina';
import type { Log } from '../../../core/api/host.js';
import type { Awaitable } from '../../../core/api/point.js';
import type { Service } from '../../../core/api/plugin/pluginService.js';
import { POOL_BATCH, POOL_QUEUE, YOUNG_GENERATION_MB } from '../../../core/limits.js';
import { Refusal } from '../../../core/model/refusal.js';
import { culpritsOf } from '../../../core/plugin/calls/blame.js';
import { withinDeadline } from '../../../core/plugin/calls/deadline.js';
import { setImmediate } from '../../../core/runtime/timers.js';
import { type ThreadData, threadFlags } from '../../../core/threads/data.js';
import { InFlight } from '../../../core/threads/inFlight.js';
import { type Batch, type BatchOutcome, packJobs, unpackOutcomes } from '../../../core/threads/messages/jobs.js';
import type { Observation, WriterChannel } from '../../../core/threads/messages/lifecycle.js';
import type { Job, JobOutcome, JobResult, LateOutcome } from '../../../core/threads/messages/messages.js';
import { type Position, SENT } from '../../../core/threads/progress.js';
import { type Dispatched, hasBegun, movableJobs, type Waiting } from './dispatched.js';
import { FairLimiter } from '../fairness/fairLimiter.js';
import { JobCosts } from './jobCosts.js';
import { Lanes, place, type Placement, placementOf } from './lanes.js';
import { PoolThreads } from './poolThreads.js';
import { tooBusy } from '../answers/refusals.js';
import { maxUnanswered, reportStalled } from './stalledThreads.js';
import { StuckThreads } from './stuckThreads.js';
import type { Usage } from '../fairness/usage.js';

/** Chosen by measurement (docs/decisions/0007). */
const OPTIONS = {
  concurrentTasksPerWorker: 4,
  atomics: 'disabled',
  recordTiming: false,
  // Threads are ended here, when they have released what they hold.
  idleTimeout: Number.POSITIVE_INFINITY,
  resourceLimits: { maxYoungGenerationSizeMb: YOUNG_GENERATION_MB },
} as const;

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

/** Runs jobs: the pool or, for a listening thread, the main thread. */
export interface JobRunner {
  /** See `Pool.run`. */
  run(job: Job, kind?: string, user?: string): Promise<JobResult>;
  /** See `Pool.runInTurn`. */
  runInTurn(sender: Usage, take: () => Job, kind?: string): Promise<JobResult>;
  runInTurn(sender: Usage, take: () => Awaitable<Job | undefined>, kind?: string): Promise<JobResult | undefined>;
  readonly costs: Pick<JobCosts, 'isLong'>;
}

type PiscinaTask = ArrayTaskQueue['tasks'][number];

/** Tasks that wait for a thread. */
class TaskQueue extends ArrayTaskQueue {
  /** A task for no thread is not kept: Piscina has made a thread for it by then. */
  override push(task: PiscinaTask): void {
    if (placementOf(task)?.is !== 'none') super.push(task);
  }

  /** Drops all tasks: none of them is run. */
  clear(): void {
    this.tasks.length = 0;
  }
}

/** Jobs in batches. */
function* batchesOf(jobs: readonly Waiting[]): Generator<readonly Waiting[]> {
  for (let at = 0; at < jobs.length; at += POOL_BATCH) yield jobs.slice(at, at + POOL_BATCH);
}

const ignore = (): void => undefined;

/**
 * The pool of pipeline threads, run by Piscina. The jobs of one turn of the event loop are gathered in batches, and a
 * batch is a task. It ends with its turn in the thread; a job that takes longer is answered by itself, so that none
 * waits for another. If a job keeps its thread, the others of the thread are run by another one. If a thread ends, the
 * jobs that it was in, or may have had effects, fail, and Piscina replaces it.
 */
export class Pool implements JobRunner {
  readonly #queue = new TaskQueue();
  readonly #lanes = new Lanes(OPTIONS.concurrentTasksPerWorker);
  readonly #piscina: Piscina<Batch, BatchOutcome>;
  readonly #threads: PoolThreads;
  readonly #stuck: StuckThreads;
  readonly #dispatched = new InFlight<Dispatched>();
  readonly #gathered: Waiting[] = [];
  /** Jobs without an answer. */
  #load = 0;
  /** Called when there are none. */
  readonly #whenIdle: (() => void)[] = [];
  #isScheduled = false;
  #isClosing = false;

  /** Long jobs run on all threads but one, their senders in turn, so that short jobs do not wait for them. */
  readonly #longJobs: FairLimiter;
  /** The kinds of jobs that have taken long. */
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
        culprits: (error, running) => culpritsOf(error, running, data),
        stalled: running => reportStalled(data, running, log),
        started: (id, progress) => this.#stuck.addThread(id, progress),
        ended: (id, why) => this.#threadEnded(id, why),
      },
      log,
      maxUnanswered(data),
    );
    this.#stuck = new StuckThreads(this.#lanes, threads, {
      isBusy: () => this.#load > 0,
      isAwaited: (id, position) => this.#isAwaited(id, position),
      hasJobs: id => this.#batchesOf(id).length > 0,
      userAt: ({ batch, at }) => this.#dispatched.get(batch)?.jobs[at]?.user ?? '',
      move: (id, position) => this.#move(id, position),
      distribute: () => this.#distributeAgain(),
      addThread: count => this.#addThread(count),
      retire: id => this.#threads.retire(id),
      threadCount: () => this.#piscina.threads.length,
    });
    this.#lanes.absent = this.#threads.lastId;
  }

  /** Has the threads load their plugins, now and whenever there is another. Until then they only load their modules. */
  begin(): void {
    this.#threads.begin();
  }

  /** Starts the services that plugins of the threads ask. Rejects with what one of them throws. */
  async startServices(services: ReadonlyMap<string, Service>): Promise<void> {
    await this.#threads.services.start(services);
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
   * Runs a job of a user, in a batch with others. Its cost is remembered in `costs` under its `kind`. Throws Refusal
   * TooManyRequests if too many jobs are in flight, or jobs of the user do not end. Rejects with an error if the thread
   * ends, and with Refusal ServiceUnavailable if the pool is closed before.
   */
  run(job: Job, kind?: string, user = ''): Promise<JobResult> {
    const { suspects } = this.#stuck;
    suspects.check(user);
    if (suspects.has(user)) return this.#runApart(user, () => job, kind) as Promise<JobResult>;
    this.#addLoad();
    return new Promise((resolve, reject) => {
      this.#gathered.push({ job, kind, user, resolve, reject });
      if (this.#gathered.length >= POOL_BATCH) {
        this.#dispatch(this.#gathered.splice(0));
        return;
      }
      if (this.#isScheduled) return;
      this.#isScheduled = true;
      setImmediate(() => {
        this.#isScheduled = false;
        if (this.#gathered.length > 0) this.#dispatch(this.#gathered.splice(0));
      });
    });
  }

  /**
   * Runs a job that may take long: alone, when it is the turn of the sender. `take` is called then, and may return
   * undefined if nothing is left to do. The turn ends when the job no longer keeps the thread, also if a plugin that it
   * has called has not answered, or when it has kept the thread for too long. Resolves and rejects as `run`, and
   * rejects with what `take` throws.
   */
  runInTurn(sender: Usage, take: () => Job, kind?: string): Promise<JobResult>;
  runInTurn(sender: Usage, take: () => Awaitable<Job | undefined>, kind?: string): Promise<JobResult | undefined>;
  async runInTurn(
    sender: Usage,
    take: () => Awaitable<Job | undefined>,
    kind?: string,
  ): Promise<JobResult | undefined> {
    const { user } = sender;
    const { suspects } = this.#stuck;
    suspects.check(user);
    if (suspects.has(user)) return await this.#runApart(user, take, kind);
    const answer = await this.#longJobs.run(sender, async () =>
      // It may have become one meanwhile; others do not wait for it then.
      suspects.has(user) ? undefined : await this.#runAlone(user, take, kind),
    );
    return await (answer ? answer() : this.#runApart(user, take, kind));
  }

  /** Runs a job of a suspect: alone, when that does not keep the last thread from other senders. */
  #runApart(user: string, take: () => Awaitable<Job | undefined>, kind?: string): Promise<JobResult | undefined> {
    return this.#stuck.runApart(user, () => this.#runAlone(user, take, kind)).then(result => result());
  }

  /**
   * Runs a job alone. Resolves, when it no longer keeps its thread, with a function that returns its result: a promise
   * that is returned itself would be waited for.
   */
  async #runAlone(
    user: string,
    take: () => Awaitable<Job | undefined>,
    kind: string | undefined,
  ): Promise<() => Promise<JobResult | undefined>> {
    const job = await take();
    if (!job) return async () => undefined;
    this.#addLoad();
    let answer!: Promise<JobResult>;
    await new Promise<void>(left => {
      answer = new Promise((resolve, reject) => {
        this.#dispatch([{ job, kind, user, resolve, reject }], 'long', left);
      });
      // It may reject before the turn has ended, when nobody waits for it yet.
      answer.catch(ignore);
    });
    return () => answer;
  }

  /** Counts a job. Throws Refusal TooManyRequests if there are too many. */
  #addLoad(): void {
    if (this.#load >= POOL_QUEUE) throw tooBusy();
    this.#load++;
  }

  /** Resolves when no job is without an answer, or after `ms` milliseconds. */
  async whenIdle(milliseconds: number): Promise<void> {
    if (this.#load === 0) return;
    const idle = new Promise<void>(resolve => this.#whenIdle.push(resolve));
    await withinDeadline(idle, milliseconds).catch(ignore);
  }

  /** Counts the answer to a job. */
  #removeLoad(): void {
    if (--this.#load > 0) return;
    for (const resolve of this.#whenIdle.splice(0)) resolve();
  }

  /** Ends the threads, once their plugins have released what they hold. Jobs in flight are refused with 503. */
  async close(): Promise<void> {
    this.#isClosing = true;
    this.#stuck.close();
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
   * Passes jobs to Piscina as one task. `left` is called when they no longer keep the thread, or have kept it for too
   * long. Refuses them when the pool closes: Piscina, once it has ended its threads, would make another one for them.
   */
  #dispatch(jobs: readonly Waiting[], is: Placement['is'] = 'short', left: () => void = ignore): void {
    const [packed, transferList] = packJobs(jobs.map(({ job }) => job));
    const placement: Placement = { is };
    const id = this.#dispatched.add({ jobs: [...jobs], unanswered: jobs.length, placement, left });
    const batch: Batch = { id, jobs: packed };
    place(batch, placement);
    if (this.#isClosing) {
      left();
      this.#refuse(id);
      return;
    }
    this.#stuck.watch();
    const end = (): void => {
      this.#lanes.end(placement);
      left();
      if (placement.thread !== undefined) this.#stuck.returned(placement.thread);
    };
    this.#piscina.run(batch, { transferList }).then(
      outcome => {
        this.#batchEnded(id, outcome);
        end();
      },
      error => {
        this.#batchFailed(id, error);
        end();
      },
    );
  }

  #batchEnded(id: number, { outcomes, ms }: BatchOutcome): void {
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
    if (dispatched) dispatched.isLate = true;
  }

  /** A batch was rejected, or its thread has ended, which is noticed here first if it was an error. */
  #batchFailed(id: number, error: Error): void {
    const thread = this.#dispatched.get(id)?.placement.thread;
    const isAlive = this.#piscina.threads.some(({ threadId }) => threadId === thread);
    if (thread !== undefined && !isAlive) this.#failJobs(thread, id, error);
    this.#fail(id, error);
  }

  /** Answers a job. */
  #settle(id: number, at: number, outcome: JobOutcome): void {
    const waiting = this.#take(id, at);
    if (!waiting) return;
    this.#removeLoad();
    if (outcome.is === 'failed') waiting.reject(new Error(outcome.message));
    else waiting.resolve(outcome);
  }

  /** Takes a job out of its batch; undefined if it is not in it any more. */
  #take(id: number, at: number): Waiting | undefined {
    const dispatched = this.#dispatched.get(id);
    const waiting = dispatched?.jobs[at];
    if (!waiting) return undefined;
    dispatched.jobs[at] = undefined;
    if (--dispatched.unanswered === 0) this.#dispatched.delete(id);
    return waiting;
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
        this.#removeLoad();
        waiting.reject(error);
      }
  }

  /** The batches of a thread that have no answer, or late ones; without a thread, those that wait for one. */
  #batchesOf(thread: number | undefined): (readonly [id: number, dispatched: Dispatched])[] {
    return [...this.#dispatched].filter(([, { placement }]) => placement.thread === thread);
  }

  #isAwaited(thread: number, position: Position): boolean {
    for (const [id, { placement, isLate }] of this.#dispatched)
      if (placement.thread === thread && !isLate && !(id === position.batch && position.at === SENT)) return true;
    return false;
  }

  /** Has other threads run the jobs of one that does not return, as far as they can be run again. */
  #move(thread: number, position: Position): void {
    this.#dispatched.get(position.batch)?.left();
    for (const [id] of this.#batchesOf(thread)) this.#moveBatch(id, position);
    this.#distributeAgain();
  }

  /** Has Piscina choose threads for the batches that wait for one, which it does by itself when a task has ended. */
  #distributeAgain(): void {
    this.#queue.clear();
    for (const [id, { jobs, placement, left }] of this.#batchesOf(undefined)) {
      this.#dispatched.delete(id);
      this.#dispatch(jobs as Waiting[], placement.is, left);
    }
  }

  /** Runs the jobs of a batch elsewhere, as far as they can. One that has begun for the second time is run alone. */
  #moveBatch(id: number, position: Position): void {
    const dispatched = this.#dispatched.get(id);
    if (!dispatched) return;
    const { placement, left } = dispatched;
    const together: Waiting[] = [];
    for (const at of movableJobs(id, dispatched, position)) {
      const waiting = this.#take(id, at)!;
      const isAlone = placement.is === 'long' || waiting.isRepeated;
      if (hasBegun(id, at, position)) waiting.isRepeated = true;
      if (this.#stuck.suspects.has(waiting.user)) this.#moveApart(waiting, left);
      else if (isAlone) this.#dispatch([waiting], 'long', left);
      else together.push(waiting);
    }
    for (const batch of batchesOf(together)) this.#dispatch(batch);
  }

  /** Runs a job of a suspect, which was in a batch with others. */
  #moveApart(waiting: Waiting, left: () => void): void {
    left();
    const run = () => new Promise<void>(done => this.#dispatch([waiting], 'long', done));
    this.#stuck.runApart(waiting.user, run).catch(error => {
      this.#removeLoad();
      waiting.reject(error);
    });
  }

  /** Has Piscina make threads until there are as many. */
  #addThread(count: number): void {
    this.#piscina.options.maxThreads = count;
    if (this.#isClosing || this.#piscina.threads.length >= count) return;
    const batch: Batch = { id: 0, jobs: packJobs([])[0] };
    place(batch, { is: 'none' });
    void this.#piscina.run(batch);
  }

  /** Fails the jobs of a batch whose thread has ended, but for those that another thread can run. */
  #failJobs(thread: number, id: number, reason: Error): void {
    const position = this.#stuck.positionOf(thread);
    if (position && !this.#isClosing) this.#moveBatch(id, position);
    this.#fail(id, reason);
  }

  /** Piscina fails the tasks of a thread that ends; late jobs are failed here, and all if there is no other thread. */
  #threadEnded(thread: number | undefined, reason: Error): void {
    if (this.#piscina.threads.length === 0) {
      this.#queue.clear();
      for (const [id] of this.#dispatched) this.#fail(id, reason);
    }
    if (thread === undefined) return;
    for (const [id] of this.#batchesOf(thread)) this.#failJobs(thread, id, reason);
    this.#stuck.threadEnded(thread);
  }
}
