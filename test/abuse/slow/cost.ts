import { Script } from 'node:vm';

/** The most CPU time in milliseconds that one request with a text of 100 KB may take. */
export const LIMIT_MS = 50;
/**
 * Calls that are measured; the least time counts, since compilation, garbage collection and other threads add to it.
 */
const TRIES = 8;
/** Stops functions that are worse than quadratic. */
const TIMEOUT_MS = 20_000;
/** CPU times on a busy machine are up to this many times as long: programs evict each other's caches. */
const BUSY = 3;
/** The part of a text whose time is compared with that of the whole, and how much longer the whole may take. */
const PART = 1 / 4;
const GROWTH = 8;
/** The number of measurements that must find a text slow, since other work of the machine may disturb one. */
const REPEATS = 3;

/**
 * The CPU time in milliseconds of a call with a part of a text: the least of several calls if the first is above the
 * limit.
 */
export type Cost = (part: number, limit: number) => Promise<number>;

const milliseconds = (since: NodeJS.CpuUsage): number => {
  const { user, system } = process.cpuUsage(since);
  return (user + system) / 1000;
};

/**
 * The least CPU time of the process in several calls, in milliseconds; of the first call if that is within the limit.
 */
export async function costOf(run: () => unknown, limit: number): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let i = 0; i < TRIES && least > limit; i++) {
    const before = process.cpuUsage();
    await run();
    least = Math.min(least, milliseconds(before));
  }
  return least;
}

const CALL = new Script('globalThis.__call()');

/** Calls a function that returns at once. Returns false if it does not return in time. */
export function callInTime(run: () => void): boolean {
  Object.assign(globalThis, { __call: run });
  try {
    CALL.runInThisContext({ timeout: TIMEOUT_MS });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return false;
    throw error;
  }
}

/**
 * True if a part of the text takes so little time that the whole stays within the limit even if the time grows with
 * the square of the length. Where it grows faster, the part alone takes seconds.
 */
export const isSurelyQuick = async (cost: Cost, limit = LIMIT_MS): Promise<boolean> =>
  (await cost(PART, Number.POSITIVE_INFINITY)) <= limit * PART ** 2;

/**
 * The CPU time of a text that is slow; undefined for others. A text that takes little longer than the limit on
 * a busy machine is slow only if its time grows faster than its length.
 */
export async function slowness(cost: Cost, limit = LIMIT_MS): Promise<number | undefined> {
  let slowest: number | undefined;
  for (let i = 0; i < REPEATS; i++) {
    const whole = await cost(1, limit);
    if (whole <= limit) return undefined;
    const isLinear = whole < BUSY * limit && whole < GROWTH * (await cost(PART, 0));
    if (isLinear) return undefined;
    slowest = Math.round(whole);
  }
  return slowest;
}
