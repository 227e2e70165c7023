/**
 * Runs the code of chunks (`scripts/bundle.mjs`) as scripts, because only scripts can use V8's code cache in Node.js
 * 20: functions that were compiled when the cache was made are not parsed and compiled again by each thread of each
 * start. Modules of a chunk import it; nothing else does.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Script } from 'node:vm';

/** A chunk that this thread has run. */
export interface RunChunk {
  readonly script: Script;
  /** Where its code cache is: the SHA-256 of the code that it is for, then what V8 made. */
  readonly cacheFile: string;
  readonly hash: Buffer;
}

/** The chunks that this thread has run: the build makes their caches of what is compiled (`scripts/codeCache.mjs`). */
export const chunks: RunChunk[] = [];

/** V8's cache for this code, if there is one: V8 itself compares no more than the length of the code. */
function cachedFor(cacheFile: string, hash: Buffer): Buffer | undefined {
  try {
    const cache = readFileSync(cacheFile);
    return cache.subarray(0, hash.length).equals(hash) ? cache.subarray(hash.length) : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Runs the script beside a module of a chunk, which is in ASCII, with the modules that it imports. Returns what it
 * exports. Without a cache that fits, and with one of another version of V8, the script is compiled.
 */
export function runChunk(
  url: string,
  imports: readonly object[],
  importModule: (specifier: string) => Promise<object>,
): Readonly<Record<string, unknown>> {
  const file = fileURLToPath(url).replace(/\.js$/, '.script');
  const code = readFileSync(file);
  const hash = createHash('sha256').update(code).digest();
  const cacheFile = `${file}.cache`;
  const script = new Script(code.toString('latin1'), { filename: file, cachedData: cachedFor(cacheFile, hash) });
  chunks.push({ script, cacheFile, hash });
  const run = script.runInThisContext() as (...given: unknown[]) => Record<string, unknown>;
  return run(url, imports, importModule);
}
