import { readdirSync } from 'node:fs';
import { describe, expect, test } from 'vitest';

/* The tests that `npm test -- --changed` runs. */

const script = new URL('../../scripts/test/changed.mjs', import.meta.url).href;
const changed = (await import(script)) as {
  modules(): object;
  testsFor(files: readonly string[], all: object): string[];
};
/** Read once, since there are thousands of files. */
const all = changed.modules();
const testsFor = (files: readonly string[]): string[] => changed.testsFor(files, all);
const foldersFor = (...files: readonly string[]): string[] => [
  ...new Set(testsFor(files).map(path => path.split('/')[1]!)),
];

describe('a change selects', () => {
  test('the tests that import changed files, directly or indirectly', () => {
    expect(testsFor(['core/runtime/sortedMap.ts'])).toContain('test/model/sortedMap.test.ts');
    expect(testsFor(['plugins/kinds/core/pod/index.ts'])).toContain('test/kinds/podRules.test.ts');
    expect(testsFor(['test/api/support.ts'])).toContain('test/api/watch.test.ts');
  });

  test('tests of a running server in the folders of its subject', () => {
    expect(foldersFor('plugins/kinds/core/pod/index.ts')).not.toContain('storage');
    expect(testsFor(['plugins/kinds/core/pod/index.ts'])).toContain('test/kinds/writes.test.ts');
    expect(foldersFor('plugins/admission/index.ts')).toContain('admission');
    expect(testsFor(['test/plugins/fixtures/lying.ts'])).toContain('test/plugins/lies.test.ts');
  });

  test('a changed test itself, and nothing for a file outside of all programs', () => {
    expect(testsFor(['test/model/platform.test.ts'])).toEqual(['test/model/platform.test.ts']);
    expect(testsFor(['docs/benchmarks.md'])).toEqual([]);
  });

  test('every test if all depend on it', () => {
    const count = readdirSync('test', { recursive: true, encoding: 'utf8' }).filter(name =>
      name.endsWith('.test.ts'),
    ).length;
    expect(testsFor(['package-lock.json'])).toHaveLength(count);
  });
});
