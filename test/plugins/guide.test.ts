import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import ts from 'typescript';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { cellOf, pointOf } from '../../core/plugin/calls/callCounters.js';
import * as exported from '../../core/api/index.js';
import { Api, deployment } from '../api/support.js';

/*
 * Tests that the code in the guides about plugins runs, and that the names they list exist. The other tests of this
 * folder verify their sentences.
 */

const guide = (name: string): string => readFileSync(`docs/guides/${name}.md`, 'utf8');
const PLUGINS = guide('plugins');
// Inside the package, so that `capstan/api` is resolved as for an installed plugin.
const directory = mkdtempSync(resolve('dist/guide-'));
afterAll(() => rmSync(directory, { recursive: true }));

const api = new Map<string, unknown>(Object.entries(exported));

/** The first program in a guide that imports the interface, as a module that can be loaded. */
function programOf(name: string): string {
  const code = [...guide(name).matchAll(/```ts\n(.*?)```/gs)]
    .map(match => match[1]!)
    .find(one => one.includes('capstan/api'))!;
  const file = join(directory, `${name}.mjs`);
  const compilerOptions = { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022 };
  writeFileSync(file, ts.transpileModule(code, { compilerOptions }).outputText);
  return file;
}

describe('the programs of the guides', () => {
  let server: Api;
  beforeAll(async () => {
    const plugins = ['plugins', 'access'].map(name => ({ use: programOf(name) }));
    server = await Api.start({ authorizationMode: ['RBAC'], plugins });
  });
  afterAll(() => server?.close());

  test('the smallest plugin forbids only changes of Deployments on Fridays', async () => {
    const isFriday = (): boolean => new Date().getUTCDay() === 5;
    const before = isFriday();
    const answer = await server.post('/apis/apps/v1/namespaces/default/deployments', deployment('friday'));
    if (before !== isFriday()) return;
    expect(answer.status).toBe(before ? 422 : 201);
    if (before) expect(answer.body['message']).toContain('metadata: Forbidden: no changes on Fridays');
    const map = await server.post('/api/v1/namespaces/default/configmaps', { metadata: { name: 'friday' } });
    expect(map.status).toBe(201);
  });

  test('the authorizer of the guide to access denies at night what a role allows, except to system:masters', async () => {
    const isNight = (): boolean => new Date().getUTCHours() < 6;
    const before = isNight();
    const answer = await server.get('/version', { token: '' });
    if (before !== isNight()) return;
    expect(answer.status).toBe(before ? 403 : 200);
    expect((await server.get('/version')).status).toBe(200);
  });
});

describe('lists of the guide agree with the program:', () => {
  test('points: each is exported, and runs in the threads of the table', () => {
    const rows = [...PLUGINS.matchAll(/^\| `(\w+)` \| ([a-z ,]+) \| /gm)].filter(([, name]) => api.has(name!));
    const points = [...api].filter(([, value]) => typeof (value as { combine?: unknown }).combine === 'function');
    expect(rows.map(([, name]) => name).sort()).toEqual(points.map(([name]) => name).sort());
    for (const [, name, where] of rows) {
      const { threads: actual, name: inLogs } = api.get(name!) as { threads: readonly string[]; name: string };
      // The name in the log, in metrics and in `plugins list`; the points of the table are counted separately.
      expect(inLogs).toBe(name);
      expect(pointOf(cellOf(0, inLogs) - 1)).toBe(name);
      expect([...actual].sort(), name).toEqual(
        where!
          .split(', ')
          .map(one => (one === 'front end' ? 'front' : one))
          .sort(),
      );
    }
  });

  test('functions that create violations', () => {
    for (const name of ['invalid', 'required', 'forbiddenField', 'notSupported'])
      expect(api.has(name), name).toBe(true);
  });

  test('eight examples, each under 80 lines, which import only the interface', () => {
    const plugins = readdirSync('examples').filter(
      name => name.endsWith('.ts') && readFileSync(`examples/${name}`, 'utf8').includes('definePlugin('),
    );
    expect(plugins).toHaveLength(8);
    for (const name of plugins) {
      const text = readFileSync(`examples/${name}`, 'utf8');
      expect(text.split('\n').length, name).toBeLessThan(81);
      const imports = [...text.matchAll(/from '([^']+)'/g)].map(match => match[1]!);
      expect(
        imports.filter(one => one !== 'capstan/api' && !one.startsWith('node:')),
        name,
      ).toEqual([]);
      const tests = readdirSync('test/examples')
        .map(test => readFileSync(`test/examples/${test}`, 'utf8'))
        .join();
      const [stem] = name.split('.');
      expect(tests.includes(`example('${stem}')`) || tests.includes(`examples/${stem}.js`), name).toBe(true);
    }
  });

  test('times: the default and the maximum of a call, of a release and of all releases of a thread', async () => {
    const limits = await import('../../core/limits.js');
    expect([limits.PLUGIN_CALL_MS, limits.PLUGIN_CALL_MAX_MS, limits.HEALTH_CHECK_MS]).toEqual([
      10_000, 30_000, 10_000,
    ]);
    expect([limits.RELEASE_MS, limits.THREAD_CLOSE_MS]).toEqual([1000, 3000]);
  });
});
