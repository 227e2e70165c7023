import { isMainThread } from 'node:worker_threads';

/**
 * The role of this thread of a server, derived from the module that it runs. Node.js sets that after preloaded modules
 * have run, so they call this later.
 */
export function roleOf(): string {
  if (isMainThread) return 'front end';
  const thread = /workers\/(pool|writer|control)\//.exec(process.argv[1] ?? '')?.[1];
  return thread ?? 'pool';
}
