import { existsSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { configDefaults, defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Tests that replace what modules of this project import, which transformed modules allow. */
const MOCKING = [
  'test/audit/auditedExchange.test.ts',
  'test/listener/hostile.test.ts',
  'test/storage/rocksdbLogFaults.test.ts',
  'test/threads/controlThread.test.ts',
];
/** Tests with a process of their own: they change it, measure it, or load native code that does not end with them. */
const OWN_PROCESS = [
  'test/abuse/{memory,slow*}.test.ts',
  'test/cel/zone.test.ts',
  'test/conformance/storage/{etcd,rocksdb}.test.ts',
  'test/front/pool.test.ts',
  'test/listener/!(rounds).test.ts',
  'test/plugins/calls.test.ts',
  'test/robustness/run.test.ts',
  'test/server/!(admission|controllers|hanging|log|permissions|programRequests).test.ts',
  'test/storage/{commitLog,encryption,etcdCut,etcdShared,formerLayout,rocksdb*,values}.test.ts',
  'test/threads/{collect,serverThread,thread}.test.ts',
  'test/tidy/expressions.test.ts',
];

/** Files that take half a minute or more, some of which are small. */
const LONG = [
  'test/abuse/memory.',
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
    return (await super.sort(files)).sort(
      (a, b) => a.project.name.localeCompare(b.project.name) || isShort(a) - isShort(b),
    );
  }
}

const root = import.meta.dirname;
/** The built module for an import of a source; undefined for other imports. */
function builtModule(name: string, importer: string): string | undefined {
  const path = relative(root, resolve(dirname(importer), name));
  const built = join(root, 'dist', path);
  return name.startsWith('.') && /^(core|plugins|workers)\/.*\.js$/.test(path) && existsSync(built) ? built : undefined;
}
/**
 * Tests import what `npm test` has built: the test runner would transform more than a thousand modules, and read and
 * run them one by one in each process. When vitest is started without `npm test`, the build may be stale, and tests
 * import the sources: it takes longer, but stack traces and breakpoints are in these.
 */
const built = {
  plugins: [
    {
      name: 'built-modules',
      enforce: 'pre' as const,
      resolveId: (name: string, importer?: string): string | undefined => importer && builtModule(name, importer),
    },
  ],
  test: { server: { deps: { external: [/\/dist\/(core|plugins|workers)\//] } } },
};
const modules = process.env['CAPSTAN_TEST_BUILT'] ? built : { ...built, plugins: [] };

export default defineConfig({
  test: {
    sequence: { sequencer: LongFirst },
    // Servers with native addons and worker threads do not share a process with the test runner.
    pool: 'forks',
    // Two more than CI has cores, because tests wait for sockets, disks and time limits.
    maxWorkers: 4,
    // Only tests that hang take that long, even on a busy machine. A test that needs longer sets its own limit.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    teardownTimeout: 10_000,
    // A condition may become true late on a busy machine. By default, it has a second.
    expect: { poll: { timeout: 30_000 } },
    setupFiles: ['test/support/setup.ts'],
    projects: [
      {
        ...modules,
        extends: true,
        test: {
          ...modules.test,
          name: 'own',
          include: OWN_PROCESS,
          exclude: [...configDefaults.exclude, ...MOCKING],
        },
      },
      {
        extends: true,
        test: { name: 'mocking', include: MOCKING },
      },
      {
        ...modules,
        extends: true,
        test: {
          ...modules.test,
          name: 'shared',
          include: ['test/**/*.test.ts'],
          exclude: [...configDefaults.exclude, ...OWN_PROCESS, ...MOCKING],
          // A process runs one file after another, with the modules that it has loaded and compiled before.
          isolate: false,
        },
      },
    ],
  },
});
