import type { Log } from '../../../core/api/host.js';
import { Refusal } from '../../../core/model/refusal.js';
import { type Culprits, culpritsText } from '../../../core/plugin/calls/blame.js';
import type { Waiting } from './dispatched.js';

/** The work of a job, for messages about a thread that ran no plugin. */
const workOf = ({ job, kind }: Waiting): string =>
  kind?.trim() ?? (job.render ? 'the form of an answer' : 'authentication and authorization');

/**
 * Logs that a job has ended with its thread and is not run again. Returns its answer, 500, which names the plugins that
 * the thread ran; if none is known, or the sender is not, the work of the job.
 */
export function refuseLost(waiting: Waiting, culprits: Culprits, log: Log): Refusal {
  const { job, user, isRetried, repeats = 0 } = waiting;
  const { method, path, auditId } = job;
  const during = (user !== '' && culpritsText(culprits)) || ` during ${workOf(waiting)}`;
  const why =
    isRetried || repeats > 0
      ? `the request was tried twice, and its thread ended${during}`
      : `the thread of the request ended${during}; it is not tried again, because it may have changed something`;
  log.error({ method, path, ...(user !== '' && { user }), auditId, ...culprits }, `a request failed: ${why}`);
  return new Refusal('InternalError', `Internal error occurred: ${why}`, { causes: [{ message: why }] });
}
