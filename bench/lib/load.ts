import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Measured, Report, Task } from '../load/tasks.js';
import { type Cpu, cpuOf, residentOf, type ThreadUse, threadsOf, usedBetween } from './process.js';

const GENERATOR = fileURLToPath(new URL('../load/main.js', import.meta.url));

/** Measurements of a task, and its costs in the processes to which requests were sent. */
export interface Loaded extends Measured {
  /** CPU microseconds that the processes used in the measured time. */
  readonly cpu: Cpu;
  /** Resources that the threads of the first process have used in the measured time, by thread id. */
  readonly threads: ReadonlyMap<string, ThreadUse>;
  /** Resident bytes of the processes at the end of that time. */
  readonly resident: number;
}

/** Ids of the processes that serve: one, or several that are measured together. */
export type Pids = number | readonly number[];

const listOf = (pids: Pids): readonly number[] => (typeof pids === 'number' ? [pids] : pids);

/** CPU time that all of the processes have used. */
function cpuOfAll(pids: Pids): Cpu {
  const all = listOf(pids).map(cpuOf);
  return { user: all.reduce((sum, { user }) => sum + user, 0), system: all.reduce((sum, cpu) => sum + cpu.system, 0) };
}

const residentOfAll = (pids: Pids): number => listOf(pids).reduce((sum, pid) => sum + residentOf(pid), 0);

/**
 * Runs a task in its own load generator and measures the processes `pids` meanwhile. `whileIdle` runs between
 * the beginning and the end of an `idle` task.
 */
export function load(task: Task, pids: Pids, whileIdle?: () => Promise<void>): Promise<Loaded> {
  const generator = fork(GENERATOR, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  generator.send(task);
  return resultOf(generator, pids, whileIdle);
}

function resultOf(generator: ChildProcess, pids: Pids, whileIdle?: () => Promise<void>): Promise<Loaded> {
  const [pid = 0] = listOf(pids);
  let before: Cpu = { user: 0, system: 0 };
  let threadsBefore: ReadonlyMap<string, ThreadUse> = new Map();
  return new Promise((resolve, reject) => {
    generator.once('exit', code => reject(new Error(`the load generator ended with ${code}`)));
    generator.on('message', (message: Report) => {
      switch (message.is) {
        case 'begin':
          before = cpuOfAll(pids);
          threadsBefore = threadsOf(pid);
          void whileIdle?.().then(() => generator.send('end'), reject);
          return;
        case 'end': {
          const after = cpuOfAll(pids);
          const cpu = { user: after.user - before.user, system: after.system - before.system };
          const threads = usedBetween(threadsBefore, threadsOf(pid));
          resolve({ ...message.measured, cpu, threads, resident: residentOfAll(pids) });
          return;
        }
        case 'failed':
          reject(new Error(message.message));
      }
    });
  });
}
