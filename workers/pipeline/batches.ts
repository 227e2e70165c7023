import { threadId } from 'node:worker_threads';
import type { Transaction } from '../../core/api/storage.js';
import type { Batch, BatchOutcome, Job, JobOutcome, LateOutcome, Proposal } from '../../core/threads/messages.js';
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
  readonly operations?: Transaction;
  /** The registry that it was validated by. */
  readonly registry: Context['registry'];
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
      for (const [at, job] of jobs.entries()) void this.#end(batch, at, job).then(take);
    });
    isOver = true;
    return ended;
  }

  /** Runs a job to its end. Never rejects. */
  async #end(batch: number, at: number, job: Job): Promise<Ended> {
    const { registry } = this.context;
    try {
      let operations: Transaction | undefined;
      const outcome = await run(this.context, job, (_id, proposed) => (operations = proposed));
      // Plugins make users. One that cannot be cloned would fail the whole batch, and its thread.
      if (outcome.grant) structuredClone(outcome.grant);
      return { batch, at, job, outcome, operations, registry };
    } catch (error) {
      this.context.log.error({ stack: (error as Error).stack, path: job.path }, 'a request failed unexpectedly');
      return { batch, at, job, outcome: { is: 'failed', message: String(error) }, registry };
    }
  }

  /**
   * Posts the proposals of jobs and returns those that have ended for good. A job with a proposal runs again if kinds
   * have changed since it began, so that nothing is written that the current schema does not allow.
   */
  #leave(ended: readonly Ended[]): readonly Ended[] {
    this.context.catchUp();
    const { registry } = this.context;
    const isCurrent = (one: Ended): boolean => !one.operations || one.registry === registry;
    const leaving = ended.every(isCurrent) ? ended : ended.filter(isCurrent);
    const proposals = leaving.flatMap(({ job, operations }) => (operations ? [{ id: job.id, operations }] : []));
    if (proposals.length > 0) this.outlets.propose(proposals);
    if (leaving.length < ended.length)
      for (const one of ended)
        if (!isCurrent(one)) void this.#end(one.batch, one.at, one.job).then(again => this.#leaveLate(again));
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
