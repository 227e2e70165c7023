import { readFileSync, readlinkSync } from 'node:fs';
import { basename } from 'node:path';
import type { Thread } from '../api/host.js';

/*
 * For how long threads have had a core, which Linux tells: on a busy machine, a thread that takes long may only have
 * waited for one. Elsewhere, only the time that has passed is known.
 */

/** For how long a thread has had a core, and has waited for one, since its start, in milliseconds. */
export interface SchedulingTimes {
  readonly ran: number;
  readonly waited: number;
}

/** The id that the operating system gives this thread; 0 if it does not tell. */
export function ownNativeId(): number {
  try {
    return Number(basename(readlinkSync('/proc/thread-self')));
  } catch {
    return 0;
  }
}

/** The times of a thread of this process, by its native id; undefined if the operating system does not tell them. */
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

/** For how long a thread of the server has worked since it began, in milliseconds. */
export interface ThreadReading {
  readonly thread: Thread;
  /** `threadId`, which no other thread of the process ever has; -1 once it has ended. */
  readonly id: number;
  /** The time in which its event loop has not waited for events. It may have waited for a core instead. */
  readonly busy: number;
  /** The time in which it had a core; undefined if the operating system does not tell. */
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
 * For how long a thread has been in one step, found out by looking at regular intervals. The time for which it waits
 * for a core does not count. Looks are counted instead of time, because the process may have been suspended meanwhile.
 */
export class StepTime {
  #looks = 0;
  #first: SchedulingTimes | undefined;

  constructor(
    /** Milliseconds between two looks. */
    readonly interval: number,
    /** Returns the times of the thread. */
    readonly times: () => SchedulingTimes | undefined,
  ) {}

  /** A look has found the thread in another step. */
  restart(): void {
    this.#looks = 0;
  }

  /** A look has found the thread in the same step. Returns the milliseconds for which it has been in it. */
  add(): number {
    const elapsed = ++this.#looks * this.interval;
    if (this.#looks === 1) this.#first = this.times();
    const [first, now] = [this.#first, this.#looks > 1 ? this.times() : undefined];
    if (!first || !now) return elapsed;
    // A thread that is blocked neither runs nor waits for a core; one whose looks are late runs for longer than these.
    return Math.max(this.interval + now.ran - first.ran, elapsed - (now.waited - first.waited));
  }
}
