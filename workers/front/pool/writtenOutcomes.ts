import { decodeWritten, type WrittenOutcome } from '../../../core/threads/messages/jobs.js';
import { Ring } from '../../../core/threads/messages/ring.js';
import { frontOf, MAIN_FRONT } from '../../../core/threads/proposalIds.js';
import type { Waiting } from './dispatched.js';
import type { Placement } from './lanes.js';

/**
 * Whether the outcome of jobs may be written: there is only one job, of this thread's front end, which will be woken by
 * the verdict on its proposal. A job that is run once more is answered as soon as possible instead.
 */
export const mayBeWritten = ([first, ...others]: readonly Waiting[]): boolean =>
  others.length === 0 && first !== undefined && !first.run && first.job.id > 0 && frontOf(first.job.id) === MAIN_FRONT;

/** The ring that a thread writes to, and the number of the next message. */
interface Written {
  readonly ring: Ring;
  next: number;
}

/**
 * Outcomes that threads of the pool write to shared memory instead of posting them: those of jobs that were alone in
 * the pool, and have sent a proposal. The front end is woken by the verdict, and takes the outcome before that
 * (docs/decisions/0034).
 */
export class WrittenOutcomes {
  readonly #threads = new Map<number, Written>();
  /** The batch that is waited for. There is one at most: each was alone in the pool. */
  #expected: { readonly id: number; readonly placement: Placement } | undefined;

  /** Adds a thread with the memory to which it writes. */
  addThread(thread: number, memory: SharedArrayBuffer): void {
    this.#threads.set(thread, { ring: new Ring(memory), next: 0 });
  }

  /** Forgets a thread that has ended. */
  deleteThread(thread: number): void {
    this.#threads.delete(thread);
  }

  /** To be called when a batch was dispatched whose thread may write the outcome. */
  expect(id: number, placement: Placement): void {
    this.#expected = { id, placement };
  }

  /** Takes the next outcome that was written; undefined if there is none. */
  take(): WrittenOutcome | undefined {
    const { id, placement } = this.#expected ?? {};
    const thread = placement?.thread === undefined ? undefined : this.#threads.get(placement.thread);
    const bytes = thread?.ring.read(thread.next);
    if (!thread || !bytes) return undefined;
    thread.next = (thread.next + 1) | 0;
    const written = decodeWritten(bytes);
    if (written.batch === id) this.#expected = undefined;
    return written;
  }
}
