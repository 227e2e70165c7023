import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';

/** A program that reports its beginning, and then uses a core permanently. */
const PROGRAM = "process.stdout.write('.', () => { for (;;); })";

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
}

/** Runs `run` next to a number of programs that use the cores, and then ends these. */
export async function withPrograms<T>(count: number, run: () => Promise<T>): Promise<T> {
  const programs = Array.from({ length: count }, () =>
    spawn(process.execPath, ['-e', PROGRAM], { stdio: ['ignore', 'pipe', 'inherit'] }),
  );
  try {
    await Promise.all(programs.map(({ stdout }) => once(stdout, 'data')));
    return await run();
  } finally {
    await Promise.all(programs.map(stop));
  }
}
