import { POOL_BATCH, STUCK_JOB_MS } from '../../../core/limits.js';
import { clearTimeout, setTimeout } from '../../../core/runtime/timers.js';
import type { Waiting } from './dispatched.js';

/** Groups jobs by their users. Each job of a sender without a name is a group of its own. */
export function byUser(jobs: readonly Waiting[]): Iterable<Waiting[]> {
  const groups = new Map<unknown, Waiting[]>();
  for (const waiting of jobs) {
    const key = waiting.user === '' ? waiting : waiting.user;
    const group = groups.get(key);
    if (group) group.push(waiting);
    else groups.set(key, [waiting]);
  }
  return groups.values();
}

/** Jobs in batches. */
export function* batchesOf(jobs: readonly Waiting[]): Generator<readonly Waiting[]> {
  for (let at = 0; at < jobs.length; at += POOL_BATCH) yield jobs.slice(at, at + POOL_BATCH);
}

/**
 * Has jobs run once more: `dispatch` is called with the jobs to run. Resolves when they are answered, or after
 * STUCK_JOB_MS: a job that keeps its thread has been noticed by then.
 */
export function runOnceMore(jobs: readonly Waiting[], dispatch: (retried: readonly Waiting[]) => void): Promise<void> {
  return new Promise(resolve => {
    const timer = setTimeout(resolve, STUCK_JOB_MS).unref();
    let open = jobs.length;
    const answered = (): void => {
      if (--open > 0) return;
      clearTimeout(timer);
      resolve();
    };
    dispatch(jobs.map(waiting => asRetried(waiting, answered)));
  });
}

/** A job that is run once more; `answered` is called when it is answered. */
const asRetried = (waiting: Waiting, answered: () => void): Waiting => ({
  ...waiting,
  isRetried: true,
  resolve(result) {
    answered();
    waiting.resolve(result);
  },
  reject(error) {
    answered();
    waiting.reject(error);
  },
});
