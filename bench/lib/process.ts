import { readdirSync, readFileSync } from 'node:fs';

/** CPU time that a process has used (all of its threads), in microseconds. */
export interface Cpu {
  readonly user: number;
  readonly system: number;
}

/** Microseconds per tick of `/proc/<pid>/stat`: USER_HZ is 100 on every Linux that Node.js runs on. */
const TICK_US = 10_000;

/** CPU time used so far, from `/proc` (proc(5)); zero where there is no `/proc`. */
export function cpuOf(pid: number): Cpu {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return { user: Number(fields[11]) * TICK_US, system: Number(fields[12]) * TICK_US };
  } catch {
    return { user: 0, system: 0 };
  }
}

/** Resources that a thread has used: CPU time in microseconds, and how often it was woken after a wait. */
export interface ThreadUse {
  readonly cpu: number;
  readonly wakeUps: number;
}

/** Resources that the threads of a process have used so far, by their ids, from `/proc`; empty without `/proc`. */
export function threadsOf(pid: number): Map<string, ThreadUse> {
  const threads = new Map<string, ThreadUse>();
  const directory = `/proc/${pid}/task`;
  try {
    for (const id of readdirSync(directory)) {
      const nanoseconds = Number(readFileSync(`${directory}/${id}/schedstat`, 'utf8').split(' ')[0]);
      const status = readFileSync(`${directory}/${id}/status`, 'utf8');
      const wakeUps = Number(/^voluntary_ctxt_switches:\s+(\d+)/m.exec(status)?.[1] ?? 0);
      threads.set(id, { cpu: nanoseconds / 1000, wakeUps });
    }
  } catch {
    // A thread has ended meanwhile, or there is no such directory.
  }
  return threads;
}

/** CPU time and wake-ups of threads between two readings of `threadsOf`. */
export const usedBetween = (
  before: ReadonlyMap<string, ThreadUse>,
  after: ReadonlyMap<string, ThreadUse>,
): Map<string, ThreadUse> =>
  new Map(
    Array.from(after, ([id, { cpu, wakeUps }]) => {
      const earlier = before.get(id);
      return [id, { cpu: cpu - (earlier?.cpu ?? 0), wakeUps: wakeUps - (earlier?.wakeUps ?? 0) }];
    }),
  );

/** Resident memory in bytes, from `/proc`; zero where there is none. */
export function residentOf(pid: number): number {
  try {
    const kilobytes = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
    return Number(kilobytes ?? 0) * 1024;
  } catch {
    return 0;
  }
}

/**
 * Reads a figure that falls while garbage is collected, such as used memory: returns it once it has not fallen by more
 * than 1 % for `quietMs`, or after `limitMs` at the latest.
 */
export async function readAtRest(read: () => number, quietMs: number, limitMs = 90_000): Promise<number> {
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

/** Resident bytes of a process that has come to rest: once they have not fallen for `quietMs`. */
export const residentAtRest = (pid: number, quietMs: number): Promise<number> =>
  readAtRest(() => residentOf(pid), quietMs);
