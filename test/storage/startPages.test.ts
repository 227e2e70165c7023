import { MessageChannel } from 'node:worker_threads';
import { expect, it } from 'vitest';
import type { Storage } from '../../core/api/index.js';
import { readStartPage } from '../../core/threads/entries/startPage.js';
import { decodeFromWriter } from '../../core/threads/messages/wire.js';
import { openMemory } from '../../plugins/storage/memory.js';
import { Writer } from '../../workers/writer/writer.js';
import { RecordedLog } from '../support/recordedLog.js';

/** More than one page. */
const OBJECTS = 2500;

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
  const storage = new Proxy(store as Storage, {
    get: (of, name) =>
      name === 'range'
        ? range
        : typeof of[name as 'get'] === 'function'
          ? of[name as 'get'].bind(of)
          : of[name as 'get'],
  });
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
