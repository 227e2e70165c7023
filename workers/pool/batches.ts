import type { Transaction } from '../../core/api/storage.js';
import { setImmediate } from '../../core/runtime/timers.js';
import type { Grant, JobOutcome, JobResult, LateOutcome, Proposal } from '../../core/threads/messages/messages.js';
import type { OwnProgress } from '../../core/threads/progress.js';
import { inRequest, LoggedRequest } from '../../core/plugin/calls/requestScope.js';
import { stackOf } from '../../core/plugin/calls/stack.js';
import type { Context } from './context.js';
import { run as runJob, type RunningJob } from './runJob.js';

/** A job that has ended. */
interface EndedJob extends RunningJob {
  readonly batch: number;
  /** Position of the job in its batch. */
  readonly at: number;
  readonly outcome: JobOutcome;
  /** The proposal to the writer; undefined if there is none. */
  readonly proposed: Omit<Proposal, 'id'> | undefined;
  /** The registry that it was validated by. */
  readonly registry: Context['registry'];
}

/**
 * The error of posting a grant, if any: plugins make its user, and one that cannot be cloned would fail the whole
 * batch, and its thread.
 */
function cloneError(grant: Grant): unknown {
  try {
    structuredClone(grant);
    return undefined;
  } catch (error) {
    return error;
  }
}

/**
 * Resolves when the outcomes of a turn are posted, which happens while promises are resolved: callbacks of `nextTick`
 * run after that. Otherwise a next batch that keeps or ends the thread would hold back outcomes whose proposals were
 * sent.
 */
const untilPosted = (): Promise<void> => new Promise(resolve => process.nextTick(resolve));

/** Writes the outcome of a job to shared memory, if that is possible. */
export type WriteOutcome = (outcome: JobOutcome) => void;

/** The handlers that a runner calls with the proposals and outcomes of jobs. */
export interface BatchHandlers {
  /** Posts proposals to the writer. */
  readonly propose: (proposals: readonly Proposal[]) => void;
  /** Takes outcomes of jobs whose batch was answered before. */
  readonly late: (outcomes: readonly LateOutcome[]) => void;
}

/**
 * Runs batches of jobs, one after another. The outcome and the proposal of a job are sent at the end of the turn of the
 * event loop in which it ends, with those of the other jobs of that turn: no request waits for the plugins of another.
 * A job that the front end gives to another thread meanwhile, because one keeps this thread, is neither begun nor
 * completed here (`Run`).
 */
export class BatchRunner {
  readonly #late: EndedJob[] = [];
  /** Resolves when the turn of the last batch has ended; undefined if none runs. */
  #turn: Promise<void> | undefined;

  constructor(
    readonly context: Context,
    readonly handlers: BatchHandlers,
    readonly progress: OwnProgress,
  ) {}

  /**
   * Runs a batch. Resolves within a turn with an outcome for each job in their order, null for the jobs that take
   * longer, whose outcomes are sent late, and for those that another thread runs. `write` is given for a single job:
   * it is called with the outcome of a proposal before that is sent.
   */
  run(id: number, jobs: readonly RunningJob[], write?: WriteOutcome): Promise<(JobOutcome | null)[]> {
    const turn = this.#turn ? this.#turn.then(() => this.#runTurn(id, jobs, write)) : this.#runTurn(id, jobs, write);
    const over: Promise<void> = turn.then(untilPosted, untilPosted).then(() => {
      if (this.#turn === over) this.#turn = undefined;
    });
    this.#turn = over;
    return turn;
  }

  async #runTurn(
    id: number,
    jobs: readonly RunningJob[],
    write: WriteOutcome | undefined,
  ): Promise<(JobOutcome | null)[]> {
    this.context.catchUp();
    const ended = await this.#firstTurn(id, jobs);
    const outcomes: (JobOutcome | null)[] = jobs.map(() => null);
    this.context.catchUp();
    const { settled, proposals } = this.#settle(ended);
    // Before the proposal is sent: its verdict wakes the front end, which then needs the outcome.
    if (proposals.length > 0) write?.(settled[0]!.outcome);
    this.#propose(proposals);
    for (const { at, outcome } of settled) outcomes[at] = outcome;
    return outcomes;
  }

  /**
   * Starts jobs, each when the previous one has ended or waits for something outside of the thread: callbacks that
   * `nextTick` is given while promises are resolved come after all of them. Returns the jobs that end in this turn; the
   * outcomes of the others are sent when they end.
   */
  #firstTurn(batch: number, jobs: readonly RunningJob[]): Promise<readonly EndedJob[]> {
    const ended: EndedJob[] = [];
    let isOver = false;
    let waiting = 0;
    const take = (one: EndedJob): void => {
      waiting--;
      if (isOver) this.#settleLate(one);
      else ended.push(one);
    };
    return new Promise(resolve => {
      const end = (): void => {
        isOver = true;
        resolve(ended);
      };
      const startFrom = (first: number): void => {
        let at = first;
        while (at < jobs.length && !jobs[at]!.run.begin()) at++;
        if (at < jobs.length) {
          waiting++;
          this.progress.step(jobs[at]!.run);
          this.#start(batch, at, jobs[at]!, take);
          queueMicrotask(() => process.nextTick(startFrom, at + 1));
          return;
        }
        this.progress.step();
        if (waiting === 0) end();
        else setImmediate(end);
      };
      startFrom(0);
    });
  }

  /** Runs a job, and calls `take` when it has ended. */
  #start(batch: number, at: number, { job, run }: RunningJob, take: (ended: EndedJob) => void): void {
    const { registry } = this.context;
    const request = new LoggedRequest(job.method, job.path, job.auditId, job.trace);
    let proposed: EndedJob['proposed'];
    const leave = (outcome: JobOutcome, found?: EndedJob['proposed']): void => {
      run.end();
      take({ batch, at, job, run, outcome, proposed: found, registry });
    };
    const fail = (error: unknown): void => {
      this.context.log.error({ ...request.fields, stack: stackOf(error) }, 'a request failed unexpectedly');
      leave({ is: 'failed', message: String(error) });
    };
    const end = (outcome: JobResult): void => {
      const error = outcome.grant && cloneError(outcome.grant);
      if (error) fail(error);
      else leave(outcome, proposed);
    };
    const propose = (operations: Transaction, charges: Proposal['charges']): void => {
      proposed = { operations, charges };
    };
    const begin = (): Promise<JobResult> => runJob(this.context, { job, run }, request, propose);
    // Webhooks are sent its trace, and have no more time than its timeout.
    const concernsCalls = job.trace !== undefined || job.query.includes('timeout=');
    const isTracked = this.context.tracksRequests || concernsCalls;
    (isTracked ? inRequest(request, begin) : begin()).then(end, fail);
  }

  #propose(proposals: readonly Proposal[]): void {
    if (proposals.length > 0) this.handlers.propose(proposals);
  }

  /**
   * The jobs that have ended for good, and their proposals, which are to be sent then. A job with a proposal runs again
   * if kinds have changed since it began, so that nothing is written that the current schema does not allow. A job that
   * another thread runs is left to that thread. The thread must have caught up.
   */
  #settle(ended: readonly EndedJob[]): { readonly settled: EndedJob[]; readonly proposals: Proposal[] } {
    const { registry } = this.context;
    const settled: EndedJob[] = [];
    const proposals: Proposal[] = [];
    for (const one of ended) {
      const { batch, at, job, run, proposed } = one;
      if (proposed && one.registry !== registry) {
        if (run.begin()) this.#start(batch, at, one, again => this.#settleLate(again));
        continue;
      }
      if (proposed) {
        if (!run.makeFinal()) continue;
        proposals.push({ id: job.id, ...proposed, trace: job.trace });
      }
      settled.push(one);
    }
    return { settled, proposals };
  }

  #settleLate(one: EndedJob): void {
    if (this.#late.push(one) > 1) return;
    setImmediate(() => {
      this.context.catchUp();
      const { settled, proposals } = this.#settle(this.#late.splice(0));
      this.#propose(proposals);
      if (settled.length > 0) this.handlers.late(settled.map(({ batch, at, outcome }) => ({ batch, at, outcome })));
    });
  }
}
