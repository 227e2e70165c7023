import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { FileWatch } from '../../core/command/watch.js';
import { ConfiguredServer } from '../plugins/support.js';
import { eventually } from '../support/eventually.js';

/* `capstan serve --watch`: which changes take effect, and which requests continue meanwhile. Busy machines
 * need seconds for a reload. */

const MAPS = '/api/v1/namespaces/default/configmaps';

describe('capstan serve --watch', () => {
  const server = new ConfiguredServer();
  const write = (name: string, text: string): void => writeFileSync(join(server.directory, name), text);
  const create = (labels: object = {}) =>
    server.call('POST', MAPS, { body: { metadata: { generateName: 'map-', labels } } });
  const labelNow = async () => ((await create()).body.metadata.labels as { made?: string } | undefined)?.made;
  const reloads = (): number => server.output.split('reloaded in ').length - 1;
  /** Changes something, and waits until the server has reloaded its dependents. */
  async function reloaded(change: () => void): Promise<void> {
    const before = reloads();
    change();
    await eventually(() => reloads() > before);
  }
  const settings = (more: object = {}) => ({
    authorizationMode: ['AlwaysAllow'],
    plugins: [{ use: './labels.mjs', config: { made: 'first' } }, { use: './kinds.mjs' }, { use: './common.cjs' }],
    ...more,
  });
  const kind = (field: string) => `import { defineResource, definePlugin, resourceType } from 'capstan/api';
    export default definePlugin({
      name: 'kinds',
      parse: () => null,
      contribute: () => [resourceType.of(() => defineResource({
        group: 'watch.example.com', kind: 'Leaf', plural: 'leaves', scope: 'Namespaced', version: 'v1',
        schema: { type: 'object', properties: { spec: { type: 'object', required: ['${field}'],
          properties: { ${field}: { type: 'string' } } } } },
      }))],
    });`;

  beforeAll(async () => {
    write(
      'labels.mjs',
      `import { controller, definePlugin, healthCheck, httpDocuments, metrics, mutator, service } from 'capstan/api';
      import { suffix } from './suffix.mjs';
      export default definePlugin({
        name: 'labels',
        parse: config => config,
        contribute: ({ made }) => [
          mutator.of(host => ({
            on: { resources: ['configmaps'], operations: ['CREATE'] },
            async mutate(_change, draft) {
              const { waits } = draft.metadata.labels ?? {};
              if (waits) await new Promise(done => setTimeout(done, Number(waits)));
              host.observe('changed_total', {}, 1);
              host.observe('kept_total', {}, 1);
              const served = await host.service('made').state();
              draft.metadata.labels = { ...draft.metadata.labels, made: made + suffix, served };
            },
          })),
          service.of(() => ({ name: 'made', start: publish => publish(made + suffix) })),
          metrics.of(() => [
            { name: 'kept_total', type: 'counter', help: 'kept' },
            { name: 'changed_total', type: 'counter', help: 'of ' + suffix },
          ]),
          httpDocuments.of(() => [
            { path: '/made', contentType: 'text/plain', headers: {}, body: () => made + suffix },
          ]),
          healthCheck.of(host => {
            host.onClose(() => host.log.error({}, 'released ' + made + suffix));
            return { name: 'made' + suffix, of: ['readyz'], check: () => undefined };
          }),
          controller.of(host => ({
            name: 'labeler',
            start: () => host.watch(({ type, name, object }) => {
              if (type !== 'ADDED' || name !== 'controlled') return;
              const body = { metadata: { annotations: { 'example.com/by': made + suffix } } };
              const path = '/api/v1/namespaces/default/configmaps/controlled';
              host.request('labeler', { method: 'PATCH', path, contentType: 'application/merge-patch+json', body })
                .catch(() => undefined);
            }),
          })),
        ],
      });`,
    );
    write('suffix.mjs', "export const suffix = '-a';\n");
    write('kinds.mjs', kind('color'));
    write('common.cjs', commonPlugin('old'));
    await server.start(settings(), {}, ['--watch']);
  });
  afterAll(() => server.dispose());

  test('a module that a plugin imports takes effect at all points, and watches and objects remain', async () => {
    const end = new AbortController();
    const watch = server.stream(`${MAPS}?watch=1`, end.signal);
    await server.call('POST', MAPS, { body: { metadata: { name: 'controlled' } } });
    expect(await labelNow()).toBe('first-a');
    await reloaded(() => write('suffix.mjs', "export const suffix = '-b';\n"));
    expect((await create()).body.metadata.labels).toMatchObject({ made: 'first-b', served: 'first-b' });
    expect((await server.call('GET', '/metrics')).text).toContain('# HELP changed_total of -b\n');
    await eventually(async () => (await server.counter('kept_total', {})) >= 3);
    expect((await server.call('GET', '/made')).text).toBe('first-b');
    expect((await server.call('GET', '/readyz?verbose')).text).toMatch(/\[\+\]made-b ok\n/);
    expect((await server.call('GET', '/readyz?verbose')).text).not.toContain('made-a');
    await eventually(async () => (await server.call('GET', `${MAPS}/controlled`)).text.includes('"first-b"'));
    await eventually(() => server.errors.includes('released first-a'));
    await server.call('POST', MAPS, { body: { metadata: { name: 'after-reload' } } });
    await eventually(() => watch.text.includes('"after-reload"'));
    expect(watch.isOpen).toBe(true);
    end.abort();
  });

  test('changed settings of a plugin take effect, as do added and removed plugins', async () => {
    const { plugins } = settings();
    await reloaded(() => server.configure(settings({ plugins: [{ ...plugins[0], config: { made: 'second' } }] })));
    expect(await labelNow()).toBe('second-b');
    expect((await server.call('GET', '/apis/watch.example.com/v1')).status).toBe(404);
    await reloaded(() => server.configure(settings()));
    expect((await server.call('GET', '/apis/watch.example.com/v1')).status).toBe(200);
  });

  test('a request in flight is completed by the plugin with which it began', async () => {
    const slow = create({ waits: '3000' });
    await reloaded(() => write('suffix.mjs', "export const suffix = '-c';\n"));
    expect(await labelNow()).toBe('first-c');
    const { status, body } = await slow;
    expect([status, (body.metadata.labels as { made?: string }).made]).toEqual([201, 'first-b']);
  });

  test('a kind is served with its changed schema, and watches of its objects end', async () => {
    const path = '/apis/watch.example.com/v1/namespaces/default/leaves';
    const leaf = (name: string, spec: object) =>
      server.call('POST', path, {
        body: { apiVersion: 'watch.example.com/v1', kind: 'Leaf', metadata: { name }, spec },
      });
    expect((await leaf('a', { color: 'red' })).status).toBe(201);
    const watch = server.stream(`${path}?watch=1`);
    await eventually(() => watch.text.includes('"red"'));
    await reloaded(() => write('kinds.mjs', kind('shape')));
    expect((await leaf('b', { color: 'red' })).status).toBe(422);
    expect((await leaf('b', { shape: 'round' })).status).toBe(201);
    // Members that the schema no longer has are not shown.
    expect((await server.call('GET', `${path}/a`)).text).not.toContain('red');
    await eventually(() => !watch.isOpen);
  });

  test('a CommonJS plugin is loaded again, also if an editor replaces the file', async () => {
    expect((await create()).body.metadata.labels).toMatchObject({ common: 'old' });
    await reloaded(() => {
      write('common.new', commonPlugin('new'));
      renameSync(join(server.directory, 'common.new'), join(server.directory, 'common.cjs'));
    });
    expect((await create()).body.metadata.labels).toMatchObject({ common: 'new' });
  });

  test('a module that cannot be loaded is reported with file and line, and the former plugins continue', async () => {
    const logged = server.errors.length;
    write('suffix.mjs', 'export const suffix = ;\n');
    await eventually(() => server.errors.slice(logged).includes('not reloaded: '));
    expect(server.errors.slice(logged)).toMatch(/not reloaded: plugins\[0\]\.use: .*suffix\.mjs:1: Unexpected token/);
    expect(await labelNow()).toBe('first-c');
    await reloaded(() => write('suffix.mjs', "export const suffix = '-d';\n"));
    expect(await labelNow()).toBe('first-d');
  });

  test('a plugin that cannot be created does not affect the others', async () => {
    const logged = server.errors.length;
    write(
      'kinds.mjs',
      `import { definePlugin, validator } from 'capstan/api';
      export default definePlugin({ name: 'kinds', parse: () => null,
        contribute: () => [validator.of(() => { throw new Error('no database'); })] });`,
    );
    await eventually(() => server.errors.slice(logged).includes('not reloaded: '));
    expect(server.errors.slice(logged)).toContain('not reloaded: plugin kinds (validator): no database');
    expect((await server.call('GET', '/apis/watch.example.com/v1')).status).toBe(200);
    await reloaded(() => write('kinds.mjs', kind('shape')));
  });

  test('a changed authorization mode takes effect for known senders, and settings that need a restart are reported', async () => {
    const list = () => server.call('GET', MAPS, { headers: { 'impersonate-user': 'ann' } });
    expect((await list()).status).toBe(200);
    const logged = server.errors.length;
    await reloaded(() => server.configure(settings({ authorizationMode: ['RBAC'], history: '7m' })));
    expect((await list()).status).toBe(403);
    await eventually(() => server.errors.slice(logged).includes('restart the server to apply changes of history'));
  });
});

function commonPlugin(value: string): string {
  return `module.exports = {
    name: 'common',
    parse: () => null,
    contribute: () => [{
      point: 'mutator',
      threads: ['pool'],
      make: () => ({
        on: { resources: ['configmaps'], operations: ['CREATE'] },
        mutate(_change, draft) {
          draft.metadata.labels = { ...draft.metadata.labels, common: '${value}' };
        },
      }),
    }],
  };`;
}

test.each([
  [['--watch'], '--watch: needs --config'],
  [['--watch', '--config=c.yaml', '--listening-threads=2'], '--watch: cannot reload the plugins of listening threads'],
])('%j is refused', async (flags, message) => {
  const server = new ConfiguredServer();
  try {
    writeFileSync(join(server.directory, 'c.yaml'), '');
    await expect(server.startWith(flags)).rejects.toThrow(message);
  } finally {
    await server.dispose();
  }
});

describe('the file watcher', () => {
  const directory = mkdtempSync(join(tmpdir(), 'capstan-watch-'));
  afterAll(() => rmSync(directory, { recursive: true }));

  test('reports changed, new and removed files once they are stable, and never runs twice at a time', async () => {
    const [a, b, c] = ['a', 'b', 'c'].map(name => join(directory, name)) as [string, string, string];
    for (const file of [a, b]) writeFileSync(file, '1');
    const seen: (readonly string[])[] = [];
    let release: () => void = () => undefined;
    const watch = new FileWatch(
      () => [a, b, c],
      files => {
        seen.push(files);
        return new Promise(resolve => (release = resolve));
      },
    );
    writeFileSync(a, '22');
    await eventually(() => seen.length === 1);
    expect(seen[0]).toEqual([a]);
    writeFileSync(c, '1');
    rmSync(b);
    release();
    await eventually(() => seen.length >= 2);
    release();
    await eventually(() => seen.flat().length >= 3);
    expect(new Set(seen.slice(1).flat())).toEqual(new Set([b, c]));
    watch.close();
    mkdirSync(b);
    expect(seen.flat()).toHaveLength(3);
  });
});
