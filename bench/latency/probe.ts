/**
 * Preloaded into the servers of benchmarks, in every thread: writes the role of the thread to a file whose name is the
 * thread's id in the operating system, in the directory CAPSTAN_BENCH_THREADS.
 */
import { readlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { roleOf } from './role.js';

const directory = process.env['CAPSTAN_BENCH_THREADS'];

if (directory !== undefined && process.platform === 'linux')
  setImmediate(() => {
    const thread = readlinkSync('/proc/thread-self').split('/').at(-1)!;
    writeFileSync(join(directory, thread), roleOf());
  }).unref();
