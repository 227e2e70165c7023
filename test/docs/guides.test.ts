import { afterAll, describe, expect, test } from 'vitest';
import { controller, type Plugin } from '../../core/api/index.js';
import { controllerConformance, partsOf } from '../../core/testing/index.js';
import { startServer } from '../server/library.js';
import { eventually } from '../support/eventually.js';
import { blocksOf, Programs, typeErrors } from './code.js';

/* The code of docs/guides/controllers.md and programs.md runs, and has the described effects. */

const programs = new Programs();
afterAll(() => programs.remove());

describe('the guide to controllers', () => {
  const [plugin, , tests] = blocksOf('controllers', 'ts');
  const file = programs.write('teams', plugin!);

  test('has a controller that keeps a ConfigMap in namespaces with a label', async () => {
    const server = await startServer({ storage: 'memory', port: 0, plugins: [{ use: file }] });
    try {
      const namespaces = server.client.resource('namespaces');
      const configMaps = server.client.resource('configmaps');
      const team = { namespace: 'shop', name: 'team' };
      const written = async () => (await configMaps.get(team))?.data?.['name'];
      await namespaces.create({ metadata: { name: 'shop', labels: { team: 'tea' } } });
      await eventually(written, name => name === 'tea');
      await configMaps.delete(team);
      await eventually(written, name => name === 'tea');
      await configMaps.patch(team, { data: { name: 'coffee' } });
      await eventually(written, name => name === 'tea');
      await namespaces.patch({ name: 'shop' }, { metadata: { labels: { team: 'cakes' } } });
      await eventually(written, name => name === 'cakes');
      const events = async () => (await server.client.resource('events').list({ namespace: 'default' })).items;
      await eventually(async () => (await events()).some(({ message }) => message === 'the team is cakes'));
    } finally {
      await server.close();
    }
  });

  test('has a controller that conforms', async () => {
    const { default: teams } = (await import(file)) as { default: Plugin<null> };
    const namespace = (name: string, labels: { [name: string]: string }) => ({
      storageName: 'core/namespaces',
      object: { apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels, uid: name } },
    });
    const suite = controllerConformance({
      make: async host => (await partsOf(teams, null, controller, host))[0]!,
      objects: [namespace('shop', { team: 'tea' }), namespace('other', {})],
      requests: ['POST /api/v1/namespaces/shop/configmaps'],
    });
    expect(suite.length).toBeGreaterThan(4);
    for (const { run } of suite) await run();
  });

  test('has a test that finds the object which the controller has created', async () => {
    const module = programs.write('test', `import plugin from './teams.mjs';\n${tests!}\nexport { made };`);
    const { made } = (await import(module)) as { made: object };
    expect(made).toMatchObject({ data: { name: 'tea' } });
  });
});

describe('the guide to servers in programs', () => {
  const [first, inTests] = blocksOf('programs', 'ts');

  test('has a program with the documented output', async () => {
    expect(await programs.run(programs.write('program', first!))).toBe(blocksOf('programs', 'text')[0]);
  });

  test('has a test in which a user is refused', async () => {
    const code = inTests!.replace(
      "'./dist/index.js'",
      `'${programs.write('none', blocksOf('controllers', 'ts')[0]!)}'`,
    );
    expect(await programs.run(programs.write('inTests', `${code}\nconsole.log(refused.status);`))).toBe('403\n');
  });
});

test('the programs of both guides compile', () => {
  const [plugin, , pluginTest] = blocksOf('controllers', 'ts');
  const [first, inTests] = blocksOf('programs', 'ts');
  const files = new Map([
    ['teams.ts', plugin!],
    ['testing.ts', `import plugin from './teams.js';\n${pluginTest!}\nexport {};`],
    ['program.ts', first!],
    ['inTests.ts', `${inTests!}\nexport {};`],
  ]);
  expect(typeErrors(files, programs.directory)).toEqual([]);
});
