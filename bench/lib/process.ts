import { readFileSync } from 'node:fs';

/** CPU time that a process has used (all of its threads), in microseconds. */
export interface Cpu {
  readonly user: number;
  readonly system: number;
}

/** Microseconds of one tick of `/proc/<pid>/stat`: USER_HZ is 100 on every Linux that Node.js runs on. */
const TICK_US = 10_000;

/** CPU used so far, from `/proc` (proc(5)). Zero where there is no `/proc`. */
export function cpuOf(pid: number): Cpu {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return { user: Number(fields[11]) * TICK_US, system: Number(fields[12]) * TICK_US };
  } catch {
    return { user: 0, system: 0 };
  }
}

/** Resident memory in bytes, from `/proc`. */
export function residentOf(pid: number): number {
  try {
    const kilobytes = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
    return Number(kilobytes ?? 0) * 1024;
  } catch {
    return 0;
  }
}

/**
 * A reading of memory that falls after its garbage was collected, once it has not fallen by more than 1 % for
 * `quietMs`; as it is after `limitMs` at the latest.
 */
export async function settled(read: () => number, quietMs: number, limitMs = 90_000): Promise<number> {
  const began = performance.now();
  let lowest = read();
  for (let since = began; performance.now() - since < quietMs && performance.now() - began < limitMs; ) {
    await new Promise(resolve => setTimeout(resolve, quietMs / 10));
    const now = read();
    if (now >= lowest * 0.99) continue;
    lowest = now;
    since = performance.now();
  }
  return read();
}

/**
 * A server collects garbage of its start a second after it; V8 does so by itself, thread by thread, some 8 s after its
 * last work, and a second time.
 */
const QUIET_MS = 20_000;

/** Resident bytes of a process that has come to rest. */
export const residentAtRest = (pid: number): Promise<number> => settled(() => residentOf(pid), QUIET_MS);
