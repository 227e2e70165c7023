/**
 * Runs the code of chunks (`scripts/build/bundle.mjs`) as scripts, because only scripts can use V8's code cache in
 * Node.js 20: functions that were compiled when the cache was made are not parsed and compiled again by each thread of
 * each start. Modules of a chunk import it; nothing else does.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Script } from 'node:vm';

/** A chunk that this thread has run. */
export interface RunChunk {
  readonly script: Script;
  /** The file of its code cache: the key of the code, followed by the cache that V8 has made. */
  readonly cacheFile: string;
  readonly key: Buffer;
}

/**
 * The chunks that this thread has run. The build makes their caches from the functions that are compiled by then
 * (`scripts/build/codeCache.mjs`).
 */
export const chunks: RunChunk[] = [];

/** The program that runs: its version, processor and build settings. */
const PROGRAM = `${process.version} ${process.arch} ${JSON.stringify(process.config.variables)}`;

/**
 * The beginning of the caches of this code: a SHA-256 of the code and of the program. V8 itself compares only the
 * length of the code, its own version without the patches of Node.js, and its flags: a cache of Node.js 20.20 crashes
 * 20.19.
 */
export const cacheKey = (code: Uint8Array, program = PROGRAM): Buffer =>
  createHash('sha256').update(program).update(code).digest();

/**
 * The name of a script in stack traces: its path. V8 before version 12, in Node.js 20, takes the name from the cache
 * instead, which was made on another machine; there, it is the path in the package.
 */
const nameOf = (file: string): string =>
  Number.parseInt(process.versions.v8, 10) < 12 ? `capstan/dist/chunks/${basename(file)}` : file;

/** V8's cache with this key, if there is one. */
function cachedFor(cacheFile: string, key: Buffer): Buffer | undefined {
  try {
    const cache = readFileSync(cacheFile);
    return cache.subarray(0, key.length).equals(key) ? cache.subarray(key.length) : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Runs the script next to a module of a chunk, which is in ASCII, with the modules that it imports. Returns its
 * exports. Without a cache that the same program has made for it, the script is compiled.
 */
export function runChunk(
  url: string,
  imports: readonly object[],
  importModule: (specifier: string) => Promise<object>,
): Readonly<Record<string, unknown>> {
  const file = fileURLToPath(url).replace(/\.js$/, '.script');
  const code = readFileSync(file);
  const key = cacheKey(code);
  const cacheFile = `${file}.cache`;
  const script = new Script(code.toString('latin1'), { filename: nameOf(file), cachedData: cachedFor(cacheFile, key) });
  chunks.push({ script, cacheFile, key });
  const run = script.runInThisContext() as (...given: unknown[]) => Record<string, unknown>;
  return run(url, imports, importModule);
}
