import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { pluginsCommand } from '../../core/command/subcommands/plugins.js';
import { PACKAGE_MANAGERS, packageFiles, TOOLS } from '../../core/command/templates/package.js';
import { POINT_TEMPLATES } from '../../core/command/templates/points.js';
import { ownVersion } from '../../core/command/version.js';
import { ConfigError } from '../../core/api/index.js';
import { ConfiguredServer, fixture } from '../plugins/support.js';
import { Captured } from './server.js';

const run = async (...args: readonly string[]): Promise<string[]> => {
  const io = new Captured();
  expect(await pluginsCommand(args, io)).toBe(0);
  return io.lines;
};

describe('plugins list', () => {
  test('shows all plugins of a server in the order in which they are called', async () => {
    const { directory } = new ConfiguredServer();
    const config = join(directory, 'config.yaml');
    const use = fixture('misbehaving', 'ignored');
    writeFileSync(config, JSON.stringify({ plugins: [{ use, timeout: '2s', failurePolicy: 'Ignore' }] }));
    const [heading, ...rows] = await run('list', `--config=${config}`, '--storage-backend=memory');
    expect(heading).toMatch(/^NAME +POINTS +TIMEOUT +FAILURE POLICY +MODULE$/);
    const columns = rows.map(row => row.split(/ {2,}/));
    const own = columns.findIndex(([name]) => name === 'test/ignored');
    expect(columns[own]).toEqual([
      'test/ignored',
      'mutator,validator',
      '2s',
      'Ignore',
      expect.stringMatching(/\/misbehaving\.js#ignored$/),
    ]);
    const names = columns.map(([name]) => name);
    expect(names.slice(0, 2)).toEqual(['storage/memory', 'listener/uws']);
    expect(names.indexOf('system-masters')).toBeLessThan(own);
    expect(names.indexOf('rbac')).toBeGreaterThan(own);
    expect(columns.filter(([, points]) => !points)).toEqual([]);
  });
});

describe('plugin init', () => {
  test.each([
    [[], 'NAME: use: capstan plugin init NAME'],
    [['A'], 'A: must be the name of a package'],
    [['../x'], '../x: must be the name of a package'],
    [
      ['x', '--point=nothing'],
      '--point: must be auditSink, authenticator, authorizer, controller, converter, healthCheck, httpDocuments, ' +
        'httpSite, listener, metrics, mutator, postStartHook, resourceSource, resourceType, service, storage, tokenIssuer, ' +
        'validator, not nothing',
    ],
    [['x', '--what'], '--what: '],
    [['test'], 'is not empty'],
  ])('%j is refused', async (args, message) => {
    const error = await pluginsCommand(['init', ...args], new Captured()).catch((thrown: Error) => thrown);
    expect(error).toBeInstanceOf(ConfigError);
    expect((error as Error).message).toContain(message);
  });

  test.each([
    ['{ "dependencies": ', 'cannot be read as JSON: '],
    ['[]', 'must be an object'],
    ['{ "devDependencies": { "capstan": 1 } }', 'devDependencies must have texts by name'],
  ])('names an invalid package.json in a parent folder: %s', async (text, message) => {
    const cwd = realpathSync(mkdtempSync(join(tmpdir(), 'capstan-init-')));
    try {
      writeFileSync(join(cwd, 'package.json'), text);
      const args = [resolve('dist/core/command/main.js'), 'plugin', 'init', 'mine'];
      const failed = await promisify(execFile)(process.execPath, args, { cwd }).catch(error => error);
      expect(failed).toMatchObject({ code: 2, stderr: expect.stringContaining(`${cwd}/package.json: ${message}`) });
      expect(existsSync(join(cwd, 'mine'))).toBe(false);
    } finally {
      rmSync(cwd, { recursive: true });
    }
  });

  test('uses the same tools as this project', () => {
    const { devDependencies } = JSON.parse(readFileSync('package.json', 'utf8')) as { devDependencies: object };
    expect(devDependencies).toMatchObject(TOOLS);
    for (const point of POINT_TEMPLATES.values()) expect(() => JSON.parse(point.config)).not.toThrow();
    const facts = { name: 'x', capstan: '^1.0.0', source: 'y', manager: PACKAGE_MANAGERS.npm };
    const files = packageFiles(facts, POINT_TEMPLATES.get('validator')!);
    expect(JSON.parse(files.get('package.json')!)).toMatchObject({ peerDependencies: { capstan: '^1.0.0' } });
  });

  test.each([
    ['of the lock file above', 'pnpm-lock.yaml', '', 'pnpm install --ignore-scripts && pnpm test'],
    ['of the lock file above, also under npx', 'yarn.lock', 'npm/10.8.2 node/v20', 'yarn install && yarn test'],
    ['that runs it', 'yarn.lock', 'pnpm/12.21.0 npm/? node/v20', 'pnpm install --ignore-scripts && pnpm test'],
    ['npm otherwise', 'package-lock.json', 'npm/10.8.2 node/v20', 'npm install && npm test'],
  ])('has the commands of the package manager %s', async (_, lockFile, npm_config_user_agent, commands) => {
    const cwd = mkdtempSync(join(tmpdir(), 'capstan-init-'));
    try {
      writeFileSync(join(cwd, lockFile), '');
      const args = [resolve('dist/core/command/main.js'), 'plugin', 'init', 'mine', '--point=resource'];
      const env = { ...process.env, npm_config_user_agent };
      const { stdout } = await promisify(execFile)(process.execPath, args, { cwd, env });
      expect(stdout).toBe(`created mine: a package with a resource\nnext: cd mine && ${commands}\n`);
      expect(readFileSync(join(cwd, 'mine/README.md'), 'utf8')).toContain(commands.split(' && ')[1]);
      const { peerDependencies } = JSON.parse(readFileSync(join(cwd, 'mine/package.json'), 'utf8')) as {
        peerDependencies: object;
      };
      expect(peerDependencies).toEqual({ capstan: `>=${ownVersion()}` });
    } finally {
      rmSync(cwd, { recursive: true });
    }
  });
});

test('another command is refused', async () => {
  await expect(pluginsCommand(['show'], new Captured())).rejects.toThrow('show: use: capstan plugins list');
});
