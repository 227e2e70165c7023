import { MessageChannel, type MessagePort } from 'node:worker_threads';
import { expect, it } from 'vitest';
import type { Entry } from '../../core/threads/entries/entry.js';
import type { StartPageMessage } from '../../core/threads/messages/messages.js';
import { ObjectFeed } from '../../core/threads/objectFeed.js';
import { readStartPage } from '../../core/threads/entries/startPage.js';
import { PUBLISHING } from '../../core/threads/feed.js';
import { decodeFromWriter, encodeToWriter } from '../../core/threads/messages/wire.js';
import { openMemory } from '../../plugins/storage/memory.js';
import { Writer } from '../../workers/writer/writer.js';
import { RecordedPages } from '../../workers/writer/recordedPages.js';
import { countKept } from '../support/garbage.js';
import { RecordedLog } from '../support/recordedLog.js';

/** The pages that a thread has received: values by key, and their memory. */
interface Received {
  readonly values: Map<string, string>;
  readonly memories: Set<ArrayBufferLike>;
}

/** Subscribes a new thread. Resolves when its start pages are complete and `until` holds. */
function subscribe(writer: Writer, counter: number, prefixes: string[], until: (got: Received) => boolean) {
  const { port1, port2 } = new MessageChannel();
  writer.connect({ port: port1, counter, reacts: true });
  const got: Received = { values: new Map(), memories: new Set() };
  let isComplete = false;
  let memory: SharedArrayBuffer | undefined;
  const done = new Promise<Received>(resolve => {
    port2.on('message', (data: unknown) => {
      const message = decodeFromWriter(data, memory);
      if (message.is === 'memory') ({ memory } = message);
      if (message.is === 'startPage') take(message);
      if (message.is === 'events')
        for (const { key, value } of message.events) {
          if (value) got.values.set(key, Buffer.from(value.buffer, value.byteOffset, value.length).toString());
          else got.values.delete(key);
        }
      if (isComplete && until(got)) resolve(got);
    });
  });
  const take = ({ page, last }: StartPageMessage): void => {
    readStartPage(page, ({ key, value }) => got.values.set(key, Buffer.from(value).toString()));
    if (page.count > 0) got.memories.add(page.memory);
    isComplete ||= last;
  };
  port2.postMessage({ is: 'subscribe', prefixes });
  return { port: port2, done };
}

const put = (key: string, value: string) => [{ is: 'put', key, value: Buffer.from(value) }] as const;
const always = (): boolean => true;

it('starting threads share memory, each gets its own part, and then the commits since', async () => {
  const store = await openMemory({});
  let reads = 0;
  const { range } = store;
  store.range = (...asked) => {
    reads++;
    return range.apply(store, asked);
  };
  for (const key of ['core/pods/a/1', 'core/pods/a/2', 'core/secrets/a/1', 'core/podtemplates/a/1'])
    await store.commit([put(key, '1')]);
  const fatal = (error: Error): void => {
    throw error;
  };
  const writer = new Writer(store, new Int32Array(new SharedArrayBuffer(64)), fatal, new RecordedLog());
  await writer.start();
  const ports: MessagePort[] = [];
  const start = async (counter: number, prefixes: string[], until: (got: Received) => boolean): Promise<Received> => {
    const { port, done } = subscribe(writer, counter, prefixes, until);
    ports.push(port);
    return await done;
  };
  const [pods, everything] = await Promise.all([start(1, ['core/pods/'], always), start(4, [''], always)]);
  expect([...pods.values.keys()]).toEqual(['core/pods/a/1', 'core/pods/a/2']);
  expect(everything.values.size).toBe(4);
  expect([...pods.memories].every(memory => memory instanceof SharedArrayBuffer)).toBe(true);
  const before = reads;
  const [proposal, transfer] = encodeToWriter({
    is: 'propose',
    proposals: [{ id: 1, operations: [...put('core/pods/a/1', '2'), { is: 'delete', key: 'core/secrets/a/1' }] }],
  });
  ports[1]!.postMessage(proposal, transfer);
  const [late, secrets] = await Promise.all([
    start(2, ['core/pods/', 'core/podtemplates/'], ({ values }) => values.get('core/pods/a/1') === '2'),
    start(3, ['core/secrets/'], ({ values }) => values.size === 0),
  ]);
  expect(Object.fromEntries(late.values)).toEqual({
    'core/pods/a/1': '2',
    'core/pods/a/2': '1',
    'core/podtemplates/a/1': '1',
  });
  expect(secrets.values.size).toBe(0);
  expect(reads).toBe(before);
  for (const port of ports) port.close();
  await writer.close();
});

it('resources with few objects are first, and threads that need no others do not wait for the rest', async () => {
  const store = await openMemory({});
  const many = Array.from({ length: 1200 }, (_, i) => put(`core/pods/a/${i}`, '1')[0]);
  await store.commit([many, [...put('core/configmaps/a/1', '1'), ...put('core/secrets/a/1', '1')]]);
  const { range } = store;
  let release: () => void = () => undefined;
  const held = new Promise<void>(resolve => (release = resolve));
  store.range = async (...asked) => {
    if (asked[0] === 'core/pods/') await held;
    return await range.apply(store, asked);
  };
  const counters = new Int32Array(new SharedArrayBuffer(64));
  const fatal = (error: Error): void => {
    throw error;
  };
  const writer = new Writer(store, counters, fatal, new RecordedLog());
  await writer.start();
  const { port1, port2 } = new MessageChannel();
  writer.connect({ port: port1, counter: 1, reacts: true, front: 0 });
  const keys = new Set<string>();
  let note: (missing: readonly string[]) => void = () => undefined;
  const missing = new Promise<readonly string[]>(resolve => (note = resolve));
  const complete = new Promise<void>(resolve => {
    port2.on('message', (data: unknown) => {
      const message = decodeFromWriter(data, undefined);
      if (message.is !== 'startPage') return;
      readStartPage(message.page, ({ key }) => keys.add(key));
      if (message.missing) note(message.missing);
      if (message.last) resolve();
    });
  });
  port2.postMessage({ is: 'subscribe', prefixes: [''] });
  expect(await missing).toEqual(['core/pods/']);
  expect([...keys].filter(key => !key.startsWith('core/pods/'))).toEqual(['core/configmaps/a/1', 'core/secrets/a/1']);
  const secrets = subscribe(writer, 1, ['core/secrets/'], always);
  expect([...(await secrets.done).values.keys()]).toEqual(['core/secrets/a/1']);
  // A pool thread does not wait for pages that it may read later, and has all of them when it does.
  const found = new Map<string, Entry>();
  const { port1: writerEnd, port2: port } = new MessageChannel();
  writer.connect({ port: writerEnd, counter: 2, reacts: false });
  const feed = new ObjectFeed({ port, counter: 2 }, counters.buffer as SharedArrayBuffer, {
    addPage: () => false,
    apply: (key, _, entry) => void found.set(key, entry!),
    find: key => found.get(key),
  });
  await feed.subscribe(['core/pods/', 'core/secrets/'], ['core/secrets/']);
  expect([found.has('core/secrets/a/1'), found.size < 1201]).toEqual([true, true]);
  release();
  await complete;
  feed.catchUp('core/pods/');
  expect(found.size).toBe(1201);
  expect(keys.size).toBe(1202);
  for (const one of [port2, secrets.port, port]) one.close();
  await writer.close();
});

it.each([
  ['the recorded pages', 'core/pods/', ''],
  ['pages of its own', 'core/pods/a/', 'core/pods/a/'],
])('a thread that gets %s does not read before it has the events since then', async (_, prefix, heldRange) => {
  const store = await openMemory({});
  await store.commit([put('core/pods/a/1', '1')]);
  const { range } = store;
  let release: () => void = () => undefined;
  let asked: () => void = () => undefined;
  const isAsked = new Promise<void>(resolve => (asked = resolve));
  const held = new Promise<void>(resolve => (release = resolve));
  store.range = async (...args) => {
    const page = await range.apply(store, args);
    if (args[0] === heldRange) {
      asked();
      await held;
    }
    return page;
  };
  const counters = new Int32Array(new SharedArrayBuffer(64));
  const fatal = (error: Error): void => {
    throw error;
  };
  const writer = new Writer(store, counters, fatal, new RecordedLog());
  await writer.start();
  const { port1, port2 } = new MessageChannel();
  const posted: { is: string; isPublishing: boolean }[] = [];
  const post = port1.postMessage.bind(port1);
  port1.postMessage = (data: unknown, transfer?: never) => {
    const { is, last } = data as StartPageMessage;
    posted.push({ is: last ? 'last' : (is ?? 'events'), isPublishing: Atomics.load(counters, PUBLISHING) === 1 });
    post(data, transfer);
  };
  writer.connect({ port: port1, counter: 1, reacts: false });
  const found = new Map<string, Entry>();
  const feed = new ObjectFeed({ port: port2, counter: 1 }, counters.buffer as SharedArrayBuffer, {
    addPage: () => false,
    apply: (key, _revision, entry) => void found.set(key, entry!),
    find: key => found.get(key),
  });
  const subscribed = feed.subscribe([prefix]);
  await isAsked;
  const { port, done } = subscribe(writer, 2, ['core/secrets/a/'], ({ values }) => values.has('core/secrets/a/1'));
  const operations = [...put('core/pods/a/2', '1'), ...put('core/secrets/a/1', '1')];
  const [proposal, transfer] = encodeToWriter({ is: 'propose', proposals: [{ id: 1, operations }] });
  port.postMessage(proposal, transfer);
  await done;
  release();
  await subscribed;
  feed.catchUp();
  expect([...found.keys()]).toEqual(['core/pods/a/1', 'core/pods/a/2']);
  const since = posted.slice(posted.findIndex(({ is }) => is === 'last'));
  expect(since.map(({ is }) => is)).toEqual(['last', 'memory', 'events']);
  expect(since.every(({ isPublishing }) => isPublishing)).toBe(true);
  for (const one of [port, port2]) one.close();
  await writer.close();
});

it('recorded pages are no longer used, and keep no events, when reading the pages again costs less', async () => {
  const value = new Uint8Array(1024 * 1024);
  for (const events of [
    Array.from({ length: 10_001 }, (_, i) => ({ key: 'core/pods/a/1', revision: i + 1, created: 1 })),
    Array.from({ length: 33 }, (_, i) => ({ key: 'core/pods/a/1', revision: i + 1, created: 1, value })),
  ]) {
    const pages = new RecordedPages();
    const recorded: WeakRef<object>[] = [];
    for (const event of events) {
      expect(pages.fits(['core/pods/'])).toBe(true);
      const group = [{ ...event }];
      recorded.push(new WeakRef(group));
      pages.committed(group);
    }
    expect(pages.fits(['core/pods/'])).toBe(false);
    // The last group may still be in a variable here.
    expect(await countKept(recorded)).toBeLessThanOrEqual(1);
  }
});
