import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import {
  type ApiObject,
  defineResource,
  type Frozen,
  type Host,
  type ObjectKey,
  ownerReference,
  type ReconcileContext,
  reconciler,
  Refusal,
  t,
} from '../../core/api/index.js';
import { type FakeHost, fakeHost, serveObjects } from '../../core/testing/index.js';

/* The promises of `reconciler`, against the objects of a fake host. */

const order = defineResource({
  group: 'tea.example.com',
  kind: 'Order',
  plural: 'orders',
  scope: 'Namespaced',
  subresources: { status: {} },
  schema: t.object({
    spec: t.object({ cups: t.integer({ default: 1 }) }),
    status: t.optional(t.object({ poured: t.integer() })),
  }),
});
const ORDERS = 'custom:tea.example.com/orders';

let fake: FakeHost<'control'>;
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'performance'] });
  fake = fakeHost('control');
  serveObjects(fake);
});
afterEach(async () => {
  await fake.close();
  vi.useRealTimers();
});

/** Runs all work that is due now. */
const settle = () => vi.advanceTimersByTimeAsync(0);

const putOrder = (name: string, cups: number, metadata: ApiObject['metadata'] = {}): void =>
  fake.put(ORDERS, {
    apiVersion: 'tea.example.com/v1',
    kind: 'Order',
    metadata: { namespace: 'shop', name, uid: `uid-${name}`, ...metadata },
    spec: { cups },
  });
const putPod = (name: string, metadata: ApiObject['metadata'] = {}): void =>
  fake.put('core/pods', {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { namespace: 'shop', name, ...metadata },
    spec: {},
  });
const names = (keys: readonly ObjectKey[]): string[] => keys.map(({ namespace, name }) => `${namespace}/${name}`);

/** Returns the keys for which the reconciler is called, in order. Each call also runs `reconcile`. */
const recorder = (
  reconcile: (key: ObjectKey) => unknown = () => undefined,
): { readonly keys: ObjectKey[]; readonly reconcile: (key: ObjectKey) => Promise<undefined> } => {
  const keys: ObjectKey[] = [];
  return {
    keys,
    async reconcile(key) {
      keys.push(key);
      return (await reconcile(key)) as undefined;
    },
  };
};
const start = async (make: (host: Host<'control'>) => { start(): unknown }): Promise<void> => {
  await make(fake.host).start();
};
const requests = (): string[] => fake.requests.map(({ request: { method, path } }) => `${method} ${path}`);
const warnings = () => fake.log.filter(({ level }) => level === 'warn');

describe('keys', () => {
  test('are reconciled for each object at the start, and when it changes or is deleted', async () => {
    const { keys, reconcile } = recorder();
    putOrder('a', 1);
    putOrder('b', 1);
    await start(reconciler({ name: 'tea', for: order, reconcile }));
    expect(keys).toEqual([
      { resource: ORDERS, namespace: 'shop', name: 'a' },
      { resource: ORDERS, namespace: 'shop', name: 'b' },
    ]);
    putOrder('a', 2);
    fake.delete(ORDERS, 'shop', 'b');
    await settle();
    expect(names(keys).slice(2)).toEqual(['shop/a', 'shop/b']);
  });

  test('are passed with the current object, which is undefined after its deletion', async () => {
    const cups: (number | undefined)[] = [];
    putOrder('a', 1);
    const counts = reconciler({
      name: 'tea',
      for: order,
      reconcile: (_key, { object }) => void cups.push(object?.spec.cups),
    });
    await start(counts);
    putOrder('a', 2);
    putOrder('a', 3);
    await settle();
    fake.delete(ORDERS, 'shop', 'a');
    await settle();
    expect(cups).toEqual([1, 3, undefined]);
  });

  test('of objects that the predicate does not select are not reconciled; it sees the object before a change', async () => {
    const { keys, reconcile } = recorder();
    putOrder('few', 1);
    const more = reconciler({
      name: 'tea',
      for: order,
      predicate: ({ object, old }) => object().spec.cups > (old?.().spec.cups ?? 5),
      reconcile,
    });
    await start(more);
    putOrder('many', 6);
    putOrder('few', 2);
    putOrder('few', 1);
    await settle();
    expect(names(keys)).toEqual(['shop/many', 'shop/few']);
  });

  test('are those of the owner when an object that it controls changes or leaves it', async () => {
    const { keys, reconcile } = recorder();
    putOrder('a', 1);
    putOrder('b', 1);
    const [a, b] = ['a', 'b'].map(name => ownerReference(fake.host.informer(ORDERS).get('shop', name)!));
    await start(reconciler({ name: 'tea', for: order, owns: ['pods'], predicate: () => false, reconcile }));
    putPod('of-a', { ownerReferences: [a!] });
    await settle();
    expect(names(keys.splice(0))).toEqual(['shop/a']);
    putPod('of-a', { ownerReferences: [b!] });
    await settle();
    expect(names(keys.splice(0)).sort()).toEqual(['shop/a', 'shop/b']);
    fake.delete('core/pods', 'shop', 'of-a');
    await settle();
    expect(names(keys.splice(0))).toEqual(['shop/b']);
    putPod('of-nobody');
    putPod('not-controlled', { ownerReferences: [{ ...a!, controller: false }] });
    putPod('of-another-kind', { ownerReferences: [{ ...a!, kind: 'Coffee' }] });
    putPod('of-another-group', { ownerReferences: [{ ...a!, apiVersion: 'coffee.example.com/v1' }] });
    await settle();
    expect(keys).toEqual([]);
  });

  test('are those that a mapping of another resource, or of every resource, returns', async () => {
    const { keys, reconcile } = recorder();
    putOrder('a', 1);
    putOrder('b', 1);
    const mapped = reconciler({
      name: 'tea',
      for: order,
      predicate: () => false,
      watches: [
        { resource: 'namespaces', keys: ({ name }, { list }) => list(order, name).map(({ metadata }) => metadata) },
        { resource: '*', keys: ({ storageName, name }) => (storageName === 'core/secrets' ? [{ name }] : []) },
      ],
      reconcile,
    });
    await start(mapped);
    fake.put('core/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } });
    fake.put('core/secrets', { apiVersion: 'v1', kind: 'Secret', metadata: { namespace: 'x', name: 'token' } });
    await settle();
    expect(names(keys)).toEqual(['shop/a', 'shop/b', '/token']);
  });

  test('that are configured, or added by a reconciliation, are reconciled without an object', async () => {
    const { keys, reconcile } = recorder();
    const adds = reconciler({
      name: 'tea',
      keys: [{ name: 'first' }],
      async reconcile(key, { add }) {
        await reconcile(key);
        if (key.name === 'first') add({ resource: 'core/pods', namespace: 'shop', name: 'second' });
      },
    });
    await start(adds);
    expect(keys).toEqual([
      { resource: '', namespace: '', name: 'first' },
      { resource: 'core/pods', namespace: 'shop', name: 'second' },
    ]);
  });
});

describe('a reconciliation', () => {
  test('runs for one key at a time, or for the allowed number of keys, and never twice for the same key', async () => {
    for (const concurrency of [undefined, 3]) {
      const running = new Set<string>();
      let most = 0;
      const { keys, reconcile } = recorder(async ({ name }) => {
        expect(running).not.toContain(name);
        most = Math.max(most, running.add(name).size);
        if (keys.length < 12) putOrder(name, keys.length);
        await Promise.resolve();
        running.delete(name);
      });
      for (const name of ['a', 'b', 'c', 'd', 'e']) putOrder(name, 0);
      await start(reconciler({ name: 'tea', for: order, ...(concurrency && { concurrency }), reconcile }));
      expect([most, keys.length > 10]).toEqual([concurrency ?? 1, true]);
      await fake.close();
    }
  });

  test('that fails is repeated after a pause, which doubles; others continue meanwhile', async () => {
    const { keys, reconcile } = recorder(({ name }) => {
      if (name === 'bad' && keys.length < 5) throw new Error('no tea');
    });
    putOrder('bad', 1);
    await start(reconciler({ name: 'tea', for: order, backOff: { min: 1000, max: 2000 }, reconcile }));
    putOrder('good', 1);
    await settle();
    expect(names(keys)).toEqual(['shop/bad', 'shop/good']);
    await vi.advanceTimersByTimeAsync(999);
    expect(keys).toHaveLength(2);
    await vi.advanceTimersByTimeAsync(1);
    expect(keys).toHaveLength(3);
    await vi.advanceTimersByTimeAsync(2000 + 2000);
    expect(keys).toHaveLength(5);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(keys).toHaveLength(5);
  });

  test('that throws is logged with its stack and key; a refusal only if it persists', async () => {
    let error: unknown = new Error('no tea');
    const { reconcile } = recorder(() => {
      throw error;
    });
    putOrder('a', 1);
    await start(reconciler({ name: 'tea', for: order, reconcile }));
    expect(warnings()).toMatchObject([
      {
        fields: { controller: 'tea', namespace: 'shop', name: 'a', failures: 1, error: expect.stringContaining('at ') },
      },
    ]);
    error = new Refusal('Conflict', 'changed');
    await vi.advanceTimersByTimeAsync(5 + 10 + 20 + 40);
    expect(warnings()).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(80);
    expect(warnings()[1]).toMatchObject({ fields: { failures: 6, error: 'changed' } });
  });

  test('runs again after the time that it requests', async () => {
    const { keys, reconcile } = recorder(() => ({ after: 60_000 }));
    putOrder('a', 1);
    await start(reconciler({ name: 'tea', for: order, reconcile }));
    await vi.advanceTimersByTimeAsync(59_999);
    expect(keys).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(60_001);
    expect(keys).toHaveLength(3);
  });

  test('runs again for all objects that the predicate selects at each resync', async () => {
    const { keys, reconcile } = recorder();
    putOrder('a', 1);
    putOrder('b', 2);
    const resyncing = reconciler({
      name: 'tea',
      for: order,
      predicate: ({ object }) => object().spec.cups > 1,
      keys: [{ name: 'all' }],
      resync: 60_000,
      reconcile,
    });
    await start(resyncing);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(names(keys).sort()).toEqual(['/all', '/all', 'shop/b', 'shop/b']);
  });

  test('cannot send requests after the controller is closed, and gets an abort signal', async () => {
    let context: ReconcileContext | undefined;
    putOrder('a', 1);
    await start(
      reconciler({ name: 'tea', for: 'tea.example.com/orders', reconcile: (_key, its) => void (context = its) }),
    );
    await fake.close();
    expect(context!.signal.aborted).toBe(true);
    await expect(context!.client.resource('pods').get({ namespace: 'shop', name: 'a' })).rejects.toThrow('tea');
    expect(fake.requests).toEqual([]);
    putOrder('b', 1);
    await settle();
    expect(context!.object?.metadata.name).toBe('a');
  });

  test('sends its requests as the account of the controller, or the configured one', async () => {
    for (const account of [undefined, 'other']) {
      const gets = reconciler({
        name: 'tea',
        ...(account && { account }),
        keys: [{ name: 'x' }],
        reconcile: async (_key, { client }) => void (await client.resource('pods').list()),
      });
      await start(gets);
    }
    expect(fake.requests.map(({ controller }) => controller)).toEqual(['tea', 'other']);
  });
});

describe('the client', () => {
  /** Runs `work` once, with the context of a reconciliation of an object. */
  async function once(work: (context: ReconcileContext) => Promise<unknown>): Promise<void> {
    let failure: unknown;
    const run = reconciler({
      name: 'tea',
      keys: [{ resource: ORDERS, namespace: 'shop', name: 'a' }],
      async reconcile(_key, context) {
        await work(context).catch(thrown => (failure = thrown));
      },
    });
    await start(run);
    if (failure !== undefined) throw failure;
  }

  test('creates, reads, changes and deletes objects of built-in and defined kinds', async () => {
    await once(async ({ client }) => {
      const orders = client.resource(order);
      const made = await orders.create({ metadata: { namespace: 'shop', name: 'a' }, spec: { cups: 2 } });
      expect(made).toMatchObject({ apiVersion: 'tea.example.com/v1', kind: 'Order', spec: { cups: 2 } });
      expect((await orders.get(made.metadata))?.spec.cups).toBe(2);
      await orders.replace({ ...made, spec: { cups: 3 } });
      const patched = await orders.patch(made.metadata, { metadata: { labels: { hot: 'yes' } } });
      expect([patched.spec.cups, patched.metadata.labels]).toEqual([3, { hot: 'yes' }]);
      expect((await orders.list({ labelSelector: 'hot=yes' })).items).toMatchObject([{ kind: 'Order' }]);
      expect((await orders.list({ labelSelector: 'hot=no' })).items).toEqual([]);
      const pods = client.resource('pods');
      await pods.apply({ metadata: { namespace: 'shop', name: 'p' }, spec: {} }, { fieldManager: 'tea' });
      expect([
        await pods.delete({ namespace: 'shop', name: 'p' }),
        await pods.get({ namespace: 'shop', name: 'p' }),
      ]).toEqual([true, undefined]);
      expect(await pods.delete({ namespace: 'shop', name: 'p' })).toBe(false);
    });
    expect(requests()).toContain('PATCH /api/v1/namespaces/shop/pods/p?fieldManager=tea&force=true');
  });

  test('writes a status that differs, and rejects with Conflict if the object has changed', async () => {
    putOrder('a', 1, { resourceVersion: '7' });
    await once(async ({ client, object }) => {
      const orders = client.resource(order);
      const read = object as Parameters<typeof orders.setStatus>[0];
      const written = await orders.setStatus(read, { poured: 1 });
      expect(written.status).toEqual({ poured: 1 });
      expect(await orders.setStatus(written, { poured: 1 })).toBe(written);
      await expect(orders.setStatus(read, { poured: 2 })).rejects.toMatchObject({ reason: 'Conflict' });
    });
    expect(requests().filter(line => line.startsWith('PUT'))).toEqual(
      Array<string>(2).fill('PUT /apis/tea.example.com/v1/namespaces/shop/orders/a/status'),
    );
  });

  test('adds and removes finalizers that differ, and treats a missing object as success', async () => {
    putOrder('a', 1);
    await once(async ({ client, object }) => {
      const orders = client.resource(order);
      const read = object as Parameters<typeof orders.addFinalizer>[0];
      const held = await orders.addFinalizer(read, 'tea.example.com/cup');
      expect(held.metadata.finalizers).toEqual(['tea.example.com/cup']);
      expect(await orders.addFinalizer(held, 'tea.example.com/cup')).toBe(held);
      await orders.delete(held.metadata);
      const deleted = await orders.get(held.metadata);
      expect(deleted?.metadata.deletionTimestamp).toBeDefined();
      await orders.removeFinalizer(deleted!, 'tea.example.com/cup');
      expect(await orders.get(held.metadata)).toBeUndefined();
      expect(await orders.removeFinalizer(deleted!, 'tea.example.com/cup')).toBe(deleted);
    });
  });

  test('refuses references that name no object or a resource that is not served, with an error that says so', async () => {
    await once(async ({ client }) => {
      await expect(client.resource('pods').get({ name: 'p' })).rejects.toThrow(
        new TypeError('an object of pods must be given with its namespace'),
      );
      await expect(client.resource('nodes').get({ namespace: 'shop', name: 'n' })).rejects.toThrow(
        'nodes are not in namespaces: give no namespace',
      );
      await expect(client.resource('pods').delete({ namespace: 'shop' })).rejects.toThrow(
        'must be given with its name',
      );
      await expect(client.resource('coffee.example.com/cups').list()).rejects.toMatchObject({
        reason: 'NotFound',
        message: 'resources "cups.coffee.example.com" not found',
      });
    });
  });
});

describe('events', () => {
  const events = () => fake.host.informer('core/events').list() as unknown as Frozen<Record<string, unknown>>[];
  const record = reconciler({
    name: 'tea',
    for: order,
    reconcile(_key, { object, event }) {
      if (object) event(object, { reason: 'Poured', message: `${object.spec.cups} cups` });
    },
  });

  test('are Event objects about the object; a repeated event increases the count of the first', async () => {
    putOrder('a', 1);
    await start(record);
    await settle();
    putOrder('a', 1, { labels: { again: 'yes' } });
    await settle();
    putOrder('a', 2);
    await settle();
    expect(events()).toMatchObject([
      {
        type: 'Normal',
        reason: 'Poured',
        message: '1 cups',
        count: 2,
        source: { component: 'tea' },
        involvedObject: { kind: 'Order', apiVersion: 'tea.example.com/v1', namespace: 'shop', name: 'a', uid: 'uid-a' },
      },
      { message: '2 cups', count: 1 },
    ]);
  });

  test('of an object are limited in number, and have no effect on the controller when they are refused', async () => {
    putOrder('a', 0);
    await start(record);
    for (let cups = 1; cups <= 50; cups++) {
      putOrder('a', cups);
      await settle();
    }
    expect(events()).toHaveLength(25);
    putOrder('b', 0);
    await settle();
    expect(events()).toHaveLength(26);
    fake.now += 5 * 60_000;
    putOrder('a', 51);
    await settle();
    expect(events()).toHaveLength(27);
    fake.answer = () => {
      throw new Refusal('Forbidden', 'no events');
    };
    putOrder('b', 1);
    await settle();
    expect([events().length, warnings()]).toEqual([27, []]);
  });
});
