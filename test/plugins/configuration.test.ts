import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, test } from 'vitest';
import type { ConfigError } from '../../core/api/index.js';
import type { Settings } from '../../core/index.js';
import { startServer } from '../server/library.js';
import { ConfiguredServer, fixture } from './support.js';

/* Sentences of docs/guides/plugins.md about `parse`, `contribute`, `make`, and how a configuration names a plugin. */

const directory = mkdtempSync(join(tmpdir(), 'capstan-configuration-'));
afterAll(() => rmSync(directory, { recursive: true }));
let files = 0;
const newFile = (): string => {
  const file = join(directory, `file-${files++}`);
  writeFileSync(file, '');
  return file;
};
const linesOf = (file: string): string[] => readFileSync(file, 'utf8').split('\n').filter(Boolean);

type Plugins = Settings['plugins'];
const start = (plugins: Plugins) => startServer({ storage: 'memory', port: 0, plugins });
const starts = async (plugins: Plugins): Promise<void> => (await start(plugins)).close();
const refusal = (plugins: unknown): Promise<Error> =>
  start(plugins as Plugins).then(
    async server => {
      await server.close();
      throw new Error('it started');
    },
    (error: Error) => error,
  );
const config = { how: '' };

describe('parse', () => {
  test.each([
    ['field', 'plugins[1].config.keys[0].user: must be a name (plugin test/strict)'],
    ['whole', 'plugins[1].config: must be a mapping (plugin test/strict)'],
    ['item', 'plugins[1].config[2]: must be a text (plugin test/strict)'],
    ['fault', 'plugins[1].config: plugin test/strict: x is not a function'],
  ])('that throws (%s) fails the start with a line that names the field and the plugin', async (how, message) => {
    const strict = fixture('lifecycle', 'strict');
    const error = await refusal([
      { use: strict, config },
      { use: strict, config: { how } },
    ]);
    expect(error.message).toBe(message);
    expect((error as ConfigError).path).toBe(message.split(': ')[0]);
    expect(error.name).toBe('ConfigError');
  });

  test.each([
    [
      'waits',
      'plugins[0].use: the plugin test/waits: parse must return the settings, not a promise: read files in make',
    ],
    [
      'contributesLater',
      'plugins[0].use: the plugin test/contributesLater: contribute must return a list, not a promise',
    ],
  ])('and contribute must not be asynchronous (%s)', async (name, message) => {
    expect((await refusal([{ use: fixture('lifecycle', name) }])).message).toBe(message);
  });

  test('ends the command with that line and exit code 2', async () => {
    const server = new ConfiguredServer();
    const plugins = [{ use: fixture('lifecycle', 'strict'), config: { how: 'field' } }];
    const ended = await server.start({ plugins }).catch((error: Error) => error.message);
    await server.dispose();
    expect(ended).toBe('ended with 2:\ncapstan: plugins[0].config.keys[0].user: must be a name (plugin test/strict)\n');
  });
});

describe('a schema instead of parse', () => {
  const use = fixture('lifecycle', 'withSchema');

  test('gives contribute the value as the schema reads it', async () => {
    await starts([
      { use, config: { keys: [{ user: 'ann' }] } },
      { use: fixture('lifecycle', 'plainSchema'), config: 'x' },
    ]);
  });

  test.each([
    [{ keys: [{ user: 1 }] }, 'plugins[0].config.keys[0].user: Invalid input: expected string, received number'],
    [undefined, 'plugins[0].config: Invalid input: expected object, received undefined'],
    [
      { keys: 1, level: 'x' },
      'plugins[0].config.keys: Invalid input: expected array, received number; level: Invalid input: ',
    ],
    [{ keys: [], more: 1 }, 'plugins[0].config: Unrecognized key: "more"'],
  ])('%j fails the start with the path of the field and the plugin', async (config, message) => {
    const error = await refusal([{ use, config }]);
    expect(error.message.startsWith(message)).toBe(true);
    expect(error.message.endsWith(' (plugin test/with-schema)')).toBe(true);
  });

  test('must validate synchronously', async () => {
    expect((await refusal([{ use: fixture('lifecycle', 'asyncSchema') }])).message).toBe(
      'plugins[0].config: plugin test/async-schema: the schema of the configuration must validate synchronously',
    );
  });
});

describe('contribute and make', () => {
  test('contribute runs in every thread, make once in each thread that runs the point; parts are released in reverse order', async () => {
    const file = newFile();
    await starts([{ use: fixture('lifecycle'), config: { file } }]);
    const lines = linesOf(file).map(
      line => line.split(' ') as [thread: string, what: string, point: string, kind: string],
    );
    // The main thread, a pool thread, the writer and the control thread.
    expect(
      new Set(lines.filter(([, what]) => what === 'contribute').map(([thread]) => thread)).size,
    ).toBeGreaterThanOrEqual(4);
    const pool = ['authenticator', 'authorizer', 'mutator', 'validator', 'resourceType', 'resourceSource'];
    const points = { front: ['healthCheck', 'resourceType', 'resourceSource'], pool, control: ['controller'] };
    for (const [kind, expected] of Object.entries(points)) {
      const ofKind = lines.filter(line => line[3] === kind);
      for (const thread of new Set(ofKind.map(([id]) => id))) {
        const did = (what: string) =>
          ofKind.filter(line => line[0] === thread && line[1] === what).map(line => line[2]);
        expect(did('make')).toEqual(expected);
        expect(did('release')).toEqual(expected.toReversed());
      }
      expect(ofKind.length).toBeGreaterThan(0);
    }
    expect(lines.some(([, , , kind]) => kind === 'writer')).toBe(false);
  });

  test.each(['front', 'pool', 'control'])(
    'a make that throws in the thread %s fails the start with the name of the plugin; earlier contributions are released',
    async failsIn => {
      const file = newFile();
      const server = start([{ use: fixture('lifecycle'), config: { file, failsIn } }]);
      // The controllers start while the server is already answering.
      const error =
        failsIn === 'control'
          ? await server.then(
              async started => {
                const failed = await started.failed;
                await started.close();
                return failed;
              },
              (thrown: Error) => thrown,
            )
          : await server.catch((thrown: Error) => thrown);
      expect((error as Error).message).toMatch(new RegExp(`^plugin test/lifecycle [(]\\w+[)]: not in ${failsIn}$`));
      const lines = linesOf(file).filter(line => line.endsWith(` ${failsIn}`));
      expect(lines.some(line => line.includes(' make '))).toBe(true);
      // The pool has several threads.
      for (const thread of new Set(lines.map(line => line.split(' ')[0]))) {
        const did = (what: string) => lines.filter(line => line.startsWith(`${thread} ${what} `));
        const released = did('release').map(line => line.replace('release', 'make'));
        expect(released.toReversed()).toEqual(did('make'));
      }
    },
  );

  test('a make that throws a ConfigError ends the command with exit code 2, in every thread', async () => {
    const server = new ConfiguredServer();
    const ended = await server
      .start({ plugins: [{ use: fixture('lifecycle', 'unreadable') }] })
      .catch((error: Error) => error.message);
    await server.dispose();
    expect(ended).toContain('ended with 2:');
    expect(ended).toContain('capstan: plugins[0].config.rules: cannot read /nowhere (plugin test/unreadable)');
  });

  test.each([
    ['wrong', 'the plugin test/wrong must contribute a list of point.of(make)'],
    ['noPlugin', /exports no plugin; export by default the result of definePlugin\({ name, parse, contribute }\)$/],
    ['absent', /exports no plugin/],
  ])('an export that is not a plugin is refused: %s', async (exported, message) => {
    const error = await refusal([{ use: fixture('lifecycle', exported) }]);
    expect(error.message.startsWith('plugins[0].use: ')).toBe(true);
    expect(error.message.slice('plugins[0].use: '.length)).toMatch(message);
  });
});

describe('use', () => {
  const path = fileURLToPath(fixture('lifecycle').split('#')[0]!);
  test('is, in the library, an absolute path, one relative to the working directory, or a file URL', async () => {
    const relativePath = `./${relative(process.cwd(), path)}#strict`;
    await starts([`${path}#strict`, relativePath, fixture('lifecycle', 'strict')].map(use => ({ use, config })));
  });

  test('that cannot be resolved is refused with its position', async () => {
    expect((await refusal([{ use: './nowhere.js' }])).message).toMatch(
      /^plugins\[0]\.use: file:.*nowhere\.js cannot be loaded: /,
    );
    expect((await refusal([{ use: '@nobody/nothing' }])).message).toMatch(
      /^plugins\[0]\.use: the package @nobody\/nothing is not installed in /,
    );
  });

  test('is a path or package relative to the configuration file; a named export follows after #', async () => {
    const server = new ConfiguredServer();
    const own = join(server.directory, 'plugins');
    const installed = join(server.directory, 'node_modules/@example/policies');
    for (const folder of [own, installed]) mkdirSync(folder, { recursive: true });
    const plugin = (name: string): string =>
      `{ name: '${name}', parse: c => console.log('${name}', JSON.stringify(c)), contribute: () => [] }`;
    writeFileSync(join(own, 'mine.mjs'), `export default ${plugin('mine')};`);
    writeFileSync(
      join(installed, 'package.json'),
      '{"name":"@example/policies","type":"module","exports":"./index.js"}',
    );
    writeFileSync(
      join(installed, 'index.js'),
      `export default ${plugin('loose')}; export const strict = ${plugin('strict')};`,
    );
    writeFileSync(
      join(server.directory, 'own.yaml'),
      `plugins: [{ use: ./plugins/mine.mjs }, { use: '@example/policies#strict', config: { level: 3 } }, { use: '@example/policies', config: {level: x} }, { use: ./absent.js }]`,
    );
    // The last one is missing: the others have been loaded by then.
    const command = [
      resolve('dist/core/command/main.js'),
      'serve',
      `--config=${server.directory}/own.yaml`,
      '--storage-backend=memory',
    ];
    const { status, stdout, stderr } = spawnSync(process.execPath, command, { cwd: tmpdir(), encoding: 'utf8' });
    await server.dispose();
    expect([status, stderr]).toEqual([
      2,
      expect.stringMatching(/^capstan: plugins\[3]\.use: file:.*absent\.js cannot be loaded/),
    ]);
    expect(stdout.trim().split('\n').sort()).toEqual(['loose {"level":"x"}', 'mine undefined', 'strict {"level":3}']);
  });
});

describe('config', () => {
  const circle: { self?: unknown } = {};
  circle.self = circle;
  test.each([
    ['a function', { config: { on: () => true } }, 'config.on', 'not a value of type function'],
    ['a date', { config: { list: [1, new Date(0)] } }, 'config.list[1]', 'not a value of type Date'],
    ['a map', { config: new Map() }, 'config', 'not a value of type Map'],
    ['no number', { config: { n: Number.NaN } }, 'config.n', 'not a value of type NaN'],
    ['a BigInt', { config: { n: 1n } }, 'config.n', 'not a value of type bigint'],
    ['a circle', { config: circle }, 'config.self', 'levels deep'],
    [
      'a closure as the plugin',
      { use: { name: 'x' } },
      'use',
      'every thread imports the module, so it cannot be the plugin itself',
    ],
    ['another field', { conf: {} }, 'conf', 'unknown field; a plugin has use, config, timeout, failurePolicy'],
    ['a timeout in seconds', { timeout: 0.5 }, 'timeout', 'must be a time from 1ms to 30s, not 0.5'],
  ])('must be JSON: %s is refused', async (_what, plugin, path, message) => {
    const error = await refusal([{ use: fixture('lifecycle', 'strict'), config, ...plugin }]);
    expect((error as ConfigError).path.startsWith(`plugins[0].${path}`)).toBe(true);
    expect(error.message).toContain(message);
  });

  test('from another realm, with undefined members, is accepted as JSON', async () => {
    const { runInNewContext } = await import('node:vm');
    await starts([
      { use: fixture('lifecycle', 'strict'), config: runInNewContext("({ how: '', list: [1, {}], none: undefined })") },
    ]);
  });
});
