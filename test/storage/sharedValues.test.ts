import { MessageChannel, type MessagePort } from 'node:worker_threads';
import { expect, it } from 'vitest';
import { Entry } from '../../core/threads/entries/entry.js';
import { StoreFeed } from '../../core/threads/feed.js';
import type { MovedMessage } from '../../core/threads/messages/messages.js';
import { ObjectFeed } from '../../core/threads/objectFeed.js';
import { createRing } from '../../core/threads/messages/ring.js';
import { readStartPage } from '../../core/threads/entries/startPage.js';
import { encodeToWriter } from '../../core/threads/messages/wire.js';
import { openMemory } from '../../plugins/storage/memory.js';
import { Writer } from '../../workers/writer/writer.js';
import { RecordedLog } from '../support/recordedLog.js';

const OBJECTS = 3000;
const ROUNDS = 30;

it('a thread that replaces another while objects are written and moved gets exactly the current objects', async () => {
  const store = await openMemory({});
  for (let i = 0; i < OBJECTS; i++)
    await store.commit([[{ is: 'put', key: `core/pods/shop/p${i}`, value: Buffer.from(`first of ${i}`) }]]);
  const fatal = (error: Error): void => {
    throw error;
  };
  const counters = new SharedArrayBuffer(64);
  const writer = new Writer(store, new Int32Array(counters), fatal, new RecordedLog());
  await writer.start();
  const ports: MessagePort[] = [];
  const connect = (counter: number, ring?: SharedArrayBuffer): MessagePort => {
    const { port1, port2 } = new MessageChannel();
    writer.connect({ port: port1, counter, ring, reacts: false, front: ring ? undefined : 0 });
    ports.push(port2);
    return port2;
  };

  const front = new Map<string, Entry>();
  let verdicts = 0;
  const frontPort = connect(1);
  const feed = new StoreFeed({ port: frontPort, counter: 1 }, new Int32Array(counters), message => {
    if (message.is === 'startPage') readStartPage(message.page, entry => front.set(entry.key, entry));
    if (message.is !== 'events') return;
    for (const event of message.events) event.value ? front.set(event.key, Entry.of(event)) : front.delete(event.key);
    verdicts += message.verdicts.length;
  });
  frontPort.postMessage({ is: 'subscribe', prefixes: [''] });
  /** Moves some of the current objects to new memory. */
  const move = (round: number): void => {
    const entries = [...front.values()].filter((_, i) => i % ROUNDS === round);
    const memory = new SharedArrayBuffer(entries.reduce((sum, { length }) => sum + length, 0));
    let at = 0;
    for (const entry of entries) {
      new Uint8Array(memory, at, entry.length).set(entry.value);
      entry.move({ buffer: memory, byteOffset: at, length: entry.length });
      at += entry.length;
    }
    const keys = entries.map(({ key }) => key);
    const places = entries.map(({ revision, byteOffset }) => [revision, byteOffset] as const);
    frontPort.postMessage({ is: 'moved', memory, keys, places } satisfies MovedMessage);
  };

  // The second prefix is not that of a whole resource, so the thread gets its own start pages.
  const replaced = [['core/pods/'], ['core/pods/shop/']].map((prefixes, i) => {
    const ring = createRing();
    const entries = new Map<string, Entry>();
    const port = connect(2 + i, ring);
    const objects = new ObjectFeed({ port, counter: 2 + i, ring }, counters, {
      apply: (key, _revision, entry) => (entry ? entries.set(key, entry) : entries.delete(key)),
      addPage: () => false,
      find: key => entries.get(key),
    });
    return { entries, objects, subscribe: () => objects.subscribe(prefixes) };
  });
  const loaded: Promise<void>[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const operations = Array.from({ length: 20 }, (_, i) => {
      const key = `core/pods/shop/p${(round * 7 + i * 31) % OBJECTS}`;
      return i % 5 === 0
        ? ({ is: 'delete', key } as const)
        : ({ is: 'put', key, value: Buffer.from(`round ${round} of ${i}`) } as const);
    });
    frontPort.postMessage(...encodeToWriter({ is: 'propose', proposals: [{ id: round, operations }] }));
    if (round === 3) for (const { subscribe } of replaced) loaded.push(subscribe());
    move(round);
    while (verdicts <= round) await new Promise(resolve => setImmediate(resolve));
  }
  await Promise.all(loaded);

  const textsOf = (entries: Map<string, Entry>) =>
    Object.fromEntries(Array.from(entries, ([key, entry]) => [key, Buffer.from(entry.value).toString()]));
  const expected = (await store.range('')).items.map(({ key, value }) => [key, Buffer.from(value).toString()]);
  feed.catchUp();
  expect(textsOf(front)).toEqual(Object.fromEntries(expected));
  for (const { entries, objects } of replaced) {
    objects.catchUp();
    expect(textsOf(entries)).toEqual(Object.fromEntries(expected));
  }
  // Most of the values moved after the start pages are shared.
  for (const { entries } of replaced)
    expect([...entries.values()].filter(({ buffer }) => buffer instanceof SharedArrayBuffer).length).toBeGreaterThan(
      OBJECTS / 2,
    );
  for (const port of ports) port.close();
  await writer.close();
});
