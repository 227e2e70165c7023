import { readFileSync, readlinkSync } from 'node:fs';
import { basename } from 'node:path';
import type { Thread } from '../api/host.js';

/**
 * Measures how long threads have had a core, which Linux reports: on a busy machine, a thread that takes long may only
 * have waited for one. On other systems, only the elapsed time is known.
 */

/** How long a thread has had a core, and has waited for one, since its start, in milliseconds. */
export interface SchedulingTimes {
  readonly ran: number;
  readonly waited: number;
}

/** The id of this thread in the operating system; 0 if it is not known. */
export function ownNativeId(): number {
  try {
    return Number(basename(readlinkSync('/proc/thread-self')));
  } catch {
    return 0;
  }
}

/** The times of a thread of this process, by its native id; undefined if the operating system does not report them. */
export function schedulingTimesOf(nativeId: number): SchedulingTimes | undefined {
  if (nativeId === 0) return undefined;
  try {
    // See "schedstat" in proc(5): nanoseconds on a core, and of waiting for one.
    const [ran = NaN, waited = NaN] = readFileSync(`/proc/self/task/${nativeId}/schedstat`, 'latin1')
      .split(' ')
      .map(Number);
    return Number.isNaN(ran + waited) ? undefined : { ran: ran / 1e6, waited: waited / 1e6 };
  } catch {
    return undefined;
  }
}

/** How long a thread of the server has worked since it began, in milliseconds. */
export interface ThreadReading {
  readonly thread: Thread;
  /** `threadId`, which no other thread of the process ever has; -1 once it has ended. */
  readonly id: number;
  /** The time in which its event loop has not waited for events. It may have waited for a core instead. */
  readonly busy: number;
  /** The time in which it had a core; undefined if the operating system does not report it. */
  readonly ran: number | undefined;
}

/** A worker, or the globals of this thread. */
interface Loop {
  readonly threadId: number;
  readonly performance: { eventLoopUtilization(): { readonly active: number } };
}

/** Reads the times of a thread. `nativeId` is the result of `ownNativeId` in it; 0 as long as that is not known. */
export const readThread = (thread: Thread, { threadId: id, performance }: Loop, nativeId: number): ThreadReading => ({
  thread,
  id,
  busy: performance.eventLoopUtilization().active,
  ran: schedulingTimesOf(nativeId)?.ran,
});

/**
 * Measures how long a thread has been in one step, by checks at regular intervals. Time spent waiting for a core does
 * not count. The number of checks is counted instead of time, because the process may have been suspended meanwhile.
 */
export class StepTime {
  #looks = 0;
  #first: SchedulingTimes | undefined;

  constructor(
    /** Milliseconds between two checks. */
    readonly interval: number,
    /** Returns the times of the thread. */
    readonly times: () => SchedulingTimes | undefined,
  ) {}

  /** Called when a check finds the thread in another step. */
  restart(): void {
    this.#looks = 0;
  }

  /** Called when a check finds the thread in the same step. Returns the milliseconds for which it has been in it. */
  add(): number {
    const elapsed = ++this.#looks * this.interval;
    if (this.#looks === 1) this.#first = this.times();
    const [first, now] = [this.#first, this.#looks > 1 ? this.times() : undefined];
    if (!first || !now) return elapsed;
    // A thread that is blocked neither runs nor waits for a core; if checks are late, the thread may have run for
    // longer than they count.
    return Math.max(this.interval + now.ran - first.ran, elapsed - (now.waited - first.waited));
  }
}
