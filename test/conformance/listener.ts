import { once } from 'node:events';
import { afterAll, describe, expect, test, vi } from 'vitest';
import { WebSocket } from 'ws';
import type { Exchange, Listener } from '../../core/api/listener.js';
import { DRAIN_MS } from '../../core/limits.js';
import {
  type ListenerCase as Given,
  type ListenerTls,
  listenerConformance as testsOf,
} from '../../core/testing/conformance/listener.js';
import { RawClient } from '../../core/testing/rawClient.js';
import { WholeBody } from '../../core/request/wholeBody.js';
import { eventuallyPasses } from '../support/eventually.js';

export type { ListenerTls };

/** A listener under test, with a name for the test run. */
export interface ListenerCase extends Given {
  readonly name: string;
}

/**
 * Runs the conformance suite of the listener point, which `capstan/testing` exports, and tests that need the fake clock
 * of the test runner.
 */
export function listenerConformance(given: ListenerCase): void {
  describe(given.name, () => {
    for (const { name, run } of testsOf(given)) test(name, run);
    testDrain(given);
    testSocketDrain(given);
  });
}

function testDrain({ make, tls }: ListenerCase): void {
  let listener: Listener;
  const clients: RawClient[] = [];
  afterAll(() => {
    for (const client of clients) client.socket.destroy();
  });

  test('closes the remaining connections when its time to drain has passed', async () => {
    listener = await make();
    const exchanges: Exchange[] = [];
    let aborted = 0;
    const listening = await listener.listen({ host: '127.0.0.1', port: 0, tls }, exchange => {
      exchanges.push(exchange);
      exchange.onAbort(() => aborted++);
      if (exchange.method === 'POST') exchange.body(bodyToLose());
    });
    const target = { port: listening.port, ca: tls?.caPem };
    const [silent, stalled] = [await RawClient.open(target), await RawClient.open(target)];
    clients.push(silent, stalled);
    silent.send('GET /silent HTTP/1.1\r\nHost: localhost\r\n\r\n');
    stalled.send('POST /body HTTP/1.1\r\nHost: localhost\r\nContent-Length: 50\r\n\r\npart');
    await eventuallyPasses(() => expect(exchanges).toHaveLength(2));
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      const closed = listening.close();
      vi.advanceTimersByTime(DRAIN_MS);
      await closed;
    } finally {
      vi.useRealTimers();
    }
    await Promise.all([silent.end(), stalled.end()]);
    await eventuallyPasses(() => expect(aborted).toBe(2));
  });
}

/** Collects a body that does not arrive. */
function bodyToLose(): WholeBody {
  const body = new WholeBody(1000);
  body.bytes.catch(() => undefined);
  return body;
}

function testSocketDrain({ make, tls }: ListenerCase): void {
  test('closes the remaining WebSockets when its time to drain has passed', async () => {
    const listening = await (await make()).listen({ host: '127.0.0.1', port: 0, tls }, exchange => {
      exchange.upgrade!({ messages: 'text', receive: () => undefined });
    });
    const client = new WebSocket(`${tls ? 'wss' : 'ws'}://127.0.0.1:${listening.port}/`, { rejectUnauthorized: false });
    const closed = once(client, 'close');
    await once(client, 'open');
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      const closing = listening.close();
      vi.advanceTimersByTime(DRAIN_MS);
      await closing;
    } finally {
      vi.useRealTimers();
    }
    expect((await closed)[0]).toBe(1006);
  });
}
