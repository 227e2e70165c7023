import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import type { RunningServer, Settings } from '../../core/index.js';
import { fixture } from '../plugins/support.js';
import { order } from '../plugins/fixtures/reconcilers.js';
import { etcdWanted, startEtcd } from '../storage/etcd.js';
import { eventually } from '../support/eventually.js';
import { startServer } from './library.js';

/* A reconciler of a plugin in real servers. */

const directory = mkdtempSync(join(tmpdir(), 'capstan-reconcilers-'));
const file = join(directory, 'calls');
const calls = (): string[] => (existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : []);
const key = { namespace: 'default', name: 'a' };

let running: RunningServer[] = [];
async function start(id: string, settings: Partial<Settings> = {}): Promise<RunningServer> {
  const plugins = [{ use: fixture('reconcilers', 'pours'), config: { file, id } }];
  const server = await startServer({ storage: 'memory', port: 0, plugins, ...settings });
  running.push(server);
  await eventually(() => server.client.resource('namespaces').get({ name: 'default' }));
  return server;
}
afterEach(async () => {
  await Promise.all(running.map(server => server.close()));
  running = [];
  rmSync(file, { force: true });
});
afterAll(() => rmSync(directory, { recursive: true }));

test('a reconciler establishes the desired state, repairs objects that it owns, and cleans up before a deletion', async () => {
  const server = await start('one');
  const orders = server.client.resource(order);
  const pods = server.client.resource('pods');
  await orders.create({ metadata: key, spec: { cups: 3 } });
  const poured = await eventually(
    () => orders.get(key),
    found => found?.status?.poured === 3,
  );
  expect(poured?.metadata.finalizers).toEqual(['tea.example.com/cups']);
  const first = await pods.get(key);
  expect(first?.metadata.ownerReferences).toMatchObject([{ kind: 'Order', name: 'a', controller: true }]);
  await pods.delete(key, { gracePeriodSeconds: 0 });
  await eventually(async () => ![undefined, first?.metadata.uid].includes((await pods.get(key))?.metadata.uid));
  const events = server.client.resource('events');
  const [event] = await eventually(
    async () => (await events.list({ fieldSelector: 'involvedObject.kind=Order' })).items,
    items => items.length > 0,
  );
  expect(event).toMatchObject({ reason: 'Poured', message: '3 cups', type: 'Normal', source: { component: 'pourer' } });
  await orders.delete(key);
  await eventually(async () => (await orders.get(key)) === undefined);
  await eventually(() => calls().includes('one a gone'));
  expect(calls()).toContain('one a cleaned');
  // The garbage collector removes its dependents.
  await eventually(async () => (await pods.get(key)) === undefined);
});

test('a reconciler is counted in the metrics of the server', async () => {
  const server = await start('one');
  await server.client.resource(order).create({ metadata: key, spec: {} });
  const metrics = await eventually(
    async () =>
      (await server.request('GET', '/metrics')).text.match(/^(workqueue|capstan_reconciles)_.*$/gm)?.join('\n') ?? '',
    text => /^capstan_reconciles_total\{controller="pourer",result="success"\} [1-9]/m.test(text),
  );
  for (const metric of [
    /^workqueue_depth\{name="pourer"\} \d/m,
    /^workqueue_queue_duration_seconds_count\{name="pourer"\} [1-9]/m,
    /^workqueue_work_duration_seconds_count\{name="pourer"\} [1-9]/m,
    /^workqueue_adds_total\{name="pourer"\} [1-9]/m,
    // The built-in controllers that are reconcilers are counted as well.
    /^workqueue_adds_total\{name="namespace-controller"\} \d|^capstan_reconciles_total\{controller="rbac-bootstrap"/m,
  ])
    expect(metrics).toMatch(metric);
});

describe.runIf(etcdWanted)('with servers that share a store', () => {
  test('a reconciler runs in the leading server, and in another one after that has closed', async () => {
    const etcd = await startEtcd();
    try {
      const settings = { storage: 'etcd', etcdServers: [etcd.url], etcdPrefix: '/reconcilers' } as const;
      const one = await start('one', settings);
      const two = await start('two', settings);
      const orders = two.client.resource(order);
      await orders.create({ metadata: key, spec: {} });
      await eventually(async () => (await orders.get(key))?.status?.poured === 1);
      expect(new Set(calls().map(line => line.split(' ')[0]))).toEqual(new Set(['one']));
      const lease = await two.client
        .resource('coordination.orchestrator.io/leases')
        .get({ namespace: 'orchestrator-system', name: 'capstan-controllers' });
      expect(lease?.spec?.holderIdentity).toBeTruthy();
      await one.close();
      await orders.create({ metadata: { ...key, name: 'b' }, spec: { cups: 2 } });
      await eventually(async () => (await orders.get({ ...key, name: 'b' }))?.status?.poured === 2);
      expect(calls().filter(line => line.includes(' b'))).not.toContain('one b');
    } finally {
      await Promise.all(running.splice(0).map(server => server.close()));
      await etcd.stop();
    }
  });
});
