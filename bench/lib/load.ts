import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Measured, Report, Task } from '../load/tasks.js';
import { type Cpu, cpuOf, residentOf, type ThreadUse, threadsOf, usedBetween } from './process.js';

const GENERATOR = fileURLToPath(new URL('../load/main.js', import.meta.url));

/** What a task measured, and what it cost the process it was sent to. */
export interface Loaded extends Measured {
  /** CPU microseconds that the process used in the measured time. */
  readonly cpu: Cpu;
  /** What its threads have used in the measured time, by their ids. */
  readonly threads: ReadonlyMap<string, ThreadUse>;
  /** Resident bytes of the process at its end. */
  readonly resident: number;
}

/**
 * Runs a task in a load generator of its own and measures the process `pid` meanwhile. `whileIdle` runs between begin
 * and end of an `idle` task.
 */
export function load(task: Task, pid: number, whileIdle?: () => Promise<void>): Promise<Loaded> {
  const generator = fork(GENERATOR, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  generator.send(task);
  return resultOf(generator, pid, whileIdle);
}

function resultOf(generator: ChildProcess, pid: number, whileIdle?: () => Promise<void>): Promise<Loaded> {
  let before: Cpu = { user: 0, system: 0 };
  let threadsBefore: ReadonlyMap<string, ThreadUse> = new Map();
  return new Promise((resolve, reject) => {
    generator.once('exit', code => reject(new Error(`the load generator ended with ${code}`)));
    generator.on('message', (message: Report) => {
      switch (message.is) {
        case 'begin':
          before = cpuOf(pid);
          threadsBefore = threadsOf(pid);
          void whileIdle?.().then(() => generator.send('end'), reject);
          return;
        case 'end': {
          const after = cpuOf(pid);
          const cpu = { user: after.user - before.user, system: after.system - before.system };
          const threads = usedBetween(threadsBefore, threadsOf(pid));
          resolve({ ...message.measured, cpu, threads, resident: residentOf(pid) });
          return;
        }
        case 'failed':
          reject(new Error(message.message));
      }
    });
  });
}
