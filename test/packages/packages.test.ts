import { createServer, type Server } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { PACKAGE_MANAGERS, packageFiles } from '../../core/command/templates/package.js';
import { POINT_TEMPLATES } from '../../core/command/templates/points.js';
import {
  COMMANDS_MS,
  copyExamples,
  installCapstan,
  InstalledServer,
  newFolder,
  packAll,
  packCapstan,
  run,
  write,
} from './project.js';

/*
 * Capstan and the example packages as they are published: packed, installed, configured and used.
 * Packages that npm has not downloaded before come from the registry.
 */

/** A file or folder of the repository that a page names. */
const NAMED = /`((?:core|workers|plugins|test|bench|scripts|docs|examples|dist)\/[\w./-]+\.\w+)`/g;

const work = newFolder();
const workshop = newFolder();
const installed = newFolder();
const tarballs: string[] = [];
let examples: string[];

beforeAll(async () => {
  // A common folder for the tools of all packages, since each would install the same.
  await installCapstan(workshop.path);
  examples = copyExamples(workshop.path);
}, COMMANDS_MS);
afterAll(() => {
  for (const folder of [work, workshop, installed]) folder.remove();
}, COMMANDS_MS);

describe('the tarball of Capstan', () => {
  const root = (): string => join(workshop.path, 'node_modules/capstan');

  test('contains the program and its documents, but neither tests nor benches', () => {
    const firstObjects = ['neutral', 'kubernetes'].map(naming => `dist/core/server/firstObjects.${naming}.json`);
    const others = ['dist/core/command/main.js', 'docs/guides/plugins.md', 'README.md', 'LICENSE'];
    for (const file of [...firstObjects, ...others]) expect(existsSync(join(root(), file)), file).toBe(true);
    for (const folder of ['test', 'bench', 'dist/test', 'dist/bench', 'dist/examples', 'examples/packages'])
      expect(existsSync(join(root(), folder)), folder).toBe(false);
  });

  test('contains all files that its documents link to, and the source files that pages for users name', () => {
    const pages = readdirSync(root(), { recursive: true, encoding: 'utf8' }).filter(
      name => name.endsWith('.md') && !name.includes('node_modules'),
    );
    expect(pages.length).toBeGreaterThan(20);
    const has = (path: string): boolean =>
      existsSync(join(root(), path)) || existsSync(join(root(), 'dist', path.replace(/\.ts$/, '.js')));
    const broken = pages.flatMap(page => {
      const prose = readFileSync(join(root(), page), 'utf8').replace(/^```.*?^```/gms, '');
      const links = [...prose.matchAll(/\]\((?![a-z]+:|#)([^)#\s]+)/g)].map(([, to]) => join(dirname(page), to!));
      // The other pages are about the development of Capstan, and two guides name files of the reader.
      const isForUsers =
        /^(README|docs\/(guides|reference|glossary))/.test(page) && !/(plugin-package|tutorial)\.md$/.test(page);
      const named = isForUsers ? [...prose.matchAll(NAMED)].map(([, path]) => path!) : [];
      return [...links, ...named].filter(path => !has(path)).map(path => `${page}: ${path}`);
    });
    expect(broken).toEqual([]);
  });

  test('exports the entry points of package.json', async () => {
    const { exports } = JSON.parse(readFileSync('package.json', 'utf8')) as { exports: object };
    const names = Object.keys(exports).map(name => name.replace('.', 'capstan').replace('*', 'apps/v1'));
    const program = names.map(name => `await import('${name}');`).join('\n');
    await run(workshop.path, process.execPath, '--input-type=module', '-e', program);
  });
});

const inWorkshop = (...args: readonly string[]) => run(workshop.path, ...(args as [string, ...string[]]));

/** Runs the tests of packages as `npm test` does in each of them, but in one process. */
const runTests = (...files: readonly string[]): Promise<string> =>
  inWorkshop(
    process.execPath,
    '--input-type=module',
    '-e',
    files.map(file => `await import('${pathToFileURL(join(workshop.path, file)).href}');`).join('\n'),
  );

const manifestIn = (folder: string) =>
  JSON.parse(readFileSync(join(workshop.path, folder, 'package.json'), 'utf8')) as {
    readonly scripts: object;
    readonly devDependencies: { readonly capstan: string };
  };

test('every example passes its tests, and can be packed', { timeout: COMMANDS_MS }, async () => {
  expect(examples.length).toBe(3);
  // They are compiled as by `npm test` and `npm pack`, but in one run of the compiler.
  const scripts = { build: 'tsc', test: 'tsc && node --test dist/test/index.test.js', prepack: 'tsc' };
  for (const name of examples) expect(manifestIn(name).scripts).toEqual(scripts);
  await inWorkshop('node_modules/.bin/tsc', '-b', ...examples);
  await runTests(...examples.map(name => `${name}/dist/test/index.test.js`));
  const folders = examples.map(name => `./${name}`);
  tarballs.push(...(await packAll(workshop.path, work.path, '--ignore-scripts', ...folders)));
  expect(tarballs.length).toBe(3);
});

test('plugin init writes a package for each point whose tests pass at once', { timeout: COMMANDS_MS }, async () => {
  const points = [...POINT_TEMPLATES.keys()];
  const folders = points.map(point => `my-${point.toLowerCase()}`);
  const init = ['plugin', 'init', `@example/${folders[0]}`, `--point=${points[0]}`];
  await inWorkshop('node_modules/.bin/capstan', ...init);
  const { capstan } = manifestIn(folders[0]!).devDependencies;
  const from = resolve(workshop.path, folders[0]!, capstan.replace('file:', ''));
  expect(from).toBe(join(workshop.path, basename(await packCapstan())));
  await run(join(workshop.path, folders[0]!), 'npm', 'test');
  // Equivalent to this command and `npm test` for each of the others, with one run of the compiler.
  for (const [i, folder] of folders.entries()) {
    if (i === 0) continue;
    const facts = { name: `@example/${folder}`, capstan: '*', source: capstan, manager: PACKAGE_MANAGERS.npm };
    for (const [path, text] of packageFiles(facts, POINT_TEMPLATES.get(points[i]!)!)) {
      mkdirSync(dirname(join(workshop.path, folder, path)), { recursive: true });
      write(join(workshop.path, folder), path, text);
    }
  }
  const { compilerOptions } = JSON.parse(readFileSync(join(workshop.path, folders[0]!, 'tsconfig.json'), 'utf8')) as {
    compilerOptions: object;
  };
  const include = folders.flatMap(folder => [`${folder}/src`, `${folder}/test`]);
  const options = { ...compilerOptions, rootDir: '.', outDir: 'out' };
  write(workshop.path, 'tsconfig.json', JSON.stringify({ compilerOptions: options, include }));
  await inWorkshop('node_modules/.bin/tsc', '-p', 'tsconfig.json');
  write(join(workshop.path, 'out'), 'package.json', '{ "type": "module" }');
  await runTests(...folders.slice(1).map(folder => `out/${folder}/test/index.test.js`));
});

describe('example packages that are installed next to Capstan', () => {
  let service: Server;
  let server: InstalledServer;

  beforeAll(async () => {
    await installCapstan(installed.path);
    await run(installed.path, 'npm', 'install', ...tarballs);
    service = createServer(async (received, response) => {
      const token = new URLSearchParams(await text(received)).get('token');
      response.end(JSON.stringify(token === 'good' ? { active: true, username: 'ann' } : { active: false }));
    });
    service.listen(0, '127.0.0.1');
    await once(service, 'listening');
    const plugins = `
  - use: '@example/capstan-token-service'
    timeout: 2s
    config: { url: 'http://127.0.0.1:${(service.address() as AddressInfo).port}/', cacheMs: 0 }
  - use: '@example/capstan-grants'
  - use: '@example/capstan-image-policy'
    config: { mirrors: { 'docker.io/': 'mirror.example.com/' }, allowed: [mirror.example.com/] }`;
    const command = join(installed.path, 'node_modules/.bin/capstan');
    // Started in another folder: packages are resolved from the folder of the configuration.
    server = await new InstalledServer(installed.path, command, plugins, { directory: work.path }).ready();
  }, COMMANDS_MS);
  afterAll(async () => {
    await server?.end();
    service?.close();
  });

  test('authenticate, authorize and mutate together', async () => {
    const pods = '/api/v1/namespaces/default/pods';
    const pod = { metadata: { name: 'web' }, spec: { containers: [{ name: 'web', image: 'docker.io/nginx:1' }] } };
    expect((await server.call('GET', pods, undefined, 'bad')).status).toBe(401);
    expect((await server.call('GET', pods, undefined, 'good')).status).toBe(403);
    const labels = { 'access.example.com/grant': 'true' };
    const grant = { metadata: { name: 'ann', labels }, data: { users: 'ann', verbs: 'list,create' } };
    expect((await server.call('POST', '/api/v1/namespaces/default/configmaps', grant)).status).toBe(201);
    expect((await server.call('GET', pods, undefined, 'good')).status).toBe(200);
    const created = await server.call('POST', pods, pod, 'good');
    expect([created.status, created.body.spec?.containers]).toMatchObject([
      201,
      [{ image: 'mirror.example.com/nginx:1' }],
    ]);
    pod.spec.containers[0]!.image = 'nginx';
    expect((await server.call('POST', pods, pod, 'good')).status).toBe(422);
  });

  test('are shown by plugins list', async () => {
    const config = `--config=${join(installed.path, 'config.yaml')}`;
    const lines = (await run(installed.path, 'npx', 'capstan', 'plugins', 'list', config)).split('\n');
    expect(lines.filter(line => !line.includes('built-in')).map(line => line.split(/ +/)[0])).toEqual([
      'NAME',
      'token-service',
      'grants',
      'image-policy',
      '',
    ]);
  });
});
