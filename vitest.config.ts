import { configDefaults, defineConfig } from 'vitest/config';

/** Tests that measure memory: other tests beside them would change what they measure. */
const ALONE = ['test/abuse/memory.test.ts'];
/** Tests with a process of their own: they change it, measure it, or load native code that does not end with them. */
const OWN_PROCESS = [
  'test/abuse/slow*.test.ts',
  'test/cel/zone.test.ts',
  'test/conformance/storage/{etcd,rocksdb}.test.ts',
  'test/front/pool.test.ts',
  'test/listener/!(rounds).test.ts',
  'test/plugins/calls.test.ts',
  'test/robustness/run.test.ts',
  'test/server/!(admission|controllers|hanging|log|permissions|programRequests).test.ts',
  'test/storage/{commitLog,encryption,etcdCut,etcdShared,formerLayout,rocksdb*,values}.test.ts',
  'test/threads/{collect,controlThread,thread}.test.ts',
  'test/tidy/expressions.test.ts',
];

export default defineConfig({
  test: {
    // Servers with native addons and worker threads do not share a process with the test runner.
    pool: 'forks',
    // Two more than CI has cores, because tests wait for sockets, disks and time limits.
    maxWorkers: 4,
    // Real servers, stores and clients are started by tests; a test that needs longer says so itself.
    testTimeout: 20_000,
    hookTimeout: 30_000,
    teardownTimeout: 10_000,
    setupFiles: ['test/support/setup.ts'],
    projects: [
      {
        extends: true,
        test: {
          name: 'own',
          include: OWN_PROCESS,
          exclude: [...configDefaults.exclude, ...ALONE],
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        test: {
          name: 'shared',
          include: ['test/**/*.test.ts'],
          exclude: [...configDefaults.exclude, ...OWN_PROCESS, ...ALONE],
          // A process runs one file after another, with the modules that it has loaded and compiled before.
          isolate: false,
          sequence: { groupOrder: 1 },
        },
      },
      { extends: true, test: { name: 'alone', include: ALONE, sequence: { groupOrder: 2 } } },
    ],
  },
});
