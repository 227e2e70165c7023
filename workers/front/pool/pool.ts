import { Piscina } from 'piscina';
import type { Log } from '../../../core/api/host.js';
import type { Awaitable } from '../../../core/api/point.js';
import type { Service } from '../../../core/api/plugin/pluginService.js';
import { POOL_BATCH, POOL_QUEUE, YOUNG_GENERATION_MB } from '../../../core/limits.js';
import { Refusal } from '../../../core/model/refusal.js';
import { type Culprits, culpritsOf } from '../../../core/plugin/calls/blame.js';
import { withinDeadline } from '../../../core/plugin/calls/deadline.js';
import { setImmediate } from '../../../core/runtime/timers.js';
import { type ThreadData, threadFlags } from '../../../core/threads/data.js';
import { type Batch, type BatchOutcome, packJobs, unpackOutcomes } from '../../../core/threads/messages/jobs.js';
import type { ObservedValues, WriterChannel } from '../../../core/threads/messages/lifecycle.js';
import type { Job, JobOutcome, JobResult, LateOutcome } from '../../../core/threads/messages/messages.js';
import { packRuns } from '../../../core/threads/runs.js';
import type { ThreadReading } from '../../../core/threads/scheduling.js';
import { DispatchedJobs, type Movable, type ThreadState, type Waiting } from './dispatched.js';
import { FairLimiter } from '../fairness/fairLimiter.js';
import { JobCosts } from './jobCosts.js';
import { refuseLost } from './lostJobs.js';
import { Lanes, place, type Placement, TaskQueue } from './lanes.js';
import { PoolThreads } from './poolThreads.js';
import { batchesOf, byUser, runOnceMore } from './retries.js';
import { tooBusy } from '../answers/refusals.js';
import { reportStalled } from '../../../core/threads/stalls/stalls.js';
import { StuckThreads } from './stuckThreads.js';
import type { Usage } from '../fairness/usage.js';
import { mayBeWritten, WrittenOutcomes } from './writtenOutcomes.js';

/** Chosen by measurement (docs/decisions/0007). */
const OPTIONS = {
  concurrentTasksPerWorker: 4,
  atomics: 'disabled',
  recordTiming: false,
  // Threads are ended here, when they have released their resources.
  idleTimeout: Number.POSITIVE_INFINITY,
  resourceLimits: { maxYoungGenerationSizeMb: YOUNG_GENERATION_MB },
} as const;

/** The parts of the pool. */
export interface PoolParts {
  /** Number of threads. */
  readonly threads: number;
  /** Number of threads that it begins with; the others are made when jobs wait for one that is kept by another job. */
  readonly first: number;
  /** Module that threads run: its default export takes a Batch. */
  readonly module: URL;
  readonly data: ThreadData;
  /** Connects a thread to the writer. */
  readonly connect: () => WriterChannel;
  /** Takes the counts of plugins. */
  readonly observed: (observations: readonly ObservedValues[]) => void;
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

const ignore = (): void => undefined;

/**
 * The pool of pipeline threads, run by Piscina. The jobs of one turn of the event loop are gathered in batches, and a
 * batch is a task. The task ends with its turn in the thread; a job that takes longer is answered separately, so that
 * no job waits for another. If a job keeps its thread, the other jobs of the thread are run by another one. If a thread
 * ends, the jobs that it was in, or that may have had effects, fail, and Piscina replaces the thread.
 */
export class Pool implements JobRunner {
  readonly #queue = new TaskQueue();
  readonly #piscina: Piscina<Batch, BatchOutcome | undefined>;
  readonly #threads: PoolThreads;
  readonly #stuck: StuckThreads;
  readonly #dispatched = new DispatchedJobs();
  readonly #written = new WrittenOutcomes();
  readonly #lanes: Lanes;
  readonly #log: Log;
  /** Threads that there may be, without those in place of stuck ones. */
  readonly #most: number;
  readonly #gathered: Waiting[] = [];
  /** Jobs without an answer. */
  #load = 0;
  /** Called when all jobs are answered. */
  readonly #whenIdle: (() => void)[] = [];
  #isScheduled = false;
  #isClosing = false;

  /** Long jobs run on all threads but one, their senders in turn, so that short jobs do not wait for them. */
  readonly #longJobs: FairLimiter;
  /** The kinds of jobs that have taken long. */
  readonly costs = new JobCosts();

  constructor({ threads, first, module, data, connect, observed, log }: PoolParts) {
    this.#log = log;
    this.#most = threads;
    this.#lanes = new Lanes(OPTIONS.concurrentTasksPerWorker, threads, this.#dispatched);
    this.#longJobs = new FairLimiter(Math.max(1, threads - 1));
    this.#piscina = new Piscina({
      ...OPTIONS,
      filename: module.href,
      minThreads: first,
      maxThreads: first,
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
        inputs: () => ({ writer: connect(), runs: this.#dispatched.memory }),
        late,
        batchEnded: (id, outcome) => this.#batchEnded(id, outcome),
        observed,
        isBusy: () => this.#load > 0,
        culprits: (error, running) => culpritsOf(error, running, data),
        unresponsive: id => this.#stuck.unresponsive(id),
        responsive: id => this.#stuck.returned(id),
        stalled: running => reportStalled('a pool thread', data, running, log),
        started: (id, progress, outcomes) => {
          this.#written.addThread(id, outcomes);
          this.#stuck.addThread(id, progress);
        },
        ended: (id, why, culprits) => this.#threadEnded(id, why, culprits),
      },
      log,
      data,
    );
    this.#stuck = new StuckThreads(this.#lanes, threads, {
      isBusy: () => this.#load > 0,
      takeOutcomes: () => this.takeOutcomes(),
      isInspected: () => this.#threads.inspection.isOpen,
      isAwaited: (id, running) => this.#dispatched.isAwaited(id, running),
      hasJobs: id => this.#dispatched.hasJobs(id),
      userIn: id => this.#dispatched.culpritOf(id, this.#stuck.runningIn(id)).user,
      move: (id, state) => {
        this.#grow();
        this.#move(id, state);
      },
      distribute: () => this.#distributeAgain(),
      addThread: count => this.#addThread(count),
      retire: id => this.#threads.retire(id),
      threadCount: () => this.#piscina.threads.length,
    });
    this.#lanes.absent = this.#threads.lastId;
  }

  /** Has the threads load their plugins, also those created later. Until then they only load their modules. */
  begin(): void {
    this.#threads.begin();
  }

  /** The times of its threads. */
  get readings(): ThreadReading[] {
    return this.#threads.readings;
  }

  /** Starts the services that plugins of the threads ask. Rejects with the error of one of them. */
  async startServices(services: ReadonlyMap<string, Service>): Promise<void> {
    await this.#threads.services.start(services);
  }

  /** Resolves when jobs can be run, after `begin`: all threads have started but the last. Rejects if one cannot. */
  async ready(): Promise<void> {
    await this.#threads.ready;
  }

  /**
   * Has the last thread start as well. Until then it takes no time from a server that starts: the others run long jobs.
   * Resolves when it is ready. Rejects if it cannot start, in which case another one replaces it.
   */
  async complete(): Promise<void> {
    await this.ready();
    try {
      await this.#threads.beginLast();
    } finally {
      this.#stuck.completed();
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
   * undefined if nothing is left to do. The turn ends when the job no longer keeps the thread, even if a plugin that it
   * has called has not answered, or when it has kept the thread for too long. Resolves and rejects like `run`, and
   * rejects with the error of `take`.
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
      // The user may have become a suspect meanwhile. Then other users do not wait for the job.
      suspects.has(user) ? undefined : await this.#runAlone(user, take, kind),
    );
    return await (answer ? answer() : this.#runApart(user, take, kind));
  }

  /** Runs a job of a suspect: alone, when that does not keep the last thread from other senders. */
  #runApart(user: string, take: () => Awaitable<Job | undefined>, kind?: string): Promise<JobResult | undefined> {
    this.#grow();
    return this.#stuck.runApart(user, () => this.#runAlone(user, take, kind)).then(result => result());
  }

  /**
   * Runs a job alone. Resolves, when it no longer keeps its thread, with a function that returns its result: a promise
   * that is returned directly would be awaited.
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
      // The answer may reject before it is awaited. Without a handler this would end the process.
      answer.catch(ignore);
    });
    return () => answer;
  }

  /** Counts a job. Throws Refusal TooManyRequests if there are too many. */
  #addLoad(): void {
    if (this.#load >= POOL_QUEUE) throw tooBusy();
    this.#load++;
  }

  /** Resolves when all jobs are answered, or after `milliseconds`. */
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

  /** Ends the threads, once their plugins have released their resources. Jobs in flight are refused with 503. */
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
    this.takeOutcomes();
    for (const id of this.#dispatched.ids) this.#refuse(id);
  }

  /**
   * Passes jobs to Piscina as one task. `left` is called when they no longer keep the thread, or have kept it for too
   * long. Refuses them when the pool closes: Piscina, once it has ended its threads, would make another one for them.
   */
  #dispatch(jobs: readonly Waiting[], is: Placement['is'] = 'short', left: () => void = ignore): void {
    const [packed, transferList] = packJobs(jobs.map(({ job }) => job));
    const placement: Placement = { is };
    const isQuiet = is === 'short' && this.#load === 1 && mayBeWritten(jobs);
    const { id, runs } = this.#dispatched.add(jobs, placement, left);
    const batch: Batch = { id, jobs: packed, runs: packRuns(runs), isQuiet };
    place(batch, placement);
    if (this.#isClosing) {
      left();
      this.#refuse(id);
      return;
    }
    this.#stuck.watch();
    this.#threads.watch();
    if (isQuiet) this.#written.expect(id, placement);
    const end = (): void => {
      if (!this.#lanes.end(placement)) return;
      left();
      if (placement.thread !== undefined) this.#stuck.returned(placement.thread);
    };
    this.#piscina.run(batch, { transferList }).then(
      outcome => {
        if (outcome) this.#batchEnded(id, outcome);
        end();
      },
      error => {
        this.#batchFailed(id, error);
        end();
      },
    );
    // Short tasks run on all threads but the youngest.
    if (this.#queue.size > 0 && this.#piscina.threads.length < this.#most - 1) this.#grow();
  }

  /** Takes outcomes that threads have written. To be called before verdicts are taken, which may be on their jobs. */
  takeOutcomes(): void {
    for (let written = this.#written.take(); written; written = this.#written.take()) {
      const { batch, outcome, ms } = written;
      const placement = this.#dispatched.get(batch)?.placement;
      this.#recordCost(batch, ms);
      this.#settle(batch, 0, outcome);
      if (placement?.thread === undefined) continue;
      this.#lanes.hold(placement);
      this.#stuck.returned(placement.thread);
    }
  }

  #recordCost(id: number, ms: number): void {
    const jobs = this.#dispatched.get(id)?.jobs;
    if (jobs)
      this.costs.record(
        jobs.map(waiting => waiting?.kind),
        ms,
      );
  }

  #batchEnded(id: number, { outcomes, ms }: BatchOutcome): void {
    this.#recordCost(id, ms);
    for (const [at, outcome] of unpackOutcomes(outcomes).entries()) if (outcome) this.#settle(id, at, outcome);
    // Piscina's Map of tasks outlives them by some collections, and with each task its result (docs/decisions/0007).
    outcomes.rows = [];
    outcomes.bytes = undefined;
    const dispatched = this.#dispatched.get(id);
    if (dispatched) dispatched.isLate = true;
  }

  /** A batch was rejected, or its thread fails: when that has ended, `#threadEnded` is called. */
  #batchFailed(id: number, error: Error): void {
    const thread = this.#dispatched.get(id)?.placement.thread;
    const isAlive = this.#piscina.threads.some(({ threadId }) => threadId === thread);
    if (thread === undefined || isAlive || !this.#threads.has(thread)) this.#fail(id, error);
  }

  /** Answers a job. */
  #settle(id: number, at: number, outcome: JobOutcome): void {
    const waiting = this.#dispatched.take(id, at);
    if (!waiting) return;
    if (outcome.is === 'failed') this.#rejectJob(waiting, new Error(outcome.message));
    else {
      this.#close(waiting);
      waiting.resolve(outcome);
    }
  }

  #rejectJob(waiting: Waiting, error: Error): void {
    this.#close(waiting);
    waiting.reject(error);
  }

  #close(waiting: Waiting): void {
    this.#removeLoad();
    this.#dispatched.close(waiting);
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
    for (const waiting of this.#dispatched.takeBatch(id)) this.#rejectJob(waiting, error);
  }

  /** Has other threads run the jobs of one that does not return, or has ended, as far as they can. */
  #move(thread: number, state: ThreadState): void {
    const { waiting: culprit, user } = this.#dispatched.culpritOf(thread, this.#stuck.runningIn(thread));
    if (state === 'ended') this.#stuck.blame(thread, user);
    if (culprit) for (const [, { jobs, left }] of this.#dispatched.of(thread)) if (jobs.includes(culprit)) left();
    const { innocent, suspected } = this.#dispatched.takeMovable(thread, state, culprit);
    this.#runElsewhere(innocent);
    for (const jobs of byUser(suspected)) for (const batch of batchesOf(jobs)) this.#retry(batch);
    this.#distributeAgain();
  }

  /** Has Piscina choose threads for waiting batches, which it does by itself only when a task has ended. */
  #distributeAgain(): void {
    this.#queue.clear();
    for (const [id, { placement, left }] of this.#dispatched.of(undefined))
      this.#dispatch(this.#dispatched.takeBatch(id), placement.is, left);
  }

  /** Runs jobs that have not kept their thread. One that has begun for the second time is run alone. */
  #runElsewhere(innocent: Movable['innocent']): void {
    const together: Waiting[] = [];
    for (const { waiting, batch } of innocent) {
      const isAlone = batch.placement.is !== 'short' || (waiting.repeats ?? 0) > 1;
      if (this.#stuck.suspects.has(waiting.user)) this.#moveApart(waiting, batch.left);
      else if (isAlone) this.#dispatch([waiting], 'long', batch.left);
      else together.push(waiting);
    }
    for (const batch of batchesOf(together)) this.#dispatch(batch);
  }

  /** Runs a job of a suspect, which was in a batch with others. */
  #moveApart(waiting: Waiting, left: () => void): void {
    left();
    const run = () => new Promise<void>(done => this.#dispatch([waiting], 'long', done));
    this.#stuck.runApart(waiting.user, run).catch(error => this.#rejectJob(waiting, error));
  }

  /**
   * Runs jobs of a user once more, one of which may have kept its thread: when it is their turn, on a thread that runs
   * no others until the turn is over, so that others do not suffer if it is kept as well.
   */
  #retry(jobs: readonly Waiting[]): void {
    const run = () =>
      runOnceMore(jobs, retried => {
        this.#dispatched.reserveThreadFor(retried);
        this.#dispatch(retried, 'alone');
      });
    const end = (): void => this.#dispatched.reserveThreadFor([]);
    this.#stuck
      .runApart(jobs[0]!.user, () => run().finally(end))
      .catch(error => {
        for (const waiting of jobs) this.#rejectJob(waiting, error);
      });
  }

  /** Makes another thread if the limit allows it, and all present ones have begun. */
  #grow(): void {
    const { length } = this.#piscina.threads;
    if (length < this.#most && this.#lanes.ready.size >= length) this.#addThread(length + 1);
  }

  /** Has Piscina make threads until there are `count`. */
  #addThread(count: number): void {
    this.#piscina.options.maxThreads = count;
    if (this.#isClosing || this.#piscina.threads.length >= count) return;
    const batch: Batch = { id: 0, jobs: packJobs([])[0], runs: [] };
    place(batch, { is: 'none' });
    void this.#piscina.run(batch);
  }

  /** Has other threads run the jobs of one that has ended, as far as they can; the others fail. */
  #threadEnded(thread: number, reason: Error, culprits: Culprits | undefined): void {
    this.takeOutcomes();
    this.#written.deleteThread(thread);
    if (this.#piscina.threads.length === 0) {
      this.#queue.clear();
      for (const id of this.#dispatched.ids) this.#fail(id, reason);
    }
    if (!this.#isClosing) this.#move(thread, 'ended');
    for (const [id] of this.#dispatched.of(thread))
      if (this.#isClosing || !culprits) this.#fail(id, reason);
      else
        for (const waiting of this.#dispatched.takeBatch(id))
          this.#rejectJob(waiting, refuseLost(waiting, culprits, this.#log));
    this.#stuck.threadEnded(thread);
  }
}
