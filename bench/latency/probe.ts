/**
 * Preloaded into the servers of benchmarks, in every thread: writes the role of the thread to a file whose name is the
 * thread's id in the operating system, in the directory CAPSTAN_BENCH_THREADS.
 */
import { readlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isMainThread } from 'node:worker_threads';

const directory = process.env['CAPSTAN_BENCH_THREADS'];

/** By the module that the thread runs; Node.js sets it after this one was loaded. */
function roleOf(module: string): string {
  if (isMainThread) return 'front end';
  return /workers\/(store|control)\//.exec(module)?.[1]?.replace('store', 'writer') ?? 'pool';
}

if (directory !== undefined && process.platform === 'linux')
  setImmediate(() => {
    const thread = readlinkSync('/proc/thread-self').split('/').at(-1)!;
    writeFileSync(join(directory, thread), roleOf(process.argv[1] ?? ''));
  }).unref();
