import { configDefaults, defineConfig } from 'vitest/config';

/** Tests that measure memory: other tests beside them would change what they measure. */
const ALONE = ['test/abuse/memory.test.ts'];

export default defineConfig({
  test: {
    // Native addons and worker threads do not share a process well: one process per file, as many at a time as CI has
    // cores.
    pool: 'forks',
    maxWorkers: 2,
    // Real servers, stores and clients are started by tests; a test that needs longer says so itself.
    testTimeout: 20_000,
    hookTimeout: 30_000,
    teardownTimeout: 10_000,
    projects: [
      {
        extends: true,
        test: {
          name: 'tests',
          include: ['test/**/*.test.ts'],
          exclude: [...configDefaults.exclude, ...ALONE],
          sequence: { groupOrder: 0 },
        },
      },
      { extends: true, test: { name: 'alone', include: ALONE, sequence: { groupOrder: 1 } } },
    ],
  },
});
