import { MessageChannel, type MessagePort } from 'node:worker_threads';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BufferCompactor } from '../../core/threads/entries/bufferCompactor.js';
import { Entry } from '../../core/threads/entries/entry.js';
import { StoreFeed } from '../../core/threads/feed.js';
import type { EventsMessage, MovedMessage } from '../../core/threads/messages/messages.js';
import { ObjectFeed } from '../../core/threads/objectFeed.js';
import { createRing } from '../../core/threads/messages/ring.js';
import { CHUNK_BYTES, countMemory, SharedValues } from '../../core/threads/entries/sharedValues.js';
import type { WireEvent } from '../../core/threads/messages/wireEvent.js';
import { deliverAll, Subscriber } from '../../workers/writer/subscriber.js';

const event = (key: string, revision: number, value: string | undefined): WireEvent => ({
  key,
  revision,
  created: revision,
  value: value === undefined ? undefined : Buffer.from(value),
});

const textOf = (entry: Entry): string => Buffer.from(entry.value).toString();

/** A writer with a front end, which compacts memory, and two other threads: one follows everything, the other `a/`. */
class Threads {
  readonly #ports: MessagePort[] = [];
  readonly #counters = new SharedArrayBuffer(64);
  readonly #values = new SharedValues(100);
  readonly #subscribers: Subscriber[] = [];
  readonly #feeds: { catchUp(): void }[] = [];
  readonly #buffers = new BufferCompactor(0);
  readonly current = new Map<string, Entry>();
  readonly all = new Map<string, Entry>();
  readonly some = new Map<string, Entry>();
  #revision = 0;
  moves = 0;

  constructor() {
    const port = this.#connect(1, [''], false);
    const channel = { port, counter: 1 };
    this.#feeds.push(
      new StoreFeed(channel, new Int32Array(this.#counters), message => this.#take(message as EventsMessage)),
    );
    this.#follow(2, [''], this.all);
    this.#follow(3, ['a/', 'c/'], this.some);
  }

  get memories(): Set<ArrayBufferLike> {
    const entries = [...this.current.values(), ...this.all.values(), ...this.some.values()];
    return new Set(entries.map(({ buffer }) => buffer));
  }

  /** Commits a group of changes. A change without a value is a deletion. */
  commit(changes: readonly (readonly [key: string, value: string | undefined])[]): void {
    const events = this.#values.share(changes.map(([key, value]) => event(key, ++this.#revision, value)));
    deliverAll(this.#subscribers, { revision: this.#revision, events, verdicts: [] }, new Int32Array(this.#counters));
  }

  catchUp(): void {
    for (const feed of this.#feeds) feed.catchUp();
  }

  /** Compacts like the front end, which is ahead of the others. The writer passes the message on. */
  compact(): Promise<void> {
    this.#feeds[0]!.catchUp();
    return this.#buffers.compact<Entry>({
      items: () => this.current.values(),
      valueIn: entry => (this.current.get(entry.key) === entry ? entry : undefined),
      move: (entry, value) => entry.move(value),
      moved: ({ memory, items }) => {
        const message: MovedMessage = {
          is: 'moved',
          memory,
          keys: items.map(({ key }) => key),
          places: items.map(({ revision, byteOffset }) => [revision, byteOffset]),
        };
        this.moves += items.length;
        for (const subscriber of this.#subscribers.slice(1)) subscriber.deliverMoved(message);
      },
    });
  }

  close(): void {
    for (const port of this.#ports) port.close();
  }

  #connect(counter: number, prefixes: readonly string[], hasRing: boolean) {
    const { port1, port2 } = new MessageChannel();
    this.#ports.push(port1);
    const ring = hasRing ? createRing() : undefined;
    const front = hasRing ? undefined : 0;
    const channel = { port: port1, counter, ring, reacts: false, front };
    const subscriber = new Subscriber(channel, new Int32Array(this.#counters));
    subscriber.subscribe(prefixes);
    this.#subscribers.push(subscriber);
    return Object.assign(port2, { ring });
  }

  #follow(counter: number, prefixes: readonly string[], entries: Map<string, Entry>): void {
    const port = this.#connect(counter, prefixes, true);
    const feed = new ObjectFeed({ port, counter, ring: port.ring }, this.#counters, {
      apply: (key, _revision, entry) => (entry ? entries.set(key, entry) : entries.delete(key)),
      addPage: () => false,
      find: key => entries.get(key),
    });
    this.#feeds.push(feed);
  }

  #take({ events }: EventsMessage): void {
    for (const change of events) {
      const before = this.current.get(change.key);
      if (before) this.#buffers.remove(before);
      this.current.delete(change.key);
      if (!change.value) continue;
      const entry = Entry.of(change);
      this.#buffers.add(entry);
      this.current.set(change.key, entry);
    }
  }
}

const key = fc.tuple(fc.constantFrom('a', 'b', 'c'), fc.nat(6)).map(([prefix, i]) => `${prefix}/${i}`);
const change = fc.tuple(
  key,
  fc.option(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 }), { nil: undefined }),
);
const step = fc.oneof(
  { weight: 4, arbitrary: fc.uniqueArray(change, { minLength: 1, maxLength: 5, selector: ([of]) => of }) },
  { weight: 2, arbitrary: fc.constant('compact' as const) },
  { weight: 1, arbitrary: fc.constant('catch up' as const) },
);

describe('values in shared memory', () => {
  it('are the same for every thread, after writes, replacements, deletions and moves', async () => {
    let moves = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 60 }), async steps => {
        const threads = new Threads();
        const model = new Map<string, string>();
        for (const one of steps) {
          if (one === 'compact') await threads.compact();
          else if (one === 'catch up') threads.catchUp();
          else {
            threads.commit(one);
            for (const [of, value] of one) value === undefined ? model.delete(of) : model.set(of, value);
          }
        }
        threads.catchUp();
        const textsOf = (entries: Map<string, Entry>) => new Map(Array.from(entries, ([of, e]) => [of, textOf(e)]));
        expect(textsOf(threads.current)).toEqual(model);
        expect(textsOf(threads.all)).toEqual(model);
        expect(textsOf(threads.some)).toEqual(new Map([...model].filter(([of]) => !of.startsWith('b/'))));
        moves += threads.moves;
        threads.close();
      }),
    );
    expect(moves).toBeGreaterThan(100);
  });

  it('that were moved are released from their old memory by every thread', async () => {
    const threads = new Threads();
    for (let round = 0; round < 20; round++) {
      threads.commit([
        [`a/cold-${round}`, 'cold'],
        ['a/hot', `${round}`.padEnd(90)],
      ]);
    }
    threads.catchUp();
    const before = [...threads.memories];
    await threads.compact();
    threads.catchUp();
    const after = threads.memories;
    expect(before.filter(memory => after.has(memory)).length).toBeLessThan(before.length / 3);
    expect(Array.from(threads.some.values(), textOf)).toEqual(Array.from(threads.all.values(), textOf));
    threads.close();
  });

  it('of one message are in one piece of memory, also if they are larger than the usual size of a piece', () => {
    const values = new SharedValues(100);
    const shared = [60, 60, 250, 10].map(size => values.share([event('a', 1, 'x'.repeat(size)), event('b', 1, 'y')]));
    for (const events of shared) expect(new Set(events.map(({ value }) => value!.buffer)).size).toBe(1);
    expect(shared.map(([first]) => first!.value!.buffer.byteLength)).toEqual([100, 100, 251, 100]);
    expect(values.share([event('a', 2, undefined)])).toEqual([event('a', 2, undefined)]);
  });

  it('count as memory of each thread that refers to them, without taking memory', () => {
    const memories = Array.from({ length: 4 }, () => new SharedArrayBuffer(CHUNK_BYTES));
    const before = process.memoryUsage();
    memories.forEach(countMemory);
    const after = process.memoryUsage();
    // V8 may collect other buffers of this process meanwhile, which are far smaller than one piece of memory.
    expect(after.external - before.external).toBeGreaterThan(3 * CHUNK_BYTES);
    expect(after.rss - before.rss).toBeLessThan(CHUNK_BYTES);
  });
});
