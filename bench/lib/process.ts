import { readdirSync, readFileSync } from 'node:fs';

/** CPU time that a process has used (all of its threads), in microseconds. */
export interface Cpu {
  readonly user: number;
  readonly system: number;
}

/** Microseconds per tick of `/proc/<pid>/stat`: USER_HZ is 100 on every Linux that Node.js runs on. */
const TICK_US = 10_000;

/** CPU time used so far, from `/proc` (proc(5)); zero without `/proc`. */
export function cpuOf(pid: number): Cpu {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return { user: Number(fields[11]) * TICK_US, system: Number(fields[12]) * TICK_US };
  } catch {
    return { user: 0, system: 0 };
  }
}

/** CPU time and context switches of a thread. Times are in microseconds. */
export interface ThreadUse {
  /** On a core. */
  readonly cpu: number;
  /** Ready to run, without a core. */
  readonly waited: number;
  /** The number of wake-ups after a wait: voluntary context switches. */
  readonly wakeUps: number;
  /** The number of times that it lost its core to another thread: involuntary context switches. */
  readonly preemptions: number;
  /** System calls that read or write, which most messages between threads are signaled by. Others are not counted. */
  readonly calls: number;
}

const UNUSED: ThreadUse = { cpu: 0, waited: 0, wakeUps: 0, preemptions: 0, calls: 0 };

/** The number after a name at the beginning of a line of a file of `/proc`; 0 if there is none. */
const numberOf = (text: string, name: string): number =>
  Number.parseInt(
    text
      .split('\n')
      .find(line => line.startsWith(`${name}:`))
      ?.slice(name.length + 1) ?? '0',
    10,
  );

/** The text of a file; '' if it does not exist or may not be read. */
function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

/** The resource use of each thread of a process so far, by thread id, from `/proc` (proc(5)); empty without `/proc`. */
export function threadsOf(pid: number): Map<string, ThreadUse> {
  const threads = new Map<string, ThreadUse>();
  const directory = `/proc/${pid}/task`;
  try {
    for (const id of readdirSync(directory)) {
      const [cpu = 0, waited = 0] = readFileSync(`${directory}/${id}/schedstat`, 'utf8').split(' ').map(Number);
      const status = readFileSync(`${directory}/${id}/status`, 'utf8');
      const io = textOf(`${directory}/${id}/io`);
      threads.set(id, {
        cpu: cpu / 1000,
        waited: waited / 1000,
        wakeUps: numberOf(status, 'voluntary_ctxt_switches'),
        preemptions: numberOf(status, 'nonvoluntary_ctxt_switches'),
        calls: numberOf(io, 'syscr') + numberOf(io, 'syscw'),
      });
    }
  } catch {
    // A thread has ended meanwhile, or the directory does not exist.
  }
  return threads;
}

/** Adds `factor` times what one thread has used to another's. */
export const addUse = (a: ThreadUse, b: ThreadUse, factor = 1): ThreadUse => ({
  cpu: a.cpu + factor * b.cpu,
  waited: a.waited + factor * b.waited,
  wakeUps: a.wakeUps + factor * b.wakeUps,
  preemptions: a.preemptions + factor * b.preemptions,
  calls: a.calls + factor * b.calls,
});

/** The sum of the resource use of several threads. */
export const sumOfUses = (uses: Iterable<ThreadUse>): ThreadUse =>
  [...uses].reduce((sum, use) => addUse(sum, use), UNUSED);

/** The resource use of threads between two results of `threadsOf`. */
export const usedBetween = (
  before: ReadonlyMap<string, ThreadUse>,
  after: ReadonlyMap<string, ThreadUse>,
): Map<string, ThreadUse> => new Map(Array.from(after, ([id, use]) => [id, addUse(use, before.get(id) ?? UNUSED, -1)]));

/** Resident memory in bytes, from `/proc`; zero without `/proc`. */
export function residentOf(pid: number): number {
  try {
    const kilobytes = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
    return Number(kilobytes ?? 0) * 1024;
  } catch {
    return 0;
  }
}

/**
 * Reads a value that decreases while garbage is collected, such as used memory. Returns it once it has not decreased by
 * more than 1 % for `quietMs`, or after `limitMs` at the latest.
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

/** The resident bytes of a process once they have not decreased for `quietMs`. */
export const residentAtRest = (pid: number, quietMs: number): Promise<number> =>
  readAtRest(() => residentOf(pid), quietMs);
