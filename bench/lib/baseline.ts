import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { BaselineReply, BaselineTask } from '../baseline/tasks.js';
import type { Target } from './target.js';

const BASELINE = fileURLToPath(new URL('../baseline/main.js', import.meta.url));

async function startProcess(task: BaselineTask): Promise<{ child: ChildProcess; reply: BaselineReply }> {
  const child = fork(BASELINE, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  child.send(task);
  const failed = once(child, 'exit').then(([code]) => {
    throw new Error(`the baseline ended with ${code}`);
  });
  const [reply] = (await Promise.race([once(child, 'message'), failed])) as [BaselineReply];
  failed.catch(() => {});
  return { child, reply };
}

async function stopProcess(child: ChildProcess): Promise<void> {
  const exited = once(child, 'exit');
  child.disconnect();
  await exited;
}

/** Starts a baseline that listens. */
export async function startBaseline(task: BaselineTask): Promise<Target> {
  const { child, reply } = await startProcess(task);
  if (reply.is !== 'listening') throw new Error('the baseline does not listen');
  const tls = 'cert' in task && task.cert !== undefined;
  return { pid: child.pid ?? 0, host: '127.0.0.1', port: reply.port, tls, close: () => stopProcess(child) };
}

/** Runs a baseline that measures itself. */
export async function runBaseline(task: BaselineTask): Promise<Extract<BaselineReply, { is: 'done' }>> {
  const { child, reply } = await startProcess(task);
  await stopProcess(child);
  if (reply.is !== 'done') throw new Error('the baseline did not measure');
  return reply;
}
