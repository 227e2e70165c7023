import { Script } from 'node:vm';

/** The most CPU time in milliseconds that one text may take. */
export const LIMIT_MS = 50;
/** Compilation and garbage collection count too, so that a text is slow only if it is each time. */
const TRIES = 4;
/** Ends what is not quadratic but worse. */
const TIMEOUT_MS = 20_000;

const milliseconds = (since: NodeJS.CpuUsage): number => {
  const { user, system } = process.cpuUsage(since);
  return (user + system) / 1000;
};

/** The least CPU time of the process in some calls; of one call, if that is within the limit. */
export async function costOf(run: () => unknown, limit = LIMIT_MS): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let i = 0; i < TRIES && least > limit; i++) {
    const before = process.cpuUsage();
    await run();
    least = Math.min(least, milliseconds(before));
  }
  return least;
}

const CALL = new Script('globalThis.__call()');

/** The same of a function that returns at once; infinite, if it does not return in time. */
export function costOfCall(run: () => void, limit = LIMIT_MS): number {
  let least = Number.POSITIVE_INFINITY;
  for (let i = 0; i < TRIES && least > limit; i++) {
    Object.assign(globalThis, { __call: run });
    const before = process.cpuUsage();
    try {
      CALL.runInThisContext({ timeout: TIMEOUT_MS });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return Number.POSITIVE_INFINITY;
      throw error;
    }
    least = Math.min(least, milliseconds(before));
  }
  return least;
}
