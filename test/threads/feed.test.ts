import { MessageChannel, type MessagePort } from 'node:worker_threads';
import { afterEach, expect, test, vi } from 'vitest';
import { StoreFeed } from '../../core/threads/feed.js';
import type { SubscriberChannel } from '../../core/threads/lifecycle.js';
import type { EventsMessage, WireEvent } from '../../core/threads/messages.js';
import { createRing } from '../../core/threads/ring.js';
import { deliverAll, Subscriber } from '../../workers/store/subscriber.js';

const ports: MessagePort[] = [];
afterEach(() => {
  vi.useRealTimers();
  for (const port of ports.splice(0)) port.close();
});

const turn = (): Promise<void> => new Promise(resolve => setImmediate(resolve));

const counters = (): Int32Array => new Int32Array(new SharedArrayBuffer(64));

/** Events of these revisions; each has a value of `bytes`. */
const eventsOf = (revisions: readonly number[], bytes = 10): WireEvent[] =>
  revisions.map(revision => ({ key: 'core/pods/a', revision, created: 1, value: new Uint8Array(bytes) }));

/** A thread that follows everything: `received` has the revisions that it has taken, `posts` counts what was posted. */
function follow(shared: Int32Array, { counter, ring, reacts }: Omit<SubscriberChannel, 'port'>) {
  const { port1, port2 } = new MessageChannel();
  ports.push(port1);
  const posts = vi.spyOn(port1, 'postMessage');
  const subscriber = new Subscriber({ port: port1, counter, ring, reacts }, shared);
  subscriber.subscribe(['']);
  const received: number[] = [];
  const feed: StoreFeed = new StoreFeed({ port: port2, counter, ring }, shared, message => {
    for (const { revision } of (message as EventsMessage).events) {
      // As a listener does that reads objects.
      feed.catchUp();
      received.push(revision);
    }
  });
  return { subscriber, feed, received, posts: posts.mock.calls };
}

const deliver = (subscriber: Subscriber, revisions: readonly number[], bytes?: number): void =>
  subscriber.deliver({ is: 'events', revision: revisions.at(-1)!, events: eventsOf(revisions, bytes), verdicts: [] });

test('a listener that catches up during an event receives the other events in order', async () => {
  const { subscriber, received } = follow(counters(), { counter: 0, reacts: true });
  deliver(subscriber, [1, 2]);
  deliver(subscriber, [3, 4]);
  await vi.waitFor(() => expect(received).toEqual([1, 2, 3, 4]));
});

test('events and other messages are taken in the order in which they were sent', async () => {
  for (const takes of ['at once', 'when woken']) {
    const { subscriber, feed, received, posts } = follow(counters(), { counter: 1, ring: createRing(), reacts: false });
    deliver(subscriber, [1]);
    subscriber.post({ is: 'events', revision: 2, events: eventsOf([2]), verdicts: [] });
    deliver(subscriber, [3]);
    deliver(subscriber, [4], 2 ** 20);
    deliver(subscriber, [5]);
    expect(posts).toHaveLength(2);
    if (takes === 'at once') feed.catchUp();
    await vi.waitFor(() => expect(received).toEqual([1, 2, 3, 4, 5]));
  }
});

test('a thread without work is not woken by commits, and sees all of them when it has work', async () => {
  const { subscriber, feed, received, posts } = follow(counters(), { counter: 1, ring: createRing(), reacts: false });
  for (let revision = 1; revision <= 100; revision++) deliver(subscriber, [revision]);
  await turn();
  expect([posts, received]).toEqual([[], []]);
  feed.catchUp();
  expect(received).toEqual(Array.from({ length: 100 }, (_, i) => i + 1));
});

test('a thread that takes nothing for long is woken once its ring is full, and gets every event', async () => {
  const { subscriber, received, posts } = follow(counters(), { counter: 1, ring: createRing(), reacts: false });
  let revision = 0;
  while (posts.length === 0) deliver(subscriber, [++revision], 1000);
  expect(revision).toBeGreaterThan(200);
  await vi.waitFor(() => expect(received).toEqual(Array.from({ length: revision }, (_, i) => i + 1)));
});

test('a thread that reacts to events is woken at once, then for many commits together', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const { subscriber, received, posts } = follow(counters(), { counter: 1, ring: createRing(), reacts: true });
  const all = Array.from({ length: 100 }, (_, i) => i + 1);
  deliver(subscriber, [1]);
  while (received.length < 1) await turn();
  for (const revision of all.slice(1)) deliver(subscriber, [revision]);
  await turn();
  expect([posts.length, received.length]).toEqual([1, 1]);
  vi.runOnlyPendingTimers();
  while (received.length < 100) await turn();
  expect([posts.length, received]).toEqual([2, all]);
  vi.runOnlyPendingTimers();
  deliver(subscriber, [101]);
  expect(posts).toHaveLength(3);
  subscriber.close();
});

test('a commit is posted to the front end and the controllers, however many threads the pool has', () => {
  const shared = counters();
  const frontEnd = follow(shared, { counter: 0, reacts: true });
  const control = follow(shared, { counter: 1, ring: createRing(), reacts: true });
  const pool = Array.from({ length: 8 }, (_, i) =>
    follow(shared, { counter: 2 + i, ring: createRing(), reacts: false }),
  );
  const threads = [...pool, frontEnd, control];
  deliverAll(
    threads.map(({ subscriber }) => subscriber),
    { revision: 1, events: eventsOf([1]), verdicts: [{ id: 1, is: 'committed', revision: 1 }] },
  );
  expect(threads.map(({ posts }) => posts.length)).toEqual([...pool.map(() => 0), 1, 1]);
  for (const { feed } of threads) feed.catchUp();
  expect(threads.map(({ received }) => received)).toEqual(threads.map(() => [1]));
  for (const { subscriber } of threads) subscriber.close();
});
