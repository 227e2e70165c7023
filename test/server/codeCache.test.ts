import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { cacheKey, chunks, runChunk } from '../../core/chunk.js';
import { ServerProcess } from '../command/server.js';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'capstan-code-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

describe('a chunk', () => {
  const run = (code?: string): unknown => {
    const file = join(directory, 'a.script');
    if (code !== undefined) writeFileSync(file, `(function (url, [imported], load) { return { value: ${code} }; })`);
    return runChunk(pathToFileURL(join(directory, 'a.js')).href, [{ two: 2 }], name => import(name)).value;
  };
  const last = () => chunks.at(-1)!;
  const makeCache = (key = last().key): void => {
    const { script, cacheFile } = last();
    writeFileSync(cacheFile, Buffer.concat([key, script.createCachedData()]));
  };

  it('gets its imports and the URL of its module, and returns its exports', () => {
    expect(run('[imported.two, url.endsWith("/a.js"), typeof load]')).toEqual([2, true, 'function']);
    expect(last().script.cachedDataRejected).toBeUndefined();
  });

  it('uses the cache that was made for it', () => {
    run('imported.two');
    makeCache();
    expect(run()).toBe(2);
    expect(last().script.cachedDataRejected).toBe(false);
  });

  it('does not use the cache of other code, even if that has the same length', () => {
    run('imported.two + 1');
    makeCache();
    expect(run('imported.two + 2')).toBe(4);
    expect(last().script.cachedDataRejected).toBeUndefined();
  });

  it('does not use a cache from another version or build of Node.js, which could crash the process', () => {
    run('imported.two');
    makeCache(cacheKey(readFileSync(join(directory, 'a.script')), 'v20.19.6 x64 {}'));
    expect(run()).toBe(2);
    expect(last().script.cachedDataRejected).toBeUndefined();
  });

  it('runs without a cache if the file has none', () => {
    run('imported.two');
    writeFileSync(last().cacheFile, '');
    expect(run()).toBe(2);
    expect(last().script.cachedDataRejected).toBeUndefined();
  });
});

describe('the code of a chunk that is split', () => {
  interface Split {
    readonly module: string;
    readonly script: string;
  }
  const script = new URL('../../scripts/build/splitChunk.mjs', import.meta.url).href;
  const split = async (code: string): Promise<Split | undefined> => {
    const { splitChunk } = (await import(script)) as { splitChunk(code: string): Split | undefined };
    return splitChunk(code);
  };
  /** Loads a module that imports another one, both split. */
  const load = async (code: string, imported: string): Promise<Record<string, unknown>> => {
    for (const [name, text] of [
      ['a', code],
      ['b', imported],
    ] as const) {
      const { module, script: own } = (await split(text))!;
      writeFileSync(join(directory, `${name}.js`), module);
      writeFileSync(join(directory, `${name}.script`), own);
    }
    writeFileSync(join(directory, 'package.json'), '{"type":"module"}');
    writeFileSync(join(directory, 'run.js'), readFileSync(resolve('dist', 'chunks', 'run.js')));
    writeFileSync(
      join(directory, 'rolldown-runtime.js'),
      readFileSync(resolve('dist', 'chunks', 'rolldown-runtime.js')),
    );
    return (await import(/* @vite-ignore */ pathToFileURL(join(directory, 'a.js')).href)) as Record<string, unknown>;
  };

  it('imports and exports the same, whatever the names are', async () => {
    const loaded = await load(
      `import path, { join as paths } from 'node:path';
import * as whole from './b.js';
import { in as other, f } from "./b.js";
const values = [path.sep, paths('a', 'b'), whole.in, other, f(2)];
const url = import.meta.url, text = \`\${import.meta.url}!\`;
const later = async () => (await import('node:path')).sep;
class Import { import(x) { return x; } }
export { values as default_, url, text, later as do, Import };`,
      `const one = 1;
function f(x) { return this === undefined ? x + one : 0; }
export { one as in, f };`,
    );
    const url = pathToFileURL(join(directory, 'a.js')).href;
    expect(loaded).toMatchObject({ default_: ['/', 'a/b', 1, 1, 3], url, text: `${url}!` });
    expect(await (loaded.do as () => Promise<string>)()).toBe('/');
    expect(new (loaded.Import as new () => { import(x: number): number })().import(4)).toBe(4);
  });

  it('keeps its line numbers, so that stack traces are correct', async () => {
    const loaded = await load(
      'import "./b.js";\n\nconst fail = () => {\n  throw new Error();\n};\nexport { fail };',
      '',
    );
    expect(loaded.fail as () => void).toThrow(
      expect.objectContaining({ stack: expect.stringContaining('a.script:4:9') }),
    );
  });

  it('is in ASCII, and means the same', async () => {
    const code = "const texts = ['µ…', `é\\n`, /^[ä-ü]$/u.test('ö'), 'a\\u{1f600}😀'];\nexport { texts };";
    expect((await split(code))!.script).toMatch(/^[\0-\x7f]*$/);
    const loaded = await load(code, '');
    expect(loaded.texts).toEqual(['µ…', 'é\n', true, 'a😀😀']);
    await expect(split('const text = String.raw`µ`;')).rejects.toThrow('must be in ASCII: String.raw`µ`');
    await expect(split('const pattern = /\\µ/;')).rejects.toThrow('must be in ASCII: \\µ');
  });

  it('must not assign to exported names, and is not split if it has a default export', async () => {
    await expect(split('let a = 1;\nconst set = () => {\n  a = 2;\n};\nexport { a, set };')).rejects.toThrow(
      'variable a',
    );
    await expect(split('let a = 1;\nconst set = () => a++;\nexport { a, set };')).rejects.toThrow('variable a');
    expect(await split('export default 1;')).toBeUndefined();
  });
});

describe('the build', () => {
  const built = resolve('dist', 'chunks');
  const caches = readdirSync(built).filter(name => name.endsWith('.cache'));

  it('creates a code cache for the code of each kind of thread', () => {
    const names = caches.map(name => name.replace(/\d*\.script\.cache$/, ''));
    expect(names).toEqual(expect.arrayContaining(['front', 'pool', 'writer', 'control', 'front-pool']));
    for (const name of caches) {
      const code = readFileSync(join(built, name.replace(/\.cache$/, '')));
      const key = cacheKey(code);
      expect(readFileSync(join(built, name)).subarray(0, key.length).equals(key), name).toBe(true);
    }
  });

  it('creates caches that the threads of a new server use', async () => {
    const report = pathToFileURL(resolve('test', 'server', 'fixtures', 'reportCodeCache.mjs')).href;
    // Without the certificates of other tests, so that the server loads the library that creates certificates.
    mkdirSync(join(directory, 'data', 'pki'), { recursive: true, mode: 0o700 });
    const server = await ServerProcess.start(join(directory, 'data'), [], ['env', `NODE_OPTIONS=--import=${report}`]);
    try {
      const unused = () => caches.filter(name => !server.output.includes(`uses ${name}\n`));
      await expect.poll(unused).toEqual([]);
    } finally {
      await server.end();
    }
  });
});
