import { afterEach, expect, test, vi } from 'vitest';
import type { Exchange, ResponseStream } from '../../core/api/listener.js';
import { STALLED_READER_MS } from '../../core/limits.js';
import { drainOf } from '../../workers/front/answers/drain.js';

afterEach(() => vi.useRealTimers());

function setUp() {
  const listeners = { drain: [] as (() => void)[], abort: [] as (() => void)[] };
  const exchange = { aborted: false, onAbort: (listener: () => void) => listeners.abort.push(listener) };
  const stream = {
    onDrain: (listener: () => void) => listeners.drain.push(listener),
    abort: () => {
      exchange.aborted = true;
      tell('abort');
    },
  };
  const drained = drainOf(exchange as unknown as Exchange, stream as unknown as ResponseStream);
  const tell = (of: keyof typeof listeners): void => {
    for (const listener of listeners[of]) listener();
  };
  return { exchange, listeners, drained, tell };
}

test('a sender waits until the connection has drained, any number of times with one listener', async () => {
  const { listeners, drained, tell } = setUp();
  for (let i = 0; i < 20; i++) {
    const waiting = drained();
    tell('drain');
    await waiting;
  }
  expect([listeners.drain.length, listeners.abort.length]).toEqual([1, 1]);
});

test('a sender does not wait for a client that disconnects or has disconnected', async () => {
  const { exchange, drained, tell } = setUp();
  const waiting = drained();
  exchange.aborted = true;
  tell('abort');
  await waiting;
  await drained();
});

test('a client that reads nothing for a long time is disconnected; one that drains in time is not', async () => {
  vi.useFakeTimers();
  const { exchange, drained, tell } = setUp();
  for (let i = 0; i < 3; i++) {
    const waiting = drained();
    vi.advanceTimersByTime(STALLED_READER_MS - 1);
    tell('drain');
    await waiting;
  }
  const stalled = drained();
  vi.advanceTimersByTime(STALLED_READER_MS - 1);
  expect(exchange.aborted).toBe(false);
  vi.advanceTimersByTime(1);
  await stalled;
  expect(exchange.aborted).toBe(true);
});
