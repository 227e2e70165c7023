import { expect, it } from 'vitest';
import type { StoreOperation } from '../../core/api/index.js';
import { MemoryRecords, openMemory } from '../../plugins/storage/memory.js';
import { committed } from '../conformance/storage.js';

const put = (key: string, value = 'v', expect?: number): StoreOperation => ({
  is: 'put',
  key,
  value: Buffer.from(value),
  expect,
});

/** A promise and the function that ends it. */
function gate(): { opened: Promise<void>; open: () => void } {
  let open = () => {};
  const opened = new Promise<void>(resolve => {
    open = resolve;
  });
  return { opened, open };
}

it('writes transactions that arrive during a sync as one group with one sync', async () => {
  const records = new MemoryRecords();
  const store = await openMemory({ records });
  const syncs = records.syncs;
  const { opened, open } = gate();
  records.inject({ delay: opened });
  const first = store.commit([[put('a')]]);
  // The first write begins at the end of this turn of the event loop.
  await new Promise(resolve => setImmediate(resolve));
  const later = Array.from({ length: 50 }, (_, i) => store.commit([[put(`k${i}`)]]));
  open();
  await Promise.all([first, ...later]);
  expect(records.syncs - syncs).toBe(2);
  expect(await store.revision()).toBe(51);
  await store.close();
});

it('shows a write only when it is durable', async () => {
  const records = new MemoryRecords();
  const store = await openMemory({ records });
  await committed(store, put('a', 'old'));
  const { opened, open } = gate();
  records.inject({ delay: opened });
  const writing = store.commit([[put('a', 'new')], [put('a', 'refused', 0)]]);
  const end = new AbortController();
  const seen: number[] = [];
  const watching = store.watch('', 1, events => seen.push(...events.map(event => event.revision)), end.signal);
  expect(Buffer.from((await store.get('a'))!.value).toString()).toBe('old');
  expect((await store.range('')).revision).toBe(1);
  expect(await store.revision()).toBe(1);
  expect(seen).toEqual([]);
  open();
  const [, refused] = await writing;
  expect(refused).toMatchObject({ is: 'failed', current: { modified: 2 } });
  expect(Buffer.from((await store.get('a'))!.value).toString()).toBe('new');
  await store.check();
  end.abort();
  await watching;
  await store.close();
});

it('fails every write after a failed one, still reads, and reopens with the data on the disk', async () => {
  const records = new MemoryRecords();
  const store = await openMemory({ records });
  await committed(store, put('a', 'kept'));
  records.inject({ error: new Error('no space left on device') });
  const [failed] = await store.commit([[put('a', 'lost', 1)]]);
  expect(failed?.is === 'error' && failed.error.message).toMatch(/no space left on device/);
  expect(await store.commit([[put('b')]])).toMatchObject([{ is: 'error' }]);
  expect(await store.get('a')).toMatchObject({ modified: 1 });
  await expect(store.check()).rejects.toThrow(/must be opened again/);
  await store.close();
  const again = await openMemory({ records });
  expect(await committed(again, put('a', 'next', 1))).toBe(2);
  await again.close();
});

it('serves a watch that begins before its tail from the records, for one prefix among many', async () => {
  const records = new MemoryRecords();
  const store = await openMemory({ records });
  const big = 'x'.repeat(600_000);
  for (let i = 0; i < 60; i++) await committed(store, put(`${i % 2 ? 'a' : 'b'}/${i % 6}`, big + i));
  const end = new AbortController();
  const seen: string[] = [];
  await store.watch(
    'a/',
    0,
    events => {
      for (const event of events) {
        const previous = event.previous && Buffer.from(event.previous.value).toString().slice(big.length);
        seen.push(`${event.revision} ${Buffer.from(event.value!).toString().slice(big.length)} ${previous}`);
      }
      if (seen.length === 30) end.abort();
    },
    end.signal,
  );
  const expected = Array.from({ length: 30 }, (_, i) => 2 * i + 1).map(
    i => `${i + 1} ${i} ${i < 6 ? undefined : i - 6}`,
  );
  expect(seen).toEqual(expected);
  await store.close();
});

it('removes expired history according to the given clock', async () => {
  let now = 0;
  const store = await openMemory({ now: () => now, historyMs: 10_000 });
  const first = await committed(store, put('a', '1'));
  await store.expireHistory();
  now = 9_999;
  await committed(store, put('a', '2'));
  await store.expireHistory();
  expect(store.compactedRevision()).toBe(0);
  now = 10_000;
  await store.expireHistory();
  expect(store.compactedRevision()).toBe(first);
  await store.close();
});

it('refuses writes and ends watches when it is closed', async () => {
  const store = await openMemory();
  const watching = store.watch('', undefined, () => {}, new AbortController().signal);
  await store.close();
  await expect(watching).rejects.toThrow(/closed/);
  expect(await store.commit([[put('a')]])).toMatchObject([{ is: 'error' }]);
});

it('reads the values of a range in parts, a limited number at a time, and closes after the last', async () => {
  const records = new MemoryRecords();
  const store = await openMemory({ records });
  const keys = Array.from({ length: 1000 }, (_, i) => `k${String(i).padStart(4, '0')}`);
  // With many other versions between them, they are looked up.
  for (const value of ['first', 'second', undefined]) await store.commit([keys.map(key => put(key, value ?? key))]);
  const { getMany } = records;
  const waiting: (() => void)[] = [];
  let most = 0;
  let loses = false;
  records.getMany = async asked => {
    await new Promise<void>(resolve => waiting.push(resolve));
    const rows = await getMany.call(records, asked);
    return loses ? rows.map(() => undefined) : rows;
  };
  const turn = (): Promise<void> => new Promise(resolve => setImmediate(resolve));
  /** Ends the reads that are running, the last one first. */
  const endReads = async (): Promise<void> => {
    most = Math.max(most, waiting.length);
    for (const end of waiting.splice(0).reverse()) end();
    await turn();
  };

  let page: readonly string[] | undefined;
  void store.range('k').then(({ items }) => (page = items.map(({ key, value }) => `${key} ${value}`)));
  for (let i = 0; i < 1000 && !page; i++) await endReads();
  expect(page).toEqual(keys.map(key => `${key} ${key}`));
  expect(most).toBeGreaterThan(1);
  expect(most).toBeLessThan(10);

  loses = true;
  let failure: Error | undefined;
  let isClosed = false;
  store.range('k').catch(error => (failure = error as Error));
  await turn();
  waiting.shift()!();
  await turn();
  void store.close().then(() => (isClosed = true));
  await turn();
  expect(isClosed).toBe(false);
  for (let i = 0; i < 1000 && !isClosed; i++) await endReads();
  expect(failure?.message).toMatch('the store has lost the value of "k0000"');
  expect(isClosed).toBe(true);
});
