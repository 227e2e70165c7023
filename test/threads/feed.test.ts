import { MessageChannel } from 'node:worker_threads';
import { afterEach, expect, it } from 'vitest';
import { StoreFeed } from '../../core/threads/feed.js';
import type { FromWriter } from '../../core/threads/messages.js';
import { encodeFromWriter } from '../../core/threads/wire.js';

const { port1: writer, port2: reader } = new MessageChannel();
afterEach(() => writer.close());

it('a listener that catches up during an event receives the other events in order', async () => {
  const counters = new Int32Array(new SharedArrayBuffer(4));
  const heard: number[] = [];
  let done: () => void = () => undefined;
  const all = new Promise<void>(resolve => {
    done = resolve;
  });
  const feed = new StoreFeed(reader, counters, 0, message => {
    for (const { revision } of (message as Extract<FromWriter, { is: 'events' }>).events) {
      feed.catchUp();
      heard.push(revision);
      if (heard.length === 4) done();
    }
  });
  for (const revisions of [
    [1, 2],
    [3, 4],
  ]) {
    const events = revisions.map(revision => ({ key: 'core/pods/a', revision, created: 1 }));
    writer.postMessage(...encodeFromWriter({ is: 'events', revision: revisions.at(-1)!, events, verdicts: [] }));
    Atomics.add(counters, 0, 1);
  }
  await all;
  expect(heard).toEqual([1, 2, 3, 4]);
});
