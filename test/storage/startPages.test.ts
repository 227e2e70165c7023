import { MessageChannel } from 'node:worker_threads';
import { expect, it } from 'vitest';
import { type Storage, Unavailable } from '../../core/api/index.js';
import { readStartPage } from '../../core/threads/entries/startPage.js';
import { decodeFromWriter, encodeToWriter } from '../../core/threads/messages/wire.js';
import { openMemory } from '../../plugins/storage/memory.js';
import type { SharedFeed } from '../../workers/writer/sharedFeed.js';
import { StartPages } from '../../workers/writer/startPages.js';
import { Subscriber } from '../../workers/writer/subscriber.js';
import { Writer } from '../../workers/writer/writer.js';
import { RecordedLog } from '../support/recordedLog.js';
import { partly } from '../support/values.js';

/** More than one page. */
const OBJECTS = 2500;

/** A store whose ranges are read by another function. */
const withRange = (store: Storage, range: Storage['range']): Storage =>
  new Proxy(store, {
    get: (of, name) =>
      name === 'range'
        ? range
        : typeof of[name as 'get'] === 'function'
          ? of[name as 'get'].bind(of)
          : of[name as 'get'],
  });

it('a thread that starts has exactly the current objects, even if history is kept for less time than its start pages take', async () => {
  const store = await openMemory({});
  for (let i = 0; i < OBJECTS; i++)
    await store.commit([[{ is: 'put', key: `core/pods/p${String(i).padStart(5, '0')}`, value: Buffer.from('{}') }]]);
  let pages = 0;
  const range: Storage['range'] = async (...asked) => {
    // After the first page, an object is deleted and the history of the page's revision is removed.
    if (++pages === 2) {
      await store.commit([[{ is: 'delete', key: 'core/pods/p00000' }]]);
      await store.compact(await store.revision());
    }
    return await store.range(...asked);
  };
  const storage = withRange(store, range);
  const failures: Error[] = [];
  const counters = new Int32Array(new SharedArrayBuffer(64));
  const writer = new Writer(storage, counters, error => failures.push(error), new RecordedLog());
  await writer.start();
  const { port1, port2 } = new MessageChannel();
  writer.connect({ port: port1, counter: 1, reacts: true });
  const keys = new Set<string>();
  await new Promise<void>(resolve => {
    port2.on('message', (data: unknown) => {
      const message = decodeFromWriter(data);
      if (message.is === 'startPage') readStartPage(message.page, ({ key }) => keys.add(key));
      if (message.is === 'events')
        for (const { key, value } of message.events) value ? keys.add(key) : keys.delete(key);
      if (message.is === 'events' && message.revision > OBJECTS) resolve();
    });
    port2.postMessage({ is: 'subscribe', prefixes: ['core/pods/'] });
  });
  expect(failures).toEqual([]);
  expect(keys.size).toBe(OBJECTS - 1);
  port2.close();
  await writer.close();
});

it('a thread that loads more resources sees each write to those that it has, before and after their start pages', async () => {
  const store = await openMemory({});
  const put = (key: string) => store.commit([[{ is: 'put', key, value: Buffer.from('{}') }]]);
  await put('core/pods/a/first');
  await put('core/secrets/a/first');
  let unavailable: () => void = () => undefined;
  const isUnavailable = new Promise<void>(resolve => (unavailable = resolve));
  let isAvailable = true;
  // As from a store whose values cannot be decrypted at the moment.
  const range: Storage['range'] = async (prefix, options) => {
    if (isAvailable || prefix !== 'core/pods/a/') return await store.range(prefix, options);
    unavailable();
    throw new Unavailable('the key management plugin does not answer');
  };
  const storage = withRange(store, range);
  const fail = (error: Error) => {
    throw error;
  };
  const writer = new Writer(storage, new Int32Array(new SharedArrayBuffer(64)), fail, new RecordedLog());
  await writer.start();
  const { port1, port2 } = new MessageChannel();
  writer.connect({ port: port1, counter: 1, reacts: true });
  const keys = new Set<string>();
  let memory: SharedArrayBuffer | undefined;
  let changed: () => void = () => undefined;
  port2.on('message', (data: unknown) => {
    const message = decodeFromWriter(data, memory);
    if (message.is === 'memory') memory = message.memory;
    if (message.is === 'startPage') {
      readStartPage(message.page, ({ key }) => keys.add(key));
      if (message.last) keys.add(`pages ${keys.has('pages 1') ? 2 : 1}`);
    }
    if (message.is === 'events') for (const { key } of message.events) keys.add(key);
    changed();
  });
  const until = async (key: string) => {
    while (!keys.has(key)) await new Promise<void>(resolve => (changed = resolve));
  };
  const propose = (id: number, key: string) =>
    port2.postMessage(
      ...encodeToWriter({
        is: 'propose',
        proposals: [{ id, operations: [{ is: 'put', key, value: Buffer.from('{}') }] }],
      }),
    );
  port2.postMessage({ is: 'subscribe', prefixes: ['core/secrets/a/'] });
  await until('pages 1');
  isAvailable = false;
  port2.postMessage({ is: 'subscribe', prefixes: ['core/pods/a/'] });
  await isUnavailable;
  propose(1, 'core/secrets/a/second');
  propose(2, 'core/pods/a/second');
  await until('core/secrets/a/second');
  expect([...keys].sort()).toEqual(['core/secrets/a/first', 'core/secrets/a/second', 'pages 1']);
  isAvailable = true;
  await until('pages 2');
  propose(3, 'core/pods/a/third');
  await until('core/pods/a/third');
  const all = ['first', 'second', 'third'].map(name => `core/pods/a/${name}`);
  expect([...keys].filter(key => key.startsWith('core/pods/')).sort()).toEqual(all);
  port2.close();
  await writer.close();
});

it('objects that a thread was sent are known to the feed of a shared store, which reports their deletion if events are lost', async () => {
  const store = await openMemory({});
  await store.commit([[{ is: 'put', key: 'core/pods/a/1', value: Buffer.from('{}') }]]);
  const known: string[] = [];
  const feed = partly<SharedFeed>({
    revision: 1,
    recordDelivered: items => void known.push(...items.map(({ key }) => key)),
  });
  const counters = new Int32Array(new SharedArrayBuffer(64));
  const { port1, port2 } = new MessageChannel();
  const pages = new StartPages(
    store,
    feed,
    () => 1,
    counters,
    error => {
      throw error;
    },
  );
  pages.subscribe(new Subscriber({ port: port1, counter: 1, reacts: false }, counters), ['core/pods/']);
  await new Promise<void>(resolve => port2.on('message', ({ last }: { last?: boolean }) => last && resolve()));
  expect(known).toEqual(['core/pods/a/1']);
  port2.close();
  await store.close();
});
