import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { auditEvent, fakeHost } from '../../core/testing/index.js';
import { AUDIT_BUFFER_BYTES, AUDIT_DRAIN_MS } from '../../core/limits.js';
import { Delivery } from '../../plugins/audit/delivery/delivery.js';
import type { BatchOptions, DeliveryOptions } from '../../plugins/audit/delivery/options.js';
import { legacyLine } from '../../plugins/audit/log/legacyFormat.js';

/* How sinks receive audit events: in batches, truncated, or one by one while the answer waits. */

const BATCH: BatchOptions = { bufferSize: 10, maxSize: 3, maxWaitMs: 1000 };

/** A delivery to a writer whose batches end when the test says so. */
function deliver(options: Partial<DeliveryOptions> = {}) {
  const batches: string[][] = [];
  const ends: ((error?: Error) => void)[] = [];
  const fake = fakeHost('front');
  const delivery = new Delivery(
    {
      name: 'webhook',
      encode: ({ auditID, requestObject }) => `${auditID}${requestObject ? JSON.stringify(requestObject) : ''}`,
      write(events) {
        batches.push([...events]);
        return new Promise((resolve, reject) => ends.push(error => (error ? reject(error) : resolve())));
      },
    },
    { mode: 'batch', batch: BATCH, ...options },
    fake.host,
  );
  const add = (...ids: string[]): void => ids.forEach(auditID => void delivery.write(auditEvent({ auditID })));
  const lost = (): Record<string, number> =>
    Object.fromEntries(
      fake.observations.map(({ labels, value }) => [labels['plugin'], value] as const).map(([name, n]) => [name, n]),
    );
  return { delivery, batches, ends, add, lost, fake };
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe('a sink in the mode batch', () => {
  test('writes a batch when it is full, and an incomplete one after the wait time', async () => {
    const { add, batches } = deliver();
    add('a', 'b');
    expect(batches).toEqual([]);
    add('c', 'd');
    expect(batches).toEqual([['a', 'b', 'c']]);
    await vi.advanceTimersByTimeAsync(999);
    expect(batches).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(batches[1]).toEqual(['d']);
  });

  test('writes waiting events after the wait time of the first one, however often others arrive', async () => {
    const { add, batches } = deliver();
    add('a');
    await vi.advanceTimersByTimeAsync(900);
    add('b');
    await vi.advanceTimersByTimeAsync(100);
    expect(batches).toEqual([['a', 'b']]);
    add('c');
    await vi.advanceTimersByTimeAsync(999);
    expect(batches).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(batches[1]).toEqual(['c']);
  });

  test('does not wait for a batch that hangs, and drops and counts events beyond its buffer', async () => {
    const { add, batches, lost, fake } = deliver({ batch: { ...BATCH, bufferSize: 4, maxSize: 1 } });
    for (let i = 0; i < 30; i++) add(`${i}`);
    expect(batches).toHaveLength(16);
    expect(lost()).toEqual({ buffered: 1 });
    expect(fake.observations).toHaveLength(10);
    expect(fake.log.map(({ message }) => message)).toEqual(['audit events are lost: too many wait to be written']);
  });

  test('buffers a limited number of bytes', () => {
    const { delivery, lost, batches } = deliver({ batch: { bufferSize: 1000, maxSize: 1000, maxWaitMs: 1000 } });
    const requestObject = { text: 'x'.repeat(AUDIT_BUFFER_BYTES / 4) };
    for (let i = 0; i < 5; i++) void delivery.write(auditEvent({ level: 'Request', requestObject }));
    expect(lost()).toEqual({ buffered: 1 });
    expect(batches).toEqual([]);
  });

  test('writes a burst of batches, and then no more per second than allowed', async () => {
    const throttle = { perSecond: 2, burst: 2 };
    const { add, batches, ends } = deliver({ batch: { ...BATCH, bufferSize: 100, maxSize: 1, throttle } });
    add('a', 'b', 'c', 'd');
    expect(batches).toEqual([['a'], ['b']]);
    for (const end of ends) end();
    await vi.advanceTimersByTimeAsync(499);
    expect(batches).toHaveLength(2);
    await vi.advanceTimersByTimeAsync(2);
    expect(batches).toHaveLength(3);
    await vi.advanceTimersByTimeAsync(500);
    expect(batches).toHaveLength(4);
  });

  test('counts the events of a batch that could not be written', async () => {
    const { add, ends, lost } = deliver();
    add('a', 'b', 'c');
    ends[0]!(new Error('gone'));
    await vi.advanceTimersByTimeAsync(0);
    expect(lost()).toEqual({ webhook: 3 });
  });

  test('writes all waiting events without a pause when it is closed', async () => {
    const throttle = { perSecond: 0.01, burst: 1 };
    const { delivery, add, batches, ends } = deliver({ batch: { ...BATCH, maxSize: 2, throttle } });
    add('a', 'b', 'c', 'd', 'e');
    expect(batches).toEqual([['a', 'b']]);
    let isClosed = false;
    const closing = delivery.close().then(() => (isClosed = true));
    expect(batches).toEqual([['a', 'b'], ['c', 'd'], ['e']]);
    await vi.advanceTimersByTimeAsync(0);
    expect(isClosed).toBe(false);
    for (const end of ends) end();
    await closing;
  });

  test('closes within a time limit, and counts lost events', async () => {
    const { delivery, add, lost } = deliver({ batch: { ...BATCH, maxSize: 1 } });
    add('a', 'b');
    const closing = delivery.close();
    await vi.advanceTimersByTimeAsync(AUDIT_DRAIN_MS);
    await closing;
    expect(lost()).toEqual({ buffered: 2 });
  });
});

describe('a sink whose sizes are limited', () => {
  const truncate = { maxEventBytes: 100, maxBatchBytes: 10 };

  test('writes events that are too large without bodies, and marks them', () => {
    const { delivery, batches } = deliver({ truncate, batch: { ...BATCH, maxSize: 1 } });
    void delivery.write(auditEvent({ auditID: 'a', level: 'Request', requestObject: { text: 'x'.repeat(100) } }));
    void delivery.write(auditEvent({ auditID: 'b', level: 'Request', requestObject: { t: 1 } }));
    expect(batches).toEqual([['a'], ['b{"t":1}']]);
  });

  test('drops and counts events that are too large even without bodies', () => {
    const { delivery, batches, lost } = deliver({ truncate, batch: { ...BATCH, maxSize: 1 } });
    void delivery.write(auditEvent({ auditID: 'x'.repeat(101) }));
    expect(batches).toEqual([]);
    expect(lost()).toEqual({ truncate: 1 });
  });

  test('splits batches that are too large', () => {
    const { add, batches } = deliver({ truncate, batch: { ...BATCH, maxSize: 3 } });
    add('123456', '12345', '1234');
    expect(batches).toEqual([['123456']]);
  });
});

describe('a sink in a blocking mode', () => {
  test('writes each event at once, and callers wait for it', async () => {
    const { delivery, batches, ends } = deliver({ mode: 'blocking' });
    let isWritten = false;
    const writing = Promise.resolve(delivery.write(auditEvent({ auditID: 'a' }))).then(() => (isWritten = true));
    expect(batches).toEqual([['a']]);
    await vi.advanceTimersByTimeAsync(0);
    expect(isWritten).toBe(false);
    ends[0]!();
    await writing;
  });

  test('closes when the last event is written, and counts lost events if the writer hangs', async () => {
    const { delivery, ends, lost } = deliver({ mode: 'blocking' });
    for (let i = 0; i < 2; i++) void delivery.write(auditEvent());
    ends[0]!();
    let isClosed = false;
    const closing = Promise.resolve(delivery.close()).then(() => (isClosed = true));
    await vi.advanceTimersByTimeAsync(AUDIT_DRAIN_MS - 1);
    expect(isClosed).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    await closing;
    expect(lost()).toEqual({ buffered: 1 });

    const second = deliver({ mode: 'blocking' });
    void second.delivery.write(auditEvent());
    const closed = second.delivery.close();
    second.ends[0]!();
    await closed;
    expect(second.lost()).toEqual({});
  });

  test('buffers a limited number of bytes', async () => {
    const { delivery, fake, batches, ends } = deliver({ mode: 'blocking' });
    const requestObject = { text: 'x'.repeat(AUDIT_BUFFER_BYTES / 4) };
    const write = () => void delivery.write(auditEvent({ level: 'Request', requestObject }));
    for (let i = 0; i < 5; i++) write();
    await vi.advanceTimersByTimeAsync(0);
    expect(fake.observations.map(({ labels }) => labels['plugin'])).toEqual(['webhook', 'webhook']);
    ends[0]!();
    await vi.advanceTimersByTimeAsync(0);
    write();
    expect(batches).toHaveLength(4);
  });

  test('counts errors, and passes them on to the caller only in blocking-strict', async () => {
    for (const mode of ['blocking', 'blocking-strict'] as const) {
      const { delivery, ends, lost } = deliver({ mode });
      const written = Promise.resolve(delivery.write(auditEvent())).then(
        () => 'written',
        () => 'failed',
      );
      ends[0]!(new Error('gone'));
      expect(await written).toBe(mode === 'blocking' ? 'written' : 'failed');
      expect(lost()).toEqual({ webhook: 1 });
    }
  });
});

test('writes a line of text for each event in the format legacy', () => {
  const event = auditEvent({
    auditID: 'id',
    user: { username: 'ann', groups: ['a', 'b"c'] },
    sourceIPs: ['10.0.0.1', '127.0.0.1'],
    userAgent: 'x\ny',
    requestReceivedTimestamp: '2030-01-01T00:00:00.120000Z',
  });
  expect(legacyLine(event)).toBe(
    '2030-01-01T00:00:00.12Z AUDIT: id="id" stage="ResponseComplete" ip="10.0.0.1" method="get" user="ann" ' +
      String.raw`groups="\"a\",\"b\\\"c\"" as="<self>" asgroups="<lookup>" user-agent="x\ny" namespace="default" ` +
      'uri="/api/v1/namespaces/default/configmaps/sample" response="200"',
  );
  const { responseStatus: _status, objectRef: _ref, sourceIPs: _ips, ...received } = event;
  const nobody = {
    ...received,
    user: {},
    impersonatedUser: { username: 'erin', groups: ['g'] },
    requestReceivedTimestamp: '2030-01-01T00:00:00.000000Z',
  };
  expect(legacyLine(nobody)).toMatch(/^2030-01-01T00:00:00Z AUDIT: .* ip="<unknown>" .* user="<none>" groups="<none>"/);
  expect(legacyLine(nobody)).toMatch(/as="erin" asgroups="\\"g\\"" .* namespace="<none>" .* response="<deferred>"$/);
});
