import type { ConformanceTest } from '../../core/testing/index.js';

/** Names of the tests of a suite that fail. */
export async function failing(suite: readonly ConformanceTest[]): Promise<string[]> {
  const failed: string[] = [];
  for (const { name, run } of suite)
    await run().catch(() => {
      failed.push(name);
    });
  return failed;
}
