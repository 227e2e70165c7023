import { threadId } from 'node:worker_threads';
import type { Transaction } from '../../core/api/storage.js';
import type {
  Batch,
  BatchOutcome,
  Grant,
  Job,
  JobOutcome,
  JobResult,
  LateOutcome,
  Proposal,
} from '../../core/threads/messages.js';
import type { Context } from './context.js';
import { run } from './pipeline.js';

/** A job that has ended. */
interface Ended {
  readonly batch: number;
  /** Position of the job in its batch. */
  readonly at: number;
  readonly job: Job;
  readonly outcome: JobOutcome;
  /** What it proposes to the writer. */
  readonly operations: Transaction | undefined;
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

/** Where proposals and outcomes go. */
export interface Outlets {
  readonly propose: (proposals: readonly Proposal[]) => void;
  /** Takes outcomes of jobs whose batch was answered before. */
  readonly late: (outcomes: readonly LateOutcome[]) => void;
}

/**
 * Runs batches of jobs. Outcome and proposal of a job leave at the end of the turn of the event loop in which it ends,
 * with those of the other jobs of that turn: no request waits for the plugins of another.
 */
export class BatchRunner {
  readonly #late: Ended[] = [];

  constructor(
    readonly context: Context,
    readonly outlets: Outlets,
  ) {}

  /** Runs a batch. Resolves within a turn, with null for the jobs that take longer: their outcomes are sent late. */
  async run({ id, jobs }: Batch): Promise<BatchOutcome> {
    this.context.catchUp();
    const ended = await this.#firstTurn(id, jobs);
    const outcomes: (JobOutcome | null)[] = jobs.map(() => null);
    for (const { at, outcome } of this.#leave(ended)) outcomes[at] = outcome;
    return { thread: threadId, outcomes };
  }

  /** Starts jobs. Resolves with those that end in this turn; each of the others leaves late. */
  async #firstTurn(batch: number, jobs: readonly Job[]): Promise<readonly Ended[]> {
    const ended: Ended[] = [];
    let isOver = false;
    await new Promise<void>(resolve => {
      const turn = setImmediate(resolve);
      const take = (one: Ended): void => {
        if (isOver) this.#leaveLate(one);
        else if (ended.push(one) === jobs.length) {
          clearImmediate(turn);
          resolve();
        }
      };
      for (const [at, job] of jobs.entries()) this.#start(batch, at, job, take);
    });
    isOver = true;
    return ended;
  }

  /** Runs a job, and calls `take` when it has ended. */
  #start(batch: number, at: number, job: Job, take: (ended: Ended) => void): void {
    const { registry } = this.context;
    let operations: Transaction | undefined;
    const fail = (error: unknown): void => {
      this.context.log.error({ stack: (error as Error).stack, path: job.path }, 'a request failed unexpectedly');
      take({ batch, at, job, outcome: { is: 'failed', message: String(error) }, operations: undefined, registry });
    };
    const end = (outcome: JobResult): void => {
      const error = outcome.grant && cloneError(outcome.grant);
      if (error) fail(error);
      else take({ batch, at, job, outcome, operations, registry });
    };
    run(this.context, job, (_id, proposed) => {
      operations = proposed;
    }).then(end, fail);
  }

  /**
   * Posts the proposals of jobs and returns those that have ended for good. A job with a proposal runs again if kinds
   * have changed since it began, so that nothing is written that the current schema does not allow.
   */
  #leave(ended: readonly Ended[]): readonly Ended[] {
    this.context.catchUp();
    const { registry } = this.context;
    const leaving: Ended[] = [];
    const proposals: Proposal[] = [];
    for (const one of ended) {
      const { batch, at, job, operations } = one;
      if (operations && one.registry !== registry) {
        this.#start(batch, at, job, again => this.#leaveLate(again));
        continue;
      }
      if (operations) proposals.push({ id: job.id, operations });
      leaving.push(one);
    }
    if (proposals.length > 0) this.outlets.propose(proposals);
    return leaving;
  }

  #leaveLate(one: Ended): void {
    if (this.#late.push(one) > 1) return;
    setImmediate(() => {
      const leaving = this.#leave(this.#late.splice(0));
      if (leaving.length > 0) this.outlets.late(leaving.map(({ batch, at, outcome }) => ({ batch, at, outcome })));
    });
  }
}
