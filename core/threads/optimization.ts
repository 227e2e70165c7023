import { setFlagsFromString } from 'node:v8';

/** V8's major version: 11 in Node.js 20, 12 in Node.js 22. */
const VERSION = Number.parseInt(process.versions.v8, 10);

/** V8 collects the garbage of a thread that is idle for this long; 8 s by default. */
const IDLE_FLAG = '--gc-memory-reducer-start-delay-ms=60000';

/** The flag with which V8 optimizes functions after a third of the calls; undefined if it has Maglev and needs none. */
function soonerFlag(version: number): string | undefined {
  if (version < 12) return '--interrupt-budget=20000';
  if (version < 13) return '--invocation-count-for-turbofan=1000';
  return undefined;
}

/**
 * Makes V8 optimize the functions of all threads of this process sooner, and keep optimized code for a minute without
 * work, as `IdleCollector` does. Without Maglev, V8 interprets the functions of a request for some thousand requests,
 * which then take two to three times as long; and its collections in idle threads discard optimized code
 * (docs/decisions/0035-optimized-code.md). To be called after the threads have loaded their modules: V8 rejects code
 * caches that were made with other flags (`core/chunk.ts`), so a thread that starts later compiles its modules.
 */
export function keepOptimized(): void {
  setFlagsFromString(IDLE_FLAG);
  const sooner = soonerFlag(VERSION);
  if (sooner !== undefined) setFlagsFromString(sooner);
}
