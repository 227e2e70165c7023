import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // Native addons and worker threads do not share a process well: one process per file, as many at a time as CI has
    // cores.
    pool: 'forks',
    maxWorkers: 2,
    // Real servers, stores and clients are started by tests; a test that needs longer says so itself.
    testTimeout: 20_000,
    hookTimeout: 30_000,
    teardownTimeout: 10_000,
  },
});
