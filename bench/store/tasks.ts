import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

/** The measurements of the worker, and their arguments. */
export interface Tasks {
  readonly fill: { readonly path: string; readonly count: number; readonly size: number };
  readonly open: { readonly path: string };
  readonly puts: { readonly path: string; readonly writers: number; readonly size: number; readonly ms: number };
  readonly compaction: { readonly path: string; readonly writers: number; readonly size: number; readonly ms: number };
  /**
   * Commit groups, each with one new object and changes of the same `hot` others; with or without moving objects out
   * of buffers that are mostly garbage.
   */
  readonly churn: { readonly groups: number; readonly hot: number; readonly size: number; readonly tidy: boolean };
  readonly etcdPuts: { readonly url: string; readonly writers: number; readonly size: number; readonly ms: number };
}

/** Its results; times in milliseconds. */
export interface Measured {
  readonly ms?: number;
  readonly cpuMs?: number;
  readonly residentMb?: number;
  readonly heapMb?: number;
  readonly perSecond?: number;
  readonly p50?: number;
  readonly p99?: number;
  readonly worst?: number;
  /** The same without the concurrent work. */
  readonly alone?: Measured;
}

const WORKER = fileURLToPath(new URL('./worker.js', import.meta.url));

/** Measures in a separate process, so that memory and garbage of other measurements do not count. */
export async function measure<K extends keyof Tasks>(task: K, given: Tasks[K]): Promise<Measured> {
  const { stdout } = await promisify(execFile)(process.execPath, ['--expose-gc', WORKER, task, JSON.stringify(given)]);
  return JSON.parse(stdout) as Measured;
}
