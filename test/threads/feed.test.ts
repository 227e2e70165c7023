import { MessageChannel, type MessagePort } from 'node:worker_threads';
import { afterEach, expect, test, vi } from 'vitest';
import { StoreFeed } from '../../core/threads/feed.js';
import type { SubscriberChannel } from '../../core/threads/messages/lifecycle.js';
import type { EventsMessage, FromWriter } from '../../core/threads/messages/messages.js';
import { createRing } from '../../core/threads/messages/ring.js';
import { SharedValues } from '../../core/threads/entries/sharedValues.js';
import type { WireEvent } from '../../core/threads/messages/wireEvent.js';
import { deliverAll, Subscriber } from '../../workers/writer/subscriber.js';
import { eventuallyPasses } from '../support/eventually.js';

const ports: MessagePort[] = [];
afterEach(() => {
  vi.useRealTimers();
  for (const port of ports.splice(0)) port.close();
});

const turn = (): Promise<void> => new Promise(resolve => setImmediate(resolve));

const counters = (): Int32Array => new Int32Array(new SharedArrayBuffer(64));

/** Small, so that the values of some tests are in several pieces of memory. */
const values = new SharedValues(2 ** 19);

/** Events of these revisions, each with a value of `bytes`, and a key of `length`. */
const eventsOf = (revisions: readonly number[], bytes = 10, length = 11): readonly WireEvent[] =>
  values.share(
    revisions.map(revision => ({
      key: 'core/pods/a'.padEnd(length, 'a'),
      revision,
      created: 1,
      value: new Uint8Array(bytes).fill(revision),
    })),
  );

/**
 * A thread that follows everything: `received` has the revisions that it has processed, `posts` and `memories` the
 * posted messages and memory.
 */
function follow(shared: Int32Array, { counter, ring, reacts, front }: Omit<SubscriberChannel, 'port'>) {
  const { port1, port2 } = new MessageChannel();
  ports.push(port1);
  const posts: unknown[] = [];
  const memories: unknown[] = [];
  const post = port1.postMessage.bind(port1);
  vi.spyOn(port1, 'postMessage').mockImplementation((message: FromWriter, transfer) => {
    (message.is === 'memory' ? memories : posts).push(message);
    post(message, transfer as ArrayBuffer[]);
  });
  const subscriber = new Subscriber({ port: port1, counter, ring, reacts, front }, shared);
  subscriber.subscribe(['']);
  const received: number[] = [];
  const feed: StoreFeed = new StoreFeed({ port: port2, counter, ring }, shared, message => {
    if (message.is === 'synced') received.push(message.requestId);
    else takeEvents(message as EventsMessage);
  });
  const takeEvents = ({ events }: EventsMessage): void => {
    for (const { revision, value } of events) {
      expect(value!.every(byte => byte === revision % 256)).toBe(true);
      // Like a listener that reads objects.
      feed.catchUp();
      received.push(revision);
    }
  };
  return { subscriber, feed, received, posts, memories };
}

const deliver = (subscriber: Subscriber, revisions: readonly number[], bytes?: number, length?: number): void => {
  const events = eventsOf(revisions, bytes, length);
  subscriber.deliver({ is: 'events', revision: revisions.at(-1)!, events, verdicts: [] });
};

test('a listener that catches up during an event receives the other events in order', async () => {
  const { subscriber, received } = follow(counters(), { counter: 1, reacts: true, front: 0 });
  deliver(subscriber, [1, 2]);
  deliver(subscriber, [3, 4]);
  await eventuallyPasses(() => expect(received).toEqual([1, 2, 3, 4]));
});

test('events and other messages are processed in the order in which they were sent', async () => {
  for (const takes of ['at once', 'when woken']) {
    const thread = follow(counters(), { counter: 1, ring: createRing(), reacts: false });
    const { subscriber, feed, received, posts, memories } = thread;
    deliver(subscriber, [1]);
    subscriber.post({ is: 'synced', requestId: 2 });
    deliver(subscriber, [3]);
    deliver(subscriber, [4], 10, 2 ** 20);
    deliver(subscriber, [5]);
    deliver(subscriber, [6], 2 ** 20);
    deliver(subscriber, [7]);
    expect([posts.length, memories.length]).toEqual([2, 3]);
    if (takes === 'at once') feed.catchUp();
    await eventuallyPasses(() => expect(received).toEqual([1, 2, 3, 4, 5, 6, 7]));
  }
});

test('a thread without work is not woken by commits, and sees all of them when it has work', async () => {
  const thread = follow(counters(), { counter: 1, ring: createRing(), reacts: false });
  const { subscriber, feed, received, posts, memories } = thread;
  deliver(subscriber, [1]);
  // It gets the memory of the values, and processes the writes until then.
  while (received.length < 1) await turn();
  for (let revision = 2; revision <= 100; revision++) deliver(subscriber, [revision]);
  await turn();
  expect([posts, memories.length, received]).toEqual([[], 1, [1]]);
  feed.catchUp();
  expect(received).toEqual(Array.from({ length: 100 }, (_, i) => i + 1));
});

test('a thread that reads nothing for a long time is woken once its ring is full, and gets every event', async () => {
  const { subscriber, received, posts } = follow(counters(), { counter: 1, ring: createRing(), reacts: false });
  let revision = 0;
  while (posts.length === 0) deliver(subscriber, [++revision], 10, 1000);
  expect(revision).toBeGreaterThan(200);
  await eventuallyPasses(() => expect(received).toEqual(Array.from({ length: revision }, (_, i) => i + 1)));
});

test('a thread that reacts to events is woken at once, then for many commits together', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  const { subscriber, received, posts } = follow(counters(), { counter: 1, ring: createRing(), reacts: true });
  const deliverOne = (revision: number): void => {
    deliver(subscriber, [revision]);
    subscriber.wake();
  };
  const all = Array.from({ length: 100 }, (_, i) => i + 1);
  deliverOne(1);
  while (received.length < 1) await turn();
  for (const revision of all.slice(1)) deliverOne(revision);
  await turn();
  expect([posts.length, received.length]).toEqual([1, 1]);
  vi.runOnlyPendingTimers();
  while (received.length < 100) await turn();
  expect([posts.length, received]).toEqual([2, all]);
  vi.advanceTimersByTime(10);
  // Nothing is due after it has processed everything.
  expect(vi.getTimerCount()).toBe(0);
  deliverOne(101);
  expect(posts).toHaveLength(3);
  subscriber.close();
});

test('a front end that waits for no verdicts is also woken for events', async () => {
  const shared = counters();
  const fronts = [0, 1].map(front => follow(shared, { counter: 1 + front, ring: createRing(), reacts: true, front }));
  const subscribers = fronts.map(({ subscriber }) => subscriber);
  for (const revision of [1, 2])
    deliverAll(subscribers, { revision, events: eventsOf([revision]), verdicts: [] }, shared);
  await eventuallyPasses(() =>
    expect(fronts.map(({ received }) => received)).toEqual([
      [1, 2],
      [1, 2],
    ]),
  );
  for (const subscriber of subscribers) subscriber.close();
});

test('a thread that reacts to events is woken after the front end has the verdicts', () => {
  const shared = counters();
  const order: string[] = [];
  const control = follow(shared, { counter: 2, ring: createRing(), reacts: true });
  const frontEnd = follow(shared, { counter: 1, reacts: true, front: 0 });
  for (const [name, { subscriber }] of Object.entries({ control, frontEnd })) {
    const post = subscriber.post.bind(subscriber);
    vi.spyOn(subscriber, 'post').mockImplementation(message => void (order.push(name), post(message)));
    const deliver = subscriber.deliver.bind(subscriber);
    vi.spyOn(subscriber, 'deliver').mockImplementation(
      (...given) => void (order.push(`${name} has`), deliver(...given)),
    );
  }
  const subscribers = [frontEnd.subscriber, control.subscriber];
  deliverAll(subscribers, { revision: 1, events: eventsOf([1]), verdicts: [] }, shared);
  expect(order).toEqual(['control has', 'frontEnd has', 'control']);
  for (const subscriber of subscribers) subscriber.close();
});

test('a commit is posted to the front end and the controllers, however many threads the pool has', () => {
  const shared = counters();
  const frontEnd = follow(shared, { counter: 1, reacts: true, front: 0 });
  const control = follow(shared, { counter: 2, ring: createRing(), reacts: true });
  const pool = Array.from({ length: 8 }, (_, i) =>
    follow(shared, { counter: 3 + i, ring: createRing(), reacts: false }),
  );
  const threads = [...pool, frontEnd, control];
  deliverAll(
    threads.map(({ subscriber }) => subscriber),
    { revision: 1, events: eventsOf([1]), verdicts: [{ id: 1, is: 'committed', revision: 1 }] },
    shared,
  );
  expect(threads.map(({ posts }) => posts.length)).toEqual([...pool.map(() => 0), 1, 1]);
  for (const { feed } of threads) feed.catchUp();
  expect(threads.map(({ received }) => received)).toEqual(threads.map(() => [1]));
  for (const { subscriber } of threads) subscriber.close();
});
