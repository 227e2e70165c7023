import fc from 'fast-check';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { ApiObject, OwnerReference } from '../../core/api/index.js';
import { garbageCollector } from '../../plugins/controllers/index.js';
import { FakeServer } from './fakeHost.js';
import { eventsOf } from './recordedEvents.js';
import { startControllers, waitForIdle } from './settle.js';
import { eventually } from '../support/eventually.js';

let server: FakeServer;
const start = (on: FakeServer): Promise<void> => startControllers(on, garbageCollector, {});
beforeEach(async () => {
  server = new FakeServer();
  await start(server);
});
afterEach(() => server.close());

const CONFIGMAPS = '/api/v1/namespaces/n/configmaps';
const make = (
  name: string,
  owners: ApiObject[] = [],
  more: object = {},
  reference: Partial<OwnerReference> = {},
): ApiObject =>
  server.create('v1', 'ConfigMap', {
    name,
    namespace: 'n',
    ...more,
    ownerReferences: owners.map(o => refTo(o, reference)),
  });
const refTo = (owner: ApiObject, rest: Partial<OwnerReference> = {}): OwnerReference => ({
  apiVersion: owner.apiVersion,
  kind: owner.kind,
  name: owner.metadata.name ?? '',
  uid: owner.metadata.uid ?? '',
  ...rest,
});
/** The names of all objects except Events. */
const names = (): string[] => {
  const objects = [...server.objects.values()].filter(({ kind }) => kind !== 'Event');
  return objects.map(({ metadata }) => metadata.name ?? '').sort();
};
const becomes = (...wanted: string[]): Promise<unknown> => eventually(() => names().join() === wanted.join());
const remove = (name: string, propagationPolicy?: string): ApiObject =>
  server.send('DELETE', `${CONFIGMAPS}/${name}`, { propagationPolicy });
const ownersOf = (name: string): string[] =>
  (server.objects.get(`core/configmaps|n|${name}`)?.metadata.ownerReferences ?? []).map(o => o.name);

test('background: dependents and their dependents are deleted after the owner', async () => {
  const a = make('a');
  const b = make('b', [a]);
  make('c', [b]);
  make('other');
  remove('a', 'Background');
  await becomes('other');
});

test('a dependent with another owner remains without the reference to the deleted one', async () => {
  const [d, e] = [make('d'), make('e')];
  make('f', [d, e]);
  remove('d');
  await eventually(() => ownersOf('f').join() === 'e');
  await waitForIdle(server);
  expect(names()).toEqual(['e', 'f']);
});

test('foreground: the owner remains until its blocking dependents are deleted', async () => {
  const g = make('g');
  make('h', [g], { finalizers: ['example.com/hold'] }, { blockOwnerDeletion: true });
  remove('g', 'Foreground');
  await eventually(() => !!server.objects.get('core/configmaps|n|h')?.metadata.deletionTimestamp);
  await waitForIdle(server);
  expect(names()).toEqual(['g', 'h']);
  server.send('PATCH', `${CONFIGMAPS}/h`, { metadata: { finalizers: null } });
  await becomes();
});

test('foreground: dependents that do not block are deleted without waiting', async () => {
  const g = make('g');
  make('h', [g], { finalizers: ['example.com/hold'] });
  remove('g', 'Foreground');
  await becomes('h');
  await eventually(() => !!server.objects.get('core/configmaps|n|h')?.metadata.deletionTimestamp);
});

test('foreground deletion deletes the whole tree, leaves first', async () => {
  const gone: string[] = [];
  server.host.watch(event => event.type === 'DELETED' && gone.push(event.name));
  const a = make('a');
  const b = make('b', [a], {}, { blockOwnerDeletion: true });
  make('c', [b], {}, { blockOwnerDeletion: true });
  await server.delivered();
  remove('a', 'Foreground');
  await becomes();
  await server.delivered();
  expect(gone).toEqual(['c', 'b', 'a']);
});

test('foreground deletion ends even if owners form a cycle', async () => {
  const a = make('a');
  const b = make('b', [a], {}, { blockOwnerDeletion: true });
  server.send('PATCH', `${CONFIGMAPS}/a`, { metadata: { ownerReferences: [refTo(b, { blockOwnerDeletion: true })] } });
  remove('a', 'Foreground');
  await becomes();
});

test('owners in a cycle that are all deleted in the foreground do not wait for each other', async () => {
  const a = make('a');
  const b = make('b', [a], {}, { blockOwnerDeletion: true });
  const c = make('c', [b], {}, { blockOwnerDeletion: true });
  make('d', [a], { finalizers: ['example.com/hold'] }, { blockOwnerDeletion: true });
  server.send('PATCH', `${CONFIGMAPS}/a`, { metadata: { ownerReferences: [refTo(c, { blockOwnerDeletion: true })] } });
  for (const name of ['a', 'b', 'c']) remove(name, 'Foreground');
  await becomes('a', 'd');
  server.send('PATCH', `${CONFIGMAPS}/d`, { metadata: { finalizers: null } });
  await becomes();
});

test('a dependent remains if its owner references are removed while the collector reads the owners', async () => {
  const a = make('a');
  make('b', [a]);
  await waitForIdle(server);
  let asked = false;
  server.intercept = (_, { method }) => {
    if (method !== 'GET' || asked) return;
    asked = true;
    server.send('PATCH', `${CONFIGMAPS}/b`, { metadata: { ownerReferences: null } });
  };
  remove('a');
  await eventually(() => asked);
  await waitForIdle(server);
  expect(names()).toEqual(['b']);
});

test('an object without owners that has the finalizer for orphaning or foreground deletion is not deleted', async () => {
  make('a', [], { finalizers: ['orphan'] });
  make('b', [], { finalizers: ['foregroundDeletion'] });
  await waitForIdle(server);
  expect(names()).toEqual(['a', 'b']);
  expect([...server.objects.values()].map(o => o.metadata.deletionTimestamp)).toEqual([undefined, undefined]);
});

test('orphan: dependents remain without the reference', async () => {
  const i = make('i');
  make('j', [i]);
  remove('i', 'Orphan');
  await becomes('j');
  expect(ownersOf('j')).toEqual([]);
  await waitForIdle(server);
  expect(names()).toEqual(['j']);
});

test('a dependent of an owner that never existed, or with another uid, is deleted', async () => {
  const a = make('a');
  const ref = { apiVersion: 'v1', kind: 'ConfigMap', name: 'never', uid: 'x' };
  server.create('v1', 'ConfigMap', { name: 'k', namespace: 'n', ownerReferences: [ref] });
  server.create('v1', 'ConfigMap', { name: 'l', namespace: 'n', ownerReferences: [{ ...refTo(a), uid: 'other' }] });
  await becomes('a');
});

test('an owner of an unserved kind keeps its dependents', async () => {
  const ref = { apiVersion: 'example.com/v1', kind: 'Thing', name: 't', uid: 'x' };
  server.create('v1', 'ConfigMap', { name: 'k', namespace: 'n', ownerReferences: [ref] });
  await waitForIdle(server);
  expect(names()).toEqual(['k']);
});

test('namespaced owners are looked up in the namespace of the dependent', async () => {
  const elsewhere = server.create('v1', 'ConfigMap', { name: 'owner', namespace: 'm' });
  const node = server.create('v1', 'Node', { name: 'node' });
  server.create('v1', 'Secret', { name: 'lost', namespace: 'n', ownerReferences: [refTo(elsewhere)] });
  server.create('v1', 'Secret', { name: 'kept', namespace: 'n', ownerReferences: [refTo(node)] });
  await becomes('kept', 'node', 'owner');
  server.send('DELETE', '/api/v1/nodes/node');
  await becomes('owner');
});

test('an owner in another namespace does not count, and an Event for the dependent reports it', async () => {
  for (const name of ['n', 'other']) server.create('v1', 'Namespace', { name });
  const elsewhere = server.create('v1', 'ConfigMap', { name: 'o', namespace: 'other' });
  const { uid } = elsewhere.metadata;
  server.create('v1', 'Node', { name: 'whole', ownerReferences: [refTo(elsewhere)] });
  for (const name of ['a', 'b']) make(name, [elsewhere]);
  const deleted = make('deleted');
  make('dependent', [deleted]);
  remove('deleted');
  await eventually(() => !['a', 'b', 'dependent'].some(name => names().includes(name)));
  await waitForIdle(server);
  const message = (namespace: string): string =>
    `ownerRef [v1/ConfigMap, namespace: ${namespace}, name: o, uid: ${uid}] does not exist in namespace "${namespace}"`;
  const source = { component: 'garbage-collector-controller' };
  const found = eventsOf(server).sort((a, b) => (a.about < b.about ? -1 : 1));
  expect(found).toEqual(
    [
      ['ConfigMap n/a', 'n'],
      ['ConfigMap n/b', 'n'],
      ['Node /whole', ''],
    ].map(([about, namespace]) => ({
      ...{ about, source, reason: 'OwnerRefInvalidNamespace' },
      message: message(namespace!),
    })),
  );
});

test('an owner in another namespace is found by its uid, whatever kind and name a reference has', async () => {
  const elsewhere = server.create('v1', 'ConfigMap', { name: 'o', namespace: 'other' });
  const node = server.create('v1', 'Node', { name: 'solid' });
  const named = { ...refTo(elsewhere), kind: 'Secret', name: 'wrong' };
  const unserved = { ...refTo(elsewhere), apiVersion: 'example.com/v1', kind: 'Thing' };
  const own = make('own');
  server.create('v1', 'Secret', { name: 'a', namespace: 'n', ownerReferences: [named] });
  server.create('v1', 'Secret', { name: 'b', namespace: 'n', ownerReferences: [unserved] });
  server.create('v1', 'Secret', { name: 'c', namespace: 'n', ownerReferences: [refTo(node), named] });
  // The first reference that does not match its owner decides.
  const misnamed = { ...refTo(own), name: 'misnamed' };
  server.create('v1', 'Secret', { name: 'd', namespace: 'n', ownerReferences: [refTo(node), misnamed, named] });
  await becomes('b', 'c', 'd', 'o', 'own', 'solid');
  await waitForIdle(server);
  expect(
    eventsOf(server).map(({ about, message }) => [about, String(message).split(' ').slice(1, 5).join(' ')]),
  ).toEqual([
    ['Secret n/a', '[v1/Secret, namespace: n, name:'],
    ['Secret n/b', '[example.com/v1/Thing, namespace: n, name:'],
    ['Secret n/c', '[v1/Secret, namespace: n, name:'],
  ]);
  const kept = server.objects.get('core/secrets|n|c')!.metadata.ownerReferences;
  expect(kept?.map(({ name }) => name)).toEqual(['solid']);
});

test('an owner in another namespace is reported once, and again for an object that gets it later', async () => {
  const elsewhere = server.create('v1', 'ConfigMap', { name: 'o', namespace: 'other' });
  const owners = [{ ...refTo(elsewhere), apiVersion: 'example.com/v1', kind: 'Thing' }];
  server.create('v1', 'Secret', { name: 'a', namespace: 'n', ownerReferences: owners });
  const later = server.create('v1', 'Secret', { name: 'b', namespace: 'n' });
  await eventually(() => eventsOf(server).length === 1);
  const path = '/api/v1/namespaces/n/secrets';
  const a = server.objects.get('core/secrets|n|a')!;
  server.send('PATCH', `${path}/a`, { metadata: { ...a.metadata, labels: { changed: 'yes' } } });
  server.send('PATCH', `${path}/b`, { metadata: { ...later.metadata, ownerReferences: owners } });
  await waitForIdle(server);
  expect(eventsOf(server).map(({ about }) => about)).toEqual(['Secret n/a', 'Secret n/b']);
});

test('a cluster-scoped object with a namespaced owner is never collected', async () => {
  const owner = make('a');
  server.create('v1', 'Node', { name: 'node', ownerReferences: [refTo(owner)] });
  remove('a');
  await waitForIdle(server);
  expect(names()).toEqual(['node']);
});

test('dependents whose owner was deleted while no collector ran are collected at the start', async () => {
  const other = new FakeServer();
  const owner = other.create('v1', 'ConfigMap', { name: 'a', namespace: 'n' });
  other.create('v1', 'Secret', { name: 'b', namespace: 'n', ownerReferences: [refTo(owner)] });
  other.send('DELETE', `${CONFIGMAPS}/a`);
  await start(other);
  await eventually(() => other.objects.size === 0);
  other.close();
});

test.each(['Orphan', 'Foreground'])(
  '%s deletion in progress at a restart is completed with all dependents',
  async policy => {
    const other = new FakeServer();
    const owner = other.create('v1', 'ConfigMap', { name: 'a', namespace: 'n' });
    for (const name of ['b', 'c'])
      other.create('v1', 'ConfigMap', {
        name,
        namespace: 'n',
        finalizers: ['example.com/hold'],
        ownerReferences: [refTo(owner, { blockOwnerDeletion: true })],
      });
    other.send('DELETE', `${CONFIGMAPS}/a`, { propagationPolicy: policy });
    await start(other);
    for (let i = 0; i < 50; i++) await new Promise(resolve => setImmediate(resolve));
    const left = [...other.objects.values()].map(({ metadata }) => [
      metadata.name,
      metadata.ownerReferences?.length ?? 0,
      !!metadata.deletionTimestamp,
    ]);
    expect(left).toEqual(
      policy === 'Orphan'
        ? [
            ['b', 0, false],
            ['c', 0, false],
          ]
        : [
            ['a', 0, true],
            ['b', 1, true],
            ['c', 1, true],
          ],
    );
    other.close();
  },
);

test('an owner of a kind that is not served keeps its dependents, without requests, until the kind is defined', async () => {
  const absent = { apiVersion: 'v1', kind: 'ConfigMap', name: 'never', uid: 'x' };
  const unknown = { apiVersion: 'example.com/v1', kind: 'Widget', name: 'w', uid: 'y' };
  server.create('v1', 'ConfigMap', { name: 'a', namespace: 'n', ownerReferences: [absent, unknown] });
  await waitForIdle(server);
  expect([names(), server.requests]).toEqual([['a'], []]);
  const spec = {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural: 'widgets', kind: 'Widget' },
    versions: [{ name: 'v1', served: true }],
  };
  const status = { conditions: [{ type: 'Established', status: 'True' }] };
  server.create(
    'apiextensions.k8s.io/v1',
    'CustomResourceDefinition',
    { name: 'widgets.example.com' },
    { spec, status },
  );
  await becomes('widgets.example.com');
});

test('objects without owners or propagation finalizers are never decoded', async () => {
  let decoded = 0;
  const { host } = server;
  const plain = {
    ...host,
    watch: (listener: Parameters<typeof host.watch>[0]) =>
      host.watch(event =>
        listener({
          ...event,
          object: () => {
            decoded++;
            return event.object();
          },
        }),
      ),
  };
  const other = { host: plain } as FakeServer;
  await start(other);
  for (let i = 0; i < 100; i++)
    server.create('v1', 'ConfigMap', { name: `p${i}`, namespace: 'n', finalizers: ['example.com/a'] });
  for (let i = 0; i < 100; i++) remove(`p${i}`);
  for (let i = 0; i < 100; i++) server.send('PATCH', `${CONFIGMAPS}/p${i}`, { metadata: { finalizers: null } });
  await waitForIdle(server);
  expect(decoded).toBe(0);
});

test('after any background deletions, exactly the objects with a chain of existing owners remain', async () => {
  const forests = fc.array(fc.array(fc.nat(), { maxLength: 2 }), { minLength: 1, maxLength: 12 });
  await fc.assert(
    fc.asyncProperty(forests, fc.array(fc.nat(), { maxLength: 4 }), async (owners, deleted) => {
      const own = new FakeServer();
      await start(own);
      const made: ApiObject[] = [];
      const edges = owners.map((list, i) => [...new Set(i === 0 ? [] : list.map(o => o % i))]);
      for (const [i, list] of edges.entries()) {
        const ownerReferences = list.map(o => refTo(made[o] as ApiObject));
        made.push(own.create('v1', 'ConfigMap', { name: `o${i}`, namespace: 'n', ownerReferences }));
      }
      const gone = new Set(deleted.map(d => d % made.length));
      for (const d of gone) if (own.has('v1', 'configmaps', 'n', `o${d}`)) own.send('DELETE', `${CONFIGMAPS}/o${d}`);
      const alive: boolean[] = [];
      for (const [i, list] of edges.entries())
        alive.push(!gone.has(i) && (list.length === 0 || list.some(o => alive[o])));
      const wanted = made.flatMap((object, i) => (alive[i] ? [object.metadata.name ?? ''] : [])).sort();
      await eventually(
        () =>
          [...own.objects.values()]
            .map(o => o.metadata.name)
            .sort()
            .join() === wanted.join(),
      );
      own.close();
    }),
    { numRuns: 60 },
  );
});
