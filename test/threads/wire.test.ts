import { MessageChannel, receiveMessageOnPort } from 'node:worker_threads';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import type { EventsMessage, PageMessage, ToWriter } from '../../core/threads/messages/messages.js';
import { SharedValues } from '../../core/threads/entries/sharedValues.js';
import {
  decodeFromWriter,
  decodeToWriter,
  encodeFromWriter,
  encodeToWriter,
  type Posted,
} from '../../core/threads/messages/wire.js';

const { port1, port2 } = new MessageChannel();
afterAll(() => port1.close());

/** The data as another thread receives it. */
function sent([data, transfer]: Posted): unknown {
  port1.postMessage(data, transfer);
  return receiveMessageOnPort(port2)!.message;
}

const optional = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> => fc.option(value, { nil: undefined });
const key = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 });
const revision = fc.maxSafeNat();
/** Views in the middle of a larger buffer, like values of the store. */
const bytes = fc.uint8Array({ maxLength: 300 }).map(all => all.subarray(all.length >> 2));
const event = fc.record({ key, revision, created: revision, value: optional(bytes) });
const events = fc.array(event, { minLength: 1, maxLength: 20 });

const operation = fc.oneof(
  fc.record({
    is: fc.constant('put' as const),
    key,
    value: bytes,
    gap: optional(fc.nat()),
    expect: optional(revision),
  }),
  fc.record({ is: fc.constant('delete' as const), key, expect: optional(revision) }),
);
const toWriter: fc.Arbitrary<ToWriter> = fc.oneof(
  fc.record({
    is: fc.constant('propose' as const),
    proposals: fc.array(
      fc.record({
        id: revision,
        operations: fc.array(operation, { maxLength: 4 }),
        trace: optional(fc.record({ traceparent: fc.string() })),
      }),
    ),
  }),
  fc.record({ is: fc.constant('subscribe' as const), prefixes: fc.array(key) }),
);

const verdict = fc.oneof(
  fc.record({ id: revision, is: fc.constant('committed' as const), revision }),
  fc.record({ id: revision, is: fc.constant('stale' as const) }),
  fc.record({ id: revision, is: fc.constantFrom('error' as const, 'unavailable' as const), message: fc.string() }),
);
const eventsMessage = fc.record({
  is: fc.constant('events' as const),
  revision,
  events: fc.oneof(events, fc.constant([])),
  verdicts: fc.array(verdict),
  floor: optional(revision),
});
const fromWriter = fc.oneof(
  fc.record({
    is: fc.constant('page' as const),
    requestId: revision,
    revision,
    items: fc.array(
      fc.record({ key, revision, created: revision, value: optional(bytes), version: optional(fc.nat()) }),
    ),
    more: fc.boolean(),
    remaining: fc.nat(),
  }),
  fc.record({
    is: fc.constant('past' as const),
    requestId: revision,
    revision,
    events: fc.array(
      fc.record({ key, revision, created: revision, value: optional(bytes), previous: optional(bytes) }),
    ),
  }),
  fc.record({ is: fc.constant('synced' as const), requestId: revision }),
);

const memoryOf = ({ events }: EventsMessage) =>
  events.find(({ value }) => value)?.value?.buffer as SharedArrayBuffer | undefined;

describe('messages between the writer and other threads', () => {
  it('arrive as they were sent to the writer', () => {
    fc.assert(
      fc.property(toWriter, message => {
        expect(decodeToWriter(sent(encodeToWriter(message)))).toEqual(message);
      }),
    );
  });

  it('arrive as they were sent by the writer', () => {
    fc.assert(
      fc.property(fromWriter, message => {
        expect(decodeFromWriter(sent(encodeFromWriter(message)))).toEqual(message);
      }),
    );
  });

  it('refer to the values of events in shared memory', () => {
    fc.assert(
      fc.property(fc.array(eventsMessage, { minLength: 1, maxLength: 4 }), messages => {
        const values = new SharedValues(1000);
        for (const message of messages) {
          const shared = { ...message, events: values.share(message.events) };
          const received = decodeFromWriter(sent(encodeFromWriter(shared)), memoryOf(shared));
          expect(received).toEqual(message);
        }
      }),
    );
  });

  it('of many megabytes are encoded in one buffer, which is not copied', () => {
    const value = new Uint8Array(1_500_000).fill(7);
    const items = Array.from({ length: 8 }, (_, i) => ({
      key: `core/configmaps/shop/${i}`,
      revision: i,
      created: 1,
      value,
    }));
    const message: PageMessage = { is: 'page', requestId: 1, revision: 9, items, more: false, remaining: 0 };
    const before = process.memoryUsage().arrayBuffers;
    const posted = encodeFromWriter(message);
    const grown = process.memoryUsage().arrayBuffers - before;
    expect(grown).toBeLessThan(1.2 * 8 * value.length);
    const received = decodeFromWriter(sent(posted)) as PageMessage;
    expect(received.items.map(({ key }) => key)).toEqual(items.map(({ key }) => key));
    expect(received.items.every(({ value: got }) => Buffer.compare(got!, value) === 0)).toBe(true);
  });

  it('do not change the values of the sender', () => {
    const value = Uint8Array.of(1, 2, 3);
    const proposal = { id: 1, operations: [{ is: 'put' as const, key: 'a', value }] };
    sent(encodeToWriter({ is: 'propose', proposals: [proposal] }));
    expect(value).toEqual(Uint8Array.of(1, 2, 3));
  });

  it('have views of one buffer as values', () => {
    const message: PageMessage = {
      is: 'page',
      requestId: 1,
      revision: 2,
      items: [1, 2].map(i => ({ key: `a${i}`, revision: i, created: i, value: new Uint8Array(100) })),
      more: false,
      remaining: 0,
    };
    const received = decodeFromWriter(sent(encodeFromWriter(message))) as PageMessage;
    const [first, second] = received.items.map(({ value }) => value!.buffer);
    expect(first).toBe(second);
    expect(first!.byteLength).toBeLessThan(300);
  });
});
