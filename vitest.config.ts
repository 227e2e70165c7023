import { configDefaults, defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Tests that measure memory: other tests beside them would change what they measure. */
const ALONE = ['test/abuse/memory.test.ts'];
/** Tests with a process of their own: they change it, measure it, or load native code that does not end with them. */
const OWN_PROCESS = [
  'test/abuse/slow*.test.ts',
  'test/audit/auditedExchange.test.ts',
  'test/cel/zone.test.ts',
  'test/conformance/storage/{etcd,rocksdb}.test.ts',
  'test/front/pool.test.ts',
  'test/listener/!(rounds).test.ts',
  'test/plugins/calls.test.ts',
  'test/robustness/run.test.ts',
  'test/server/!(admission|controllers|hanging|log|permissions|programRequests).test.ts',
  'test/storage/{commitLog,encryption,etcdCut,etcdShared,formerLayout,rocksdb*,values}.test.ts',
  'test/threads/{collect,controlThread,serverThread,thread}.test.ts',
  'test/tidy/expressions.test.ts',
];

/** Files that take half a minute or more, some of which are small. */
const LONG = [
  'test/abuse/s',
  'test/clients/kubectl.',
  'test/conformance/storage/etcd.',
  'test/packages/',
  'test/robustness/run.',
  'test/server/etcd.',
  'test/storage/etcd',
  'test/tidy/apiReport.',
  'test/tidy/expressions.',
];

/** Begins with what takes long: the runner begins with large files, and would end with one process at work. */
class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isShort = ({ moduleId }: TestSpecification): number => Number(!LONG.some(name => moduleId.includes(name)));
    const placeOf = ({ project }: TestSpecification): string => `${project.config.sequence.groupOrder} ${project.name}`;
    return (await super.sort(files)).sort((a, b) => placeOf(a).localeCompare(placeOf(b)) || isShort(a) - isShort(b));
  }
}

export default defineConfig({
  test: {
    sequence: { sequencer: LongFirst },
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
          // Beside the last ones of the first group.
          sequence: { groupOrder: 0 },
        },
      },
      { extends: true, test: { name: 'alone', include: ALONE, sequence: { groupOrder: 1 } } },
    ],
  },
});
