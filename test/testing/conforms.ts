import { describe, test } from 'vitest';
import type { ConformanceTest } from '../../core/testing/index.js';

/** Runs the tests of an exported suite. */
export function conforms(name: string, suite: readonly ConformanceTest[]): void {
  describe(name, () => {
    for (const { name: title, run } of suite) test(title, run);
  });
}
