import { describe, expect, test } from 'vitest';

interface Source {
  readonly path: string;
  readonly text: string;
}
const script = new URL('../../scripts/check/style.mjs', import.meta.url).href;
const { faultsIn } = (await import(script)) as {
  faultsIn(sources: readonly Source[], others: readonly Source[], sections: ReadonlySet<string>): string[];
};
const faults = (text: string, path = 'core/model/it.ts', others: readonly Source[] = []): string[] =>
  faultsIn([{ path, text }], others, new Set(['Anonymous requests']));

describe('npm run lint finds', () => {
  test.each([
    ['an export without doc comment', 'export interface It {}', 'core/model/it.ts: It has no doc comment'],
    ['an export without use', '/** It. */\nexport const it = 1;', 'no other file uses it, which is exported'],
    ['a wrong citation', '// (spec, "Gone")', 'core/model/it.ts: (spec, "Gone") is no section of the specification'],
    ['a long line', `call(${'argument, '.repeat(13)});`, 'core/model/it.ts:1: the line is longer than 120 columns'],
    ['a long file', 'let a;\n'.repeat(500), 'core/model/it.ts: the file has more than 500 lines'],
  ])('%s', (_what, text, fault) => {
    expect(faults(text)).toEqual([expect.stringContaining(fault)]);
  });

  test('a large folder', () => {
    const sources = Array.from({ length: 16 }, (_, i) => ({ path: `core/model/a${i}.ts`, text: '' }));
    expect(faultsIn(sources, [], new Set())).toEqual(['core/model: the folder has 16 source files, more than 15']);
    expect(faultsIn(sources.slice(1), [], new Set())).toEqual([]);
    const scripts = Array.from({ length: 16 }, (_, i) => ({ path: `scripts/a${i}.mjs`, text: '' }));
    expect(faultsIn([], scripts, new Set())).toEqual(['scripts: the folder has 16 source files, more than 15']);
  });

  test('a name in another case', () => {
    expect(faults('', 'core/model/raw-json.ts')).toEqual(['core/model/raw-json.ts: the name is not in camel case']);
  });

  test('nothing if the rules are followed', () => {
    const use = [{ path: 'scripts/a.mjs', text: 'it()' }];
    const text = '/** It does (spec, "Anonymous requests"). */\nexport function it(): void {}\n';
    expect(faults(text, 'core/model/it.ts', use)).toEqual([]);
    expect(faults(`const text = '${'long '.repeat(40)}';`)).toEqual([]);
  });
});
