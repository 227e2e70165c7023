import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { API_VERSION, ConfigError, Compacted, Refusal, StoreError } from '../../core/api/index.js';
import { checkApiVersion } from '../../core/plugin/load/apiVersion.js';
import { ConfiguredServer } from './support.js';

/* The resolution of `use`, and the copy of `capstan/api` that the plugin gets, in the layouts of package managers. */

const MAPS = '/api/v1/namespaces/default/configmaps';

/** A validator that refuses ConfigMaps with a label of this name, with a Refusal of the copy that it imports. */
const source = (name: string): string => `
import { definePlugin, Refusal, validator } from 'capstan/api';
export default definePlugin({
  name: '${name}',
  parse: () => null,
  contribute: () => [
    validator.of(() => ({
      on: { resources: ['configmaps'] },
      validate: (_change, after) => {
        if (after?.metadata.labels?.['${name}']) throw new Refusal('Forbidden', 'refused by ${name}');
        return [];
      },
    })),
  ],
});`;

/** Writes a package that can only be loaded with `import`, and returns its directory. */
function writePackage(directory: string, name: string): string {
  mkdirSync(directory, { recursive: true });
  const exports = { '.': { import: './index.js' } };
  writeFileSync(join(directory, 'package.json'), JSON.stringify({ name, version: '1.0.0', type: 'module', exports }));
  writeFileSync(join(directory, 'index.js'), source(name));
  return directory;
}

function link(target: string, path: string): void {
  mkdirSync(dirname(path), { recursive: true });
  symlinkSync(target, path);
}

/** A second copy of the interface, as package managers install it for a plugin. */
function copyCapstan(directory: string): void {
  for (const name of ['package.json', 'dist/core/api', 'dist/chunks'])
    cpSync(resolve(name), join(directory, name), { recursive: true });
}

describe('a plugin', () => {
  const server = new ConfiguredServer();
  const modules = join(server.directory, 'node_modules');
  const elsewhere = mkdtempSync(join(tmpdir(), 'capstan-linked-'));

  beforeAll(async () => {
    writePackage(join(modules, 'flat'), 'flat');
    copyCapstan(join(modules, 'flat/node_modules/capstan'));
    const store = join(modules, '.pnpm');
    copyCapstan(join(store, 'capstan@0.1.0/node_modules/capstan'));
    link(writePackage(join(store, 'strict@1.0.0/node_modules/strict'), 'strict'), join(modules, 'strict'));
    link(join(store, 'capstan@0.1.0/node_modules/capstan'), join(store, 'strict@1.0.0/node_modules/capstan'));
    link(writePackage(join(elsewhere, 'linked'), 'linked'), join(modules, 'linked'));
    writeFileSync(join(server.directory, 'file.mjs'), source('file'));
    await server.start({
      plugins: [{ use: 'flat' }, { use: 'strict' }, { use: 'linked' }, { use: './file.mjs' }],
    });
  });
  afterAll(async () => {
    await server.dispose();
    rmSync(elsewhere, { recursive: true });
  });

  test.each([
    ['flat', 'with a second copy of capstan'],
    ['strict', 'in a strict layout of links'],
    ['linked', 'linked from a place without capstan'],
    ['file', 'in a file in a place without capstan'],
  ])('%s, %s, refuses with its own Refusal', async name => {
    const create = (labels: object) => server.call('POST', MAPS, { body: { metadata: { name, labels } } });
    const answer = await create({ [name]: 'x' });
    expect([answer.status, answer.body.message]).toEqual([403, `refused by ${name}`]);
    expect((await create({})).status).toBe(201);
  });

  test('that is installed only next to the server is not found', async () => {
    const other = new ConfiguredServer();
    const ended = await other.start({ plugins: [{ use: 'undici' }] }).catch((error: Error) => error.message);
    await other.dispose();
    expect(ended).toBe(
      `ended with 2:\ncapstan: plugins[0].use: the package undici is not installed in ${other.directory}, nor above, but only beside Capstan, where plugins are not looked for: install it there, or write ./ before a path\n`,
    );
  });

  test('that is a folder, or not compiled, is refused with a hint', async () => {
    const other = new ConfiguredServer();
    writePackage(join(other.directory, 'folder'), 'folder');
    writeFileSync(join(other.directory, 'source.tsx'), '');
    const start = (use: string) => other.start({ plugins: [{ use }] }).catch((error: Error) => error.message);
    expect(await start('./folder')).toMatch(
      /plugins\[0\]\.use: .*: name the module in this folder, or install the package and use its name\n$/,
    );
    expect(await start('./source.tsx')).toMatch(/: compile it to JavaScript, and name the result\n$/);
    await other.dispose();
  });

  test('whose package does not export the module is refused with the reason', async () => {
    const other = new ConfiguredServer();
    writePackage(join(other.directory, 'node_modules/closed'), 'closed');
    const ended = await other.start({ plugins: [{ use: 'closed/inner' }] }).catch((error: Error) => error.message);
    await other.dispose();
    expect(ended).toMatch(/capstan: plugins\[0\]\.use: closed\/inner cannot be loaded: .*'\.\/inner' is not defined/);
  });
});

describe('a CommonJS module', () => {
  // The module from the build, whose hook Node.js can load.
  const { importPlugin } = createRequire(import.meta.url)(
    resolve('dist/core/plugin/load/module.js'),
  ) as typeof import('../../core/plugin/load/module.js');
  const directory = mkdtempSync(join(tmpdir(), 'capstan-cjs-'));
  const alone = mkdtempSync(join(tmpdir(), 'capstan-alone-'));
  const body = `const { definePlugin } = require('capstan/api');
    const plugin = definePlugin({ name: 'p', parse: () => null, contribute: () => [] });`;
  const write = (folder: string, name: string, text: string): string => {
    writeFileSync(join(folder, name), `${body}\n${text}`);
    return pathToFileURL(join(folder, name)).href;
  };
  beforeAll(() => copyCapstan(join(directory, 'node_modules/capstan')));
  afterAll(() => {
    for (const folder of [directory, alone]) rmSync(folder, { recursive: true });
  });

  test.each([
    ['module.exports', 'module.exports = plugin;', ''],
    ['a named export', 'exports.named = plugin;', '#named'],
    ['the default export of a compiled module', 'exports.__esModule = true; exports.default = plugin;', ''],
  ])('can export a plugin as %s', async (_name, text, hash) => {
    const url = write(directory, `${text.length}.cjs`, text);
    expect((await importPlugin(url + hash)).name).toBe('p');
  });

  test('that cannot resolve Capstan is refused with a hint', async () => {
    const url = write(alone, 'p.cjs', 'module.exports = plugin;');
    await expect(importPlugin(url, 'plugins[0]')).rejects.toThrow(
      /^plugins\[0\]\.use: .*: Cannot find module 'capstan\/api': install capstan where this CommonJS module finds it, or use import in place of require$/,
    );
  });
});

describe('instanceof', () => {
  test('recognizes errors of another copy, but not as subclasses or other classes', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'capstan-copy-'));
    copyCapstan(directory);
    const other = createRequire(import.meta.url)(
      join(directory, 'dist/core/api/index.js'),
    ) as typeof import('../../core/api/index.js');
    const { PluginFailure } = await import('../../core/api/index.js');
    rmSync(directory, { recursive: true });
    expect(other.Refusal).not.toBe(Refusal);
    const failure = new other.PluginFailure('p', 'validator', 'failed');
    expect(failure).toBeInstanceOf(Refusal);
    expect(failure).not.toBeInstanceOf(PluginFailure);
    expect(new other.Refusal('Forbidden', '')).toBeInstanceOf(Refusal);
    expect(new other.ConfigError('a', '')).toBeInstanceOf(ConfigError);
    expect(new other.Compacted(3)).toBeInstanceOf(Compacted);
    expect(other.lostData(1, 2)).toBeInstanceOf(StoreError);
    for (const value of [new other.Refusal('Forbidden', ''), new Error('x'), {}, null, undefined, 'x'])
      expect(value instanceof Compacted).toBe(false);
    expect(new PluginFailure('p', 'validator', 'failed')).toBeInstanceOf(PluginFailure);
  });
});

test('a plugin without parse and schema is refused by definePlugin, with the missing member', async () => {
  const { definePlugin } = await import('../../core/api/index.js');
  const given = { name: 'p', contribute: () => [] } as unknown as Parameters<typeof definePlugin>[0];
  expect(() => definePlugin(given)).toThrow('the plugin p needs parse, or config with a schema');
});

describe('apiVersion', () => {
  const plugin = (apiVersion: unknown) =>
    ({ name: 'p', apiVersion, parse: () => null, contribute: () => [] }) as Parameters<typeof checkApiVersion>[0];
  const check = (version: unknown) => () => checkApiVersion(plugin(version), 'plugins[3]', '2.5');

  test.each([[undefined], ['2.0'], ['2.5']])('%s is compatible with version 2.5', version => {
    expect(check(version)).not.toThrow();
  });

  test.each([
    ['1.9', 'needs version 1.9 of capstan/api, and this server has 2.5: install a release of the plugin for version 2'],
    ['2.6', 'needs version 2.6 of capstan/api, and this server has 2.5: install a newer Capstan, or a release of'],
    ['3.0', 'install a newer Capstan, or a release of the plugin for version 2.5'],
    ['2', 'must have an apiVersion like "2.5", or omit it'],
    [2.5, 'must have an apiVersion like "2.5", or omit it'],
  ])('%s is refused with a hint', (version, message) => {
    expect(check(version)).toThrow(ConfigError);
    expect(check(version)).toThrow(/^plugins\[3\]\.use: the plugin p /);
    expect(check(version)).toThrow(message);
  });

  test('is filled in by definePlugin, and checked at the start', async () => {
    const { definePlugin } = await import('../../core/api/index.js');
    expect(definePlugin({ name: 'p', parse: () => null, contribute: () => [] }).apiVersion).toBe(API_VERSION);
    const server = new ConfiguredServer();
    writeFileSync(
      join(server.directory, 'old.mjs'),
      "export default { name: 'old', apiVersion: '99.0', parse: () => null, contribute: () => [] };",
    );
    const ended = await server.start({ plugins: [{ use: './old.mjs' }] }).catch((error: Error) => error.message);
    await server.dispose();
    expect(ended).toMatch(
      /^ended with 2:\ncapstan: plugins\[0\]\.use: the plugin old needs version 99\.0 of capstan\/api/,
    );
  });
});
