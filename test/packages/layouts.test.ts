import { lstatSync, mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  COMMANDS_MS,
  installCapstan,
  InstalledServer,
  installPnpm,
  newFolder,
  packCapstan,
  packModule,
  runWith,
} from './project.js';

/*
 * How package managers install Capstan and a plugin: strict pnpm, npm install -g and npm link. In each, the plugin is
 * named in the configuration file. Everything is installed from the same two tarballs.
 */

const MAPS = '/api/v1/namespaces/default/configmaps';
const work = newFolder();
let capstan: string;
let plugin: Awaited<ReturnType<typeof packModule>>;

/** Refuses ConfigMaps with a label, with the Refusal that it imports. */
const source = `
import { ConfigError, definePlugin, Refusal, validator } from 'capstan/api';
export default definePlugin({
  name: 'refuses-label',
  parse(config) {
    if (typeof config?.label !== 'string') throw new ConfigError('label', 'must be the key of a label');
    return config;
  },
  contribute: ({ label }) => [
    validator.of(() => ({
      on: { resources: ['configmaps'] },
      validate: (_change, after) => {
        if (after?.metadata.labels?.[label]) throw new Refusal('Forbidden', 'refused by the label');
        return [];
      },
    })),
  ],
});`;
const PLUGINS = '[{ use: refuses-label, config: { label: bad } }]';

const folder = (name: string): string => {
  const path = join(work.path, name);
  mkdirSync(path);
  return path;
};

beforeAll(async () => {
  capstan = await packCapstan();
  plugin = await packModule(
    { name: 'refuses-label', source, manifest: { peerDependencies: { capstan: '*' } } },
    work.path,
  );
}, COMMANDS_MS);
afterAll(() => work.remove());

/** Starts a server, and expects that the plugin refuses labeled objects and no others. */
async function expectRefusals(...start: ConstructorParameters<typeof InstalledServer>): Promise<void> {
  const server = new InstalledServer(...start);
  try {
    await server.ready();
    const create = (labels: object) => server.call('POST', MAPS, { metadata: { generateName: 'a-', labels } });
    const refused = await create({ bad: 'yes' });
    expect([refused.status, refused.body.message]).toEqual([403, 'refused by the label']);
    expect((await create({ good: 'yes' })).status).toBe(201);
  } finally {
    await server.end();
  }
}

/** The error output of a server that fails to start. */
async function errorOf(...start: ConstructorParameters<typeof InstalledServer>): Promise<string> {
  const server = new InstalledServer(...start);
  try {
    await server.ready();
    return 'it started';
  } catch (error) {
    return (error as Error).message;
  } finally {
    await server.end();
  }
}

describe('pnpm, with its strict layout of links', () => {
  let variables: NodeJS.ProcessEnv;
  let project: string;

  beforeAll(async () => {
    variables = await installPnpm();
    project = folder('strict');
    await runWith(variables, project, 'pnpm', 'add', '--ignore-scripts', capstan, plugin.tarball);
  }, COMMANDS_MS);

  test('finds an installed plugin', { timeout: COMMANDS_MS }, async () => {
    await expectRefusals(project, 'pnpm exec capstan', PLUGINS, { variables });
  });

  test('does not find a package that only a dependency has installed, and says where it searched', {
    timeout: COMMANDS_MS,
  }, async () => {
    expect(await errorOf(project, 'pnpm exec capstan', '[{ use: pino }]', { variables })).toContain(
      `capstan: plugins[0].use: the package pino is not installed in ${project}, nor above, but only beside Capstan`,
    );
  });

  test('reports a wrong setting with its plugin and its field', { timeout: COMMANDS_MS }, async () => {
    expect(await errorOf(project, 'pnpm exec capstan', '[{ use: refuses-label }]', { variables })).toContain(
      'capstan: plugins[0].config.label: must be the key of a label (plugin refuses-label)',
    );
  });
});

describe('a global install of Capstan', () => {
  const prefix = join(work.path, 'global');
  const command = join(prefix, 'bin/capstan');
  /** Runs npm with this folder for global and linked packages. */
  const npm = (directory: string, ...args: readonly string[]) =>
    runWith({ npm_config_prefix: prefix }, directory, 'npm', ...args);
  beforeAll(async () => {
    // As `npm install -g` lays it out: dependencies are in the folder of the package.
    const made = folder('made');
    await installCapstan(made);
    const packages = join(prefix, 'lib/node_modules');
    mkdirSync(packages, { recursive: true });
    mkdirSync(join(prefix, 'bin'));
    renameSync(join(made, 'node_modules/capstan'), join(packages, 'capstan'));
    renameSync(join(made, 'node_modules'), join(packages, 'capstan/node_modules'));
    symlinkSync('../lib/node_modules/capstan/dist/core/command/main.js', command);
  }, COMMANDS_MS);

  test('finds a plugin in the folder of the configuration, from any working directory', {
    timeout: COMMANDS_MS,
  }, async () => {
    const project = folder('configured');
    // Only the plugin is installed: it gets the running copy of Capstan.
    await npm(project, 'install', '--legacy-peer-deps', plugin.tarball);
    await expectRefusals(project, command, PLUGINS, { directory: work.path });
  });

  test('does not find a plugin that is also installed globally, and says so', { timeout: COMMANDS_MS }, async () => {
    const project = folder('bare');
    await npm(project, 'install', '-g', '--legacy-peer-deps', plugin.tarball);
    expect(await errorOf(project, command, PLUGINS)).toContain(
      `the package refuses-label is not installed in ${project}, nor above, but only beside Capstan, where plugins are not looked for: install it there`,
    );
  });

  test('finds a file next to the configuration', { timeout: COMMANDS_MS }, async () => {
    const project = folder('file');
    writeFileSync(join(project, 'plugin.mjs'), source);
    await expectRefusals(project, command, '[{ use: ./plugin.mjs, config: { label: bad } }]');
  });

  test('finds a plugin of npm link, with and without its own copy of Capstan', { timeout: COMMANDS_MS }, async () => {
    const project = folder('linking');
    await npm(project, 'link', plugin.folder);
    expect(lstatSync(join(project, 'node_modules/refuses-label')).isSymbolicLink()).toBe(true);
    await expectRefusals(project, command, PLUGINS);
    // As on the machine of its developer: the plugin resolves capstan from its real path, not from that of the link.
    await npm(plugin.folder, 'link', 'capstan');
    await expectRefusals(project, command, PLUGINS);
  });
});
