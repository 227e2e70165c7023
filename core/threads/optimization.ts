import { setFlagsFromString } from 'node:v8';

/** V8's major version: 11 in Node.js 20, 12 in Node.js 22. */
const VERSION = Number.parseInt(process.versions.v8, 10);

/** V8 collects the garbage of a thread that is idle for this long; 8 s by default. */
const IDLE_FLAG = '--gc-memory-reducer-start-delay-ms=60000';

/** The flag by which V8 optimizes functions after a third of the calls; undefined if it has Maglev and needs none. */
function soonerFlag(version: number): string | undefined {
  if (version < 12) return '--interrupt-budget=20000';
  if (version < 13) return '--invocation-count-for-turbofan=1000';
  return undefined;
}

/**
 * Has V8 optimize the functions of all threads of this process sooner, and keep optimized code for a minute without
 * work, as `IdleCollector` does. Without Maglev, V8 leaves the functions of a request to its interpreter for some
 * thousand requests, which take two to three times as long meanwhile; and its collections of idle threads lose code
 * that is optimized (docs/decisions/0035-optimized-code.md). To be called when the threads have loaded their modules:
 * V8 refuses code caches that were made with other flags (`core/chunk.ts`), so that a thread which starts later
 * compiles them.
 */
export function keepOptimized(): void {
  setFlagsFromString(IDLE_FLAG);
  const sooner = soonerFlag(VERSION);
  if (sooner !== undefined) setFlagsFromString(sooner);
}
