import { afterEach, describe, expect, test, vi } from 'vitest';
import { CheckedStorage } from '../../core/api/storage/calls.js';
import type { StoreOperation } from '../../core/api/index.js';
import { callerOf } from '../../core/plugin/calls/calls.js';
import { MemoryRecords, openMemory } from '../../plugins/storage/memory.js';
import { storageConformance } from '../conformance/storage.js';
import { COMMITS, lyingStore, OUTCOMES, PAGES } from './fixtures/lyingStorage.js';
import { ConfiguredServer, fixture } from './support.js';

const PREFIX = 'core/configmaps/default/';
const put = (name: string): StoreOperation => ({ is: 'put', key: PREFIX + name, value: Buffer.from(name), expect: 0 });

/** A store wrapped as the server wraps that of a plugin, with a time limit of 50 ms, and the number of its failures. */
function checked(value: Awaited<ReturnType<typeof lyingStore>>) {
  const counters = { countCall: vi.fn(), countFailure: vi.fn() };
  const log = { error: vi.fn() };
  const target = { plugin: 'test', point: 'storage', timeout: 50, log: log as never, counters };
  const store = new CheckedStorage({ plugin: 'test', value, failurePolicy: 'Fail', call: callerOf(target) });
  return { store, failures: () => counters.countFailure.mock.calls.length, log };
}

storageConformance('memory, as the store of a plugin', async () => {
  const records = new MemoryRecords();
  return { open: async () => checked(await openMemory({ records })).store, dispose: async () => {} };
});

describe('a store that lies', () => {
  const returning = Object.keys(COMMITS).filter(lie => lie !== 'commit loops');
  test.each([...Object.keys(OUTCOMES), ...returning])('in a commit, %s: the commit fails', async lie => {
    const { store, failures, log } = checked(await lyingStore(lie));
    await store.commit([[put('a')]]);
    await expect(store.commit([[put('b')], [put('lie')]])).rejects.toThrow('the plugin "test"');
    expect(failures()).toBe(1);
    expect(log.error).toHaveBeenCalledWith(expect.objectContaining({ point: 'storage' }), expect.any(String));
  });

  test.each(Object.keys(PAGES))('in a page, %s: the read fails, and the next may succeed', async lie => {
    const { store, failures } = checked(await lyingStore(lie));
    await store.commit([[put('a')], [put('b')]]);
    const revision = await store.revision();
    await expect(store.range(PREFIX, { revision, limit: 2 })).rejects.toThrow('the plugin "test"');
    expect(failures()).toBe(1);
    expect((await store.range(PREFIX, { limit: 2 })).items).toHaveLength(2);
  });

  test('about the value of a key, or a mark: the read fails', async () => {
    const get = checked(await lyingStore('get returns another key'));
    await expect(get.store.get(`${PREFIX}a`)).rejects.toThrow('the plugin "test"');
    const mark = checked(await lyingStore('mark is not a number'));
    await expect(mark.store.shared?.mark()).rejects.toThrow('the plugin "test"');
    expect([get.failures(), mark.failures()]).toEqual([1, 1]);
  });

  test('in a watch, that delivers an event twice: clients get the event once, and the watch fails', async () => {
    const { store, failures } = checked(await lyingStore('watch delivers twice'));
    const deliver = vi.fn();
    await expect(store.watch('', 7, deliver, new AbortController().signal)).rejects.toThrow('the plugin "test"');
    expect(deliver).toHaveBeenCalledTimes(1);
    expect(failures()).toBe(1);
  });
});

describe('a server whose store', () => {
  let server: ConfiguredServer;
  const start = (lie: string) => {
    server = new ConfiguredServer();
    return server.start({ plugins: [{ use: fixture('lyingStorage'), config: lie, timeout: '1s' }] });
  };
  const MAPS = '/api/v1/namespaces/default/configmaps';
  const create = (name: string) => server.call('POST', MAPS, { body: { metadata: { name } } });
  const loggedBy = () => server.log.filter(({ name }) => name === 'test/lying-storage');
  afterEach(() => server.dispose());

  test.each(['too few events', 'commit hangs'])(
    'lies in a commit, %s: no success is answered, and the server ends',
    async lie => {
      await start(lie);
      expect((await create('honest')).status).toBe(201);
      const refused = await create('lie').catch((error: Error) => error);
      expect(refused).not.toMatchObject({ status: 201 });
      expect(await server.exited()).toBe(1);
      expect(loggedBy()).toContainEqual(expect.objectContaining({ level: 'error', point: 'storage' }));
    },
  );

  test('does not return from a commit: no write waits for long, the log names the plugin, and the server ends', async () => {
    await start('commit loops');
    const honest = [0, 1, 2, 3].map(i => create(`honest-${i}`));
    expect((await Promise.all(honest)).map(({ status }) => status)).toEqual([201, 201, 201, 201]);
    const lie = create('lie').catch((error: Error) => error);
    const waiting = create('waits').catch((error: Error) => error);
    expect((await server.call('GET', MAPS)).status).toBe(200);
    for (const refused of [await lie, await waiting]) expect(refused).not.toMatchObject({ status: 201 });
    expect(await server.exited()).toBe(1);
    expect(server.log).toContainEqual(
      expect.objectContaining({
        plugins: ['test/lying-storage (storage)'],
        message: 'the writer does not return to its event loop, and is ended: test/lying-storage (storage)',
      }),
    );
  });

  test('lies in a read: that read fails, and others do not', async () => {
    await start('items twice');
    await create('a');
    const first = await server.call('GET', `${MAPS}?limit=1`);
    await create('later');
    const { continue: token } = JSON.parse(first.text).metadata;
    expect((await server.call('GET', `${MAPS}?limit=1&continue=${token}`)).status).toBe(500);
    expect(loggedBy()).toHaveLength(1);
    expect((await server.call('GET', MAPS)).status).toBe(200);
    expect(await server.end()).toBe(0);
  });

  test('does not answer a check: only the health check fails', async () => {
    await start('check hangs');
    expect((await server.call('GET', '/livez')).status).toBe(500);
    expect((await create('a')).status).toBe(201);
  });

  test('does not close: the server ends nevertheless, and logs it', async () => {
    await start('close hangs');
    expect(await server.end()).toBe(0);
    expect(loggedBy()).toHaveLength(1);
  });

  test('lies at the start: the server does not start, and names the plugin', async () => {
    await expect(start('revision is not a number')).rejects.toThrow(/ended with 1:.*test\/lying-storage/s);
  });
});
