import { expect, test, vi } from 'vitest';
import type { ResponseStream } from '../../core/api/listener.js';
import { Entry } from '../../core/threads/entries/entry.js';
import { type Change, Collection } from '../../workers/front/state/collection.js';
import type { Selection } from '../../workers/front/reads/selection.js';
import type { EventForm } from '../../workers/front/watch/watchEvents.js';
import { Watcher } from '../../workers/front/watch/watcher.js';
import { WatchHub } from '../../workers/front/watch/watchHub.js';
import {
  BOOKMARK_MS,
  LAST_BOOKMARK_MS,
  LIST_SLICE_BYTES,
  STALLED_READER_MS,
  WATCH_BACKLOG_BYTES,
} from '../../core/limits.js';

const selection: Selection = {
  of: { group: '', resource: 'secrets' },
  prefix: '/secrets/',
  scope: '',
  filtered: false,
  matches: () => true,
};
const form = (encode: EventForm['encode']): EventForm => ({
  key: 'test',
  mediaType: 'application/json',
  firstDiffers: false,
  encode,
  bookmark: revision => Buffer.from(`BOOKMARK ${revision}\n`),
  error: refusal => Buffer.from(`ERROR ${refusal.code}\n`),
});
const text: EventForm['encode'] = (type, object) => Buffer.from(`${type} ${Buffer.from(object).toString()}\n`);

class Reader implements ResponseStream {
  written = '';
  unsent = 0;
  state: 'open' | 'ended' | 'aborted' = 'open';
  drains: (() => void)[] = [];
  write(bytes: Uint8Array): number {
    this.written += Buffer.from(bytes).toString();
    return this.unsent;
  }
  onDrain(listener: () => void): void {
    this.drains.push(listener);
  }
  end(): void {
    this.state = 'ended';
  }
  abort(): void {
    this.state = 'aborted';
  }
}

function setUp(encode: EventForm['encode'] = text, bookmarks = false) {
  const collection = new Collection('/secrets', new Map());
  const hub = new WatchHub();
  const reader = new Reader();
  const watcher = new Watcher(selection, collection, reader, form(encode), 5, bookmarks, w => hub.remove(w));
  hub.add(watcher);
  const change = (revision: number, value = `v${revision}`): Change =>
    collection.apply({ key: '/secrets/a/b', revision, created: 1, value: Buffer.from(value) })!;
  return { hub, reader, watcher, change, collection };
}

test('[R325] live changes wait behind the initial objects and come in order, each once', async () => {
  const { hub, reader, watcher, change } = setUp();
  const caughtUp = watcher.catchUp([{ type: 'ADDED', object: Buffer.from('old') }], 5);
  const six = change(6);
  for (const c of [six, six, change(7)]) hub.publish(c);
  await caughtUp;
  hub.publish(change(8));
  expect(reader.written).toBe('ADDED old\nBOOKMARK 5\nADDED v6\nMODIFIED v7\nMODIFIED v8\n');
});

test('events keep their order while encodings resolve out of order', async () => {
  const open: (() => void)[] = [];
  const { hub, reader, watcher, change } = setUp(
    (type, object) =>
      new Promise(resolve => open.push(() => resolve(Buffer.from(`${type} ${Buffer.from(object).toString()}\n`)))),
  );
  await watcher.catchUp([], undefined);
  for (const revision of [6, 7, 8]) hub.publish(change(revision));
  watcher.finish(8);
  for (const resolve of open.reverse()) resolve();
  await new Promise(resolve => setImmediate(resolve));
  expect(reader.written).toBe('ADDED v6\nMODIFIED v7\nMODIFIED v8\n');
  expect(reader.state).toBe('ended');
});

test('a client too far behind is disconnected, also while it catches up', async () => {
  const live = setUp();
  await live.watcher.catchUp([], undefined);
  live.reader.unsent = WATCH_BACKLOG_BYTES + 1;
  live.hub.publish(live.change(6));
  expect(live.reader.state).toBe('aborted');
  const behind = setUp(() => new Promise(() => undefined));
  void behind.watcher.catchUp([{ type: 'ADDED', object: Buffer.from('x') }], undefined);
  for (let i = 6; i < 16; i++) behind.hub.publish(behind.change(i, 'x'.repeat(1024 * 1024)));
  expect(behind.reader.state).toBe('aborted');
});

/** Initial objects that fill `count` slices. */
const slices = (count: number) =>
  Array.from({ length: count }, () => ({ type: 'ADDED' as const, object: Buffer.alloc(LIST_SLICE_BYTES) }));

test('the hub waits for a slow client slice by slice, with one listener', async () => {
  const { reader, watcher } = setUp(() => Buffer.from('.'));
  reader.unsent = LIST_SLICE_BYTES;
  const caughtUp = watcher.catchUp(slices(20), undefined);
  for (let i = 1; i < 20; i++) {
    await new Promise(resolve => setImmediate(resolve));
    expect(reader.written).toBe('.'.repeat(i));
    for (const listener of [...reader.drains]) listener();
  }
  await new Promise(resolve => setImmediate(resolve));
  for (const listener of [...reader.drains]) listener();
  await caughtUp;
  expect(reader.written).toBe('.'.repeat(20));
  expect(reader.drains.length).toBe(1);
});

test('a watch that ends while the hub waits for its client releases everything', async () => {
  for (const end of ['ended', 'finish'] as const) {
    const { hub, reader, watcher, change } = setUp(() => Buffer.from('.'));
    reader.unsent = LIST_SLICE_BYTES;
    const caughtUp = watcher.catchUp(slices(3), 5);
    await new Promise(resolve => setImmediate(resolve));
    hub.publish(change(6));
    watcher[end](6);
    await caughtUp;
    expect(reader.written).toBe('.');
  }
});

test('encodings of changes that waited for the initial objects are dropped once the changes are sent', async () => {
  const { hub, reader, watcher, change } = setUp();
  const caughtUp = watcher.catchUp([{ type: 'ADDED', object: Buffer.from('old') }], undefined);
  const six = change(6);
  hub.publish(six);
  await caughtUp;
  expect(reader.written).toBe('ADDED old\nADDED v6\n');
  expect(six.encodings).toBeUndefined();
});

test('encodings are dropped once a change is sent; a failed encoding ends the watch with an ERROR', async () => {
  const { hub, reader, watcher, change } = setUp(() => Promise.reject(new Error('broken')));
  await watcher.catchUp([], undefined);
  const six = change(6);
  hub.publish(six);
  expect(six.encodings).toBeUndefined();
  await new Promise(resolve => setImmediate(resolve));
  expect(reader.written).toBe('ERROR 500\n');
  expect(reader.state).toBe('ended');
});

test('bookmarks come once a minute, with the revision of that time, and a last one shortly before the end [R330]', async () => {
  vi.useFakeTimers();
  try {
    const { hub, reader, watcher, change } = setUp(text, true);
    let now = 5;
    watcher.start(2.5 * BOOKMARK_MS, () => now);
    await watcher.catchUp([], undefined);
    vi.advanceTimersByTime(BOOKMARK_MS - 1);
    expect(reader.written).toBe('');
    vi.advanceTimersByTime(1);
    hub.publish(change((now = 6)));
    vi.advanceTimersByTime(BOOKMARK_MS);
    now = 9;
    vi.advanceTimersByTime(BOOKMARK_MS / 2 - LAST_BOOKMARK_MS);
    expect(reader.written).toBe('BOOKMARK 5\nADDED v6\nBOOKMARK 6\nBOOKMARK 9\n');
    vi.advanceTimersByTime(LAST_BOOKMARK_MS - 1);
    expect(reader.state).not.toBe('ended');
    vi.advanceTimersByTime(1);
    expect(reader.written).toBe('BOOKMARK 5\nADDED v6\nBOOKMARK 6\nBOOKMARK 9\n');
    expect(reader.state).toBe('ended');
    expect(vi.getTimerCount()).toBe(0);
  } finally {
    vi.useRealTimers();
  }
});

test('deletions found by a resync share a revision and are all shown, and nothing older follows', async () => {
  const { hub, reader, watcher, collection } = setUp();
  const put = (key: string, revision: number): Change =>
    collection.apply({
      key,
      revision,
      created: 1,
      value: Buffer.from(`{"metadata":{"resourceVersion":"${revision}"}}`),
    })!;
  await watcher.catchUp([], undefined);
  const early = put('/secrets/a/x', 6);
  hub.publish(early);
  hub.publish(put('/secrets/a/y', 7));
  reader.written = '';
  // The changes that were missed arrive as one summary: changes with their own revisions, then every deleted object, at
  // the revision of the summary.
  const summary = [
    put('/secrets/a/z', 9),
    ...['x', 'y'].map(name => collection.apply({ key: `/secrets/a/${name}`, revision: 12, created: 0 })!),
  ];
  for (const change of summary) hub.publish(change);
  hub.publish(early);
  const shown = (revision: number): string => `{"metadata":{"resourceVersion":"${revision}"}}`;
  expect(reader.written).toBe(`ADDED ${shown(9)}\nDELETED ${shown(12)}\nDELETED ${shown(12)}\n`);
});

test('a reader that does not read initial events for a long time is disconnected', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  try {
    const { reader, watcher } = setUp();
    reader.unsent = LIST_SLICE_BYTES;
    const caughtUp = watcher.catchUp([{ type: 'ADDED', object: Buffer.from('old') }], undefined);
    await new Promise(resolve => setImmediate(resolve));
    vi.advanceTimersByTime(STALLED_READER_MS - 1);
    expect(reader.state).toBe('open');
    vi.advanceTimersByTime(1);
    await caughtUp;
    expect(reader.state).toBe('aborted');
  } finally {
    vi.useRealTimers();
  }
});

test('present objects are initial events, encoded when they are sent', async () => {
  const { reader, watcher } = setUp();
  const entry = new Entry('/secrets/a/b', 3, Buffer.from('old'));
  await watcher.catchUp([entry], undefined);
  expect(reader.written).toBe('ADDED old\n');
});
