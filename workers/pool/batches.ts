import type { Transaction } from '../../core/api/storage.js';
import { setImmediate } from '../../core/runtime/timers.js';
import type { Grant, Job, JobOutcome, JobResult, LateOutcome, Proposal } from '../../core/threads/messages/messages.js';
import { isKept, type OwnProgress, SENT } from '../../core/threads/progress.js';
import { inRequest, LoggedRequest } from '../../core/plugin/calls/requestScope.js';
import { stackOf } from '../../core/plugin/calls/stack.js';
import type { Context } from './context.js';
import { run } from './runJob.js';

/** A job that has ended. */
interface EndedJob {
  readonly batch: number;
  /** Position of the job in its batch. */
  readonly at: number;
  readonly job: Job;
  readonly outcome: JobOutcome;
  /** What it proposes to the writer. */
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
 * Jobs that the front end takes meanwhile, because one keeps the thread, are neither begun nor completed.
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
   * longer, whose outcomes are sent late, and for those that were taken.
   */
  run(id: number, jobs: readonly Job[]): Promise<(JobOutcome | null)[]> {
    const turn = this.#turn ? this.#turn.then(() => this.#runTurn(id, jobs)) : this.#runTurn(id, jobs);
    const end = (): void => {
      if (this.#turn === over) this.#turn = undefined;
    };
    const over = turn.then(end, end);
    this.#turn = over;
    return turn;
  }

  async #runTurn(id: number, jobs: readonly Job[]): Promise<(JobOutcome | null)[]> {
    this.context.catchUp();
    const ended = await this.#firstTurn(id, jobs);
    const outcomes: (JobOutcome | null)[] = jobs.map(() => null);
    this.context.catchUp();
    const { position } = this.progress;
    const isOwn = this.progress.advance(id, SENT, 0);
    const own = isOwn ? ended : ended.filter(({ at }) => isKept(position, id, at));
    for (const { at, outcome } of this.#settle(own)) outcomes[at] = outcome;
    return outcomes;
  }

  /**
   * Starts jobs, each when the one before has ended or waits for something outside of the thread: what `nextTick` is
   * given while promises are resolved comes after all of them. Returns the jobs that end in this turn; the outcome of
   * each other one is sent when it ends.
   */
  #firstTurn(batch: number, jobs: readonly Job[]): Promise<readonly EndedJob[]> {
    const ended: EndedJob[] = [];
    let isOver = false;
    let waiting = 0;
    const take = (one: EndedJob): void => {
      waiting &= ~(1 << one.at);
      if (isOver) this.#settleLate(one);
      else ended.push(one);
    };
    return new Promise(resolve => {
      const end = (): void => {
        isOver = true;
        resolve(ended);
      };
      const startFrom = (at: number): void => {
        if (at < jobs.length && this.progress.advance(batch, at, waiting)) {
          waiting |= 1 << at;
          this.#start(batch, at, jobs[at]!, take);
          queueMicrotask(() => process.nextTick(startFrom, at + 1));
        } else if (waiting === 0) end();
        else setImmediate(end);
      };
      startFrom(0);
    });
  }

  /** Runs a job, and calls `take` when it has ended. */
  #start(batch: number, at: number, job: Job, take: (ended: EndedJob) => void): void {
    const { registry } = this.context;
    const request = new LoggedRequest(job.method, job.path, job.auditId, job.trace);
    let proposed: EndedJob['proposed'];
    const fail = (error: unknown): void => {
      this.context.log.error({ ...request.fields, stack: stackOf(error) }, 'a request failed unexpectedly');
      take({ batch, at, job, outcome: { is: 'failed', message: String(error) }, proposed: undefined, registry });
    };
    const end = (outcome: JobResult): void => {
      const error = outcome.grant && cloneError(outcome.grant);
      if (error) fail(error);
      else take({ batch, at, job, outcome, proposed, registry });
    };
    const propose = (operations: Transaction, charges: Proposal['charges']): void => {
      proposed = { operations, charges };
    };
    const begin = (): Promise<JobResult> => run(this.context, job, request, propose);
    const isTracked = this.context.tracksRequests || job.trace !== undefined;
    (isTracked ? inRequest(request, begin) : begin()).then(end, fail);
  }

  /**
   * Posts the proposals of jobs and returns those that have ended for good. A job with a proposal runs again if kinds
   * have changed since it began, so that nothing is written that the current schema does not allow. The thread must
   * have caught up.
   */
  #settle(ended: readonly EndedJob[]): readonly EndedJob[] {
    const { registry } = this.context;
    const settled: EndedJob[] = [];
    const proposals: Proposal[] = [];
    for (const one of ended) {
      const { batch, at, job, proposed } = one;
      if (proposed && one.registry !== registry) {
        this.#start(batch, at, job, again => this.#settleLate(again));
        continue;
      }
      if (proposed) proposals.push({ id: job.id, ...proposed, trace: job.trace });
      settled.push(one);
    }
    if (proposals.length > 0) this.handlers.propose(proposals);
    return settled;
  }

  #settleLate(one: EndedJob): void {
    if (this.#late.push(one) > 1) return;
    setImmediate(() => {
      this.context.catchUp();
      const settled = this.#settle(this.#late.splice(0));
      if (settled.length > 0) this.handlers.late(settled.map(({ batch, at, outcome }) => ({ batch, at, outcome })));
    });
  }
}
