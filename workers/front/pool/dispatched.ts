import type { Job, JobResult } from '../../../core/threads/messages/messages.js';
import { isKept, type Position, SENT } from '../../../core/threads/progress.js';
import type { Placement } from './lanes.js';

/** A job without an answer. */
export interface Waiting {
  readonly job: Job;
  /** The kind of job by which its cost is remembered. */
  readonly kind: string | undefined;
  /** Name of the user that it is of; '' for senders without one. */
  readonly user: string;
  readonly resolve: (result: JobResult) => void;
  readonly reject: (error: Error) => void;
  /** Set when it has begun in a thread that could not complete it. */
  isRepeated?: boolean;
}

/** Jobs that were passed to Piscina as one batch. */
export interface Dispatched {
  /** Undefined for a job that was answered, or is run elsewhere. */
  readonly jobs: (Waiting | undefined)[];
  unanswered: number;
  readonly placement: Placement;
  /** Called when the batch does not keep its thread any more, or is not waited for. */
  readonly left: () => void;
  /** Set when the batch has ended before all of its jobs, which go on in its thread. */
  isLate?: boolean;
}

/**
 * The jobs of a batch that can be run by another thread when theirs is at a position: those that have not begun, and
 * those that have changed nothing, because their proposals are not sent. Not those that wait for something outside of
 * the thread, such as a webhook: it may have an effect. Nor the job that keeps the thread.
 */
export function movableJobs(id: number, { jobs, isLate }: Dispatched, position: Position): number[] {
  if (isLate || (position.batch === id && position.at === SENT)) return [];
  return Array.from(jobs.keys()).filter(at => jobs[at] !== undefined && !isKept(position, id, at));
}

/** Whether a job of a batch has begun in a thread that is at a position. */
export const hasBegun = (id: number, at: number, position: Position): boolean =>
  position.batch === id && at < position.at;
