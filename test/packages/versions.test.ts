import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { API_VERSION } from '../../core/api/index.js';
import { COMMANDS_MS, installCapstan, InstalledServer, newFolder, packCapstan, packModule, run } from './project.js';

/*
 * Two versions of Capstan in one project: that of the server, and another one that a plugin has as its own
 * dependency.
 */

const MAPS = '/api/v1/namespaces/default/configmaps';
const work = newFolder();
const project = newFolder();
/** Capstan 0.1.9 with the same interface, and 9.0.0 with a newer one. */
const OTHERS = [
  { version: '0.1.9', apiVersion: API_VERSION },
  { version: '9.0.0', apiVersion: '9.0' },
] as const;

/** Packs Capstan as another version: a copy of a tarball with other version numbers. */
async function repack(tarball: string, { version, apiVersion }: (typeof OTHERS)[number]): Promise<string> {
  const folder = join(work.path, version);
  const copy = join(folder, 'package');
  mkdirSync(folder);
  await run(folder, 'tar', '-xzf', tarball);
  const replace = (folder: string, text: string, by: string): void => {
    const files = readdirSync(join(copy, folder), { withFileTypes: true }).filter(entry => entry.isFile());
    const read = (name: string) => readFileSync(join(copy, folder, name), 'utf8');
    const found = files.map(({ name }) => name).filter(name => read(name).includes(text));
    expect(found.length, text).toBe(1);
    for (const name of found) writeFileSync(join(copy, folder, name), read(name).replace(text, by));
  };
  const { version: own } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
  replace('.', `"version": "${own}"`, `"version": "${version}"`);
  replace('dist/chunks', `const API_VERSION = "${API_VERSION}"`, `const API_VERSION = "${apiVersion}"`);
  const packed = join(work.path, `capstan-${version}.tgz`);
  await run(folder, 'tar', '-czf', packed, 'package');
  return packed;
}

/** A plugin at many points, which it imports from its own copy, as well as the errors that it throws. */
const source = (name: string): string => `
import {
  authenticator, authorizer, ConfigError, definePlugin, definePoint, defineResource, forbiddenField, healthCheck,
  mutator, Refusal, resourceType, validator,
} from 'capstan/api';

const suffix = definePoint()('${name}/suffix', ['pool'], all => all.map(({ value }) => value).join(''));
const on = { groups: [''], resources: ['configmaps'], operations: ['CREATE'] };

export default definePlugin({
  name: '${name}',
  parse(config) {
    if (config?.bad) throw new ConfigError('bad', 'must be absent');
    return null;
  },
  contribute: () => [
    suffix.of(() => 'from a point of its own'),
    authenticator.of(() => ({
      cacheFor: 'never',
      authenticate(request) {
        if (request.header('authorization') === 'Bearer expired') throw new Refusal('Unauthorized', 'Unauthorized');
        return request.header('authorization') === 'Bearer ann'
          ? { name: 'ann', uid: '', groups: [], extra: new Map() }
          : null;
      },
    })),
    authorizer.of(() => ({
      dependsOn: 'never',
      authorize(user, target) {
        if (target.name === 'refused') throw new Refusal('Forbidden', 'refused by the authorizer');
        return user.name === 'ann' ? { is: 'allow' } : { is: 'noOpinion' };
      },
    })),
    mutator.of(host => ({
      on,
      mutate(_change, draft) {
        if (draft.metadata.name === 'unmutated') throw new Refusal('Forbidden', 'refused by the mutator');
        draft.data = { text: host.at(suffix) };
      },
    })),
    validator.of(() => ({
      on,
      validate(_change, { metadata }) {
        if (metadata.name === 'invalid') return [forbiddenField('metadata.name', 'is forbidden')];
        if (metadata.name === 'refused') throw new Refusal('Forbidden', 'refused by the validator');
        return [];
      },
    })),
    resourceType.of(() =>
      defineResource({ group: 'tea.example.com', kind: 'Tea', plural: 'teas', scope: 'Namespaced' })),
    healthCheck.of(() => ({ name: 'tea', of: ['readyz'], check: () => undefined })),
  ],
});`;

beforeAll(async () => {
  const capstan = await packCapstan();
  const plugins = await Promise.all(
    OTHERS.map(async (other, i) => {
      const dependencies = { capstan: `file:${await repack(capstan, other)}` };
      const name = `plugin-${i}`;
      return (await packModule({ name, source: source(name), manifest: { dependencies } }, work.path)).tarball;
    }),
  );
  await installCapstan(project.path);
  await run(project.path, 'npm', 'install', ...plugins);
}, COMMANDS_MS);
afterAll(() => {
  for (const folder of [work, project]) folder.remove();
}, COMMANDS_MS);

const start = (plugins: string) => new InstalledServer(project.path, 'node_modules/.bin/capstan', plugins);

test('each plugin resolves its own version', () => {
  for (const [i, { version }] of OTHERS.entries()) {
    const file = join(project.path, `node_modules/plugin-${i}/node_modules/capstan/package.json`);
    expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ version });
  }
});

describe('a plugin with another version of Capstan and the same interface', () => {
  let server: InstalledServer;
  beforeAll(async () => {
    server = await start('[{ use: plugin-0 }]').ready();
  }, COMMANDS_MS);
  afterAll(() => server?.end());

  const create = (name: string) => server.call('POST', MAPS, { metadata: { name } });

  test('authenticates, and refuses credentials with its Refusal', async () => {
    expect((await server.call('GET', MAPS, undefined, 'ann')).status).toBe(200);
    expect((await server.call('GET', MAPS, undefined, 'expired')).status).toBe(401);
  });

  test('authorizes, and refuses with its Refusal', async () => {
    const { status, body } = await server.call('GET', `${MAPS}/refused`, undefined, 'ann');
    expect([status, body.message]).toEqual([403, 'refused by the authorizer']);
  });

  test('mutates through its own extension point', async () => {
    expect(await create('one')).toMatchObject({ status: 201, body: { data: { text: 'from a point of its own' } } });
  });

  test.each([
    ['unmutated', 403, 'refused by the mutator'],
    ['refused', 403, 'refused by the validator'],
    ['invalid', 422, 'ConfigMap "invalid" is invalid: metadata.name: Forbidden: is forbidden'],
  ])('refuses the object %s with %d', async (name, status, message) => {
    expect(await create(name)).toMatchObject({ status, body: { message } });
  });

  test('serves its kind, and has its health check', async () => {
    const tea = { apiVersion: 'tea.example.com/v1', kind: 'Tea', metadata: { name: 'a' } };
    expect((await server.call('POST', '/apis/tea.example.com/v1/namespaces/default/teas', tea)).status).toBe(201);
    expect((await server.call('GET', '/readyz/tea')).status).toBe(200);
  });

  test('has no failed calls', () => {
    expect(server.output).not.toContain('the call failed');
  });
});

const errorOf = async (plugins: string): Promise<string> => {
  const server = start(plugins);
  const message = await server.ready().then(
    () => 'it started',
    (error: Error) => error.message,
  );
  await server.end();
  return message;
};

test('a settings error that is thrown by another version names the plugin and the field', {
  timeout: COMMANDS_MS,
}, async () => {
  expect(await errorOf('[{ use: plugin-0, config: { bad: true } }]')).toContain(
    'capstan: plugins[0].config.bad: must be absent (plugin plugin-0)',
  );
});

test('a plugin for a newer interface is refused with the version to install', { timeout: COMMANDS_MS }, async () => {
  expect(await errorOf('[{ use: plugin-1 }]')).toContain(
    `capstan: plugins[0].use: the plugin plugin-1 needs version 9.0 of capstan/api, and this server has ${API_VERSION}: install a newer Capstan, or a release of the plugin for version ${API_VERSION}`,
  );
});
