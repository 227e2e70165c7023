import { once } from 'node:events';
import { expect, it, vi } from 'vitest';
import { WebSocket } from 'ws';
import type { Host } from '../../core/api/host.js';
import type { Exchange } from '../../core/api/listener.js';
import { WEBSOCKET_IDLE_SECONDS } from '../../core/limits.js';
import { NodeListener } from '../../plugins/listener/node.js';
import type { NodeExchange } from '../../plugins/listener/nodeExchange.js';
import { eventuallyPasses } from '../support/eventually.js';
import { partly } from '../support/values.js';

it('pings an idle WebSocket, and disconnects a client that does not answer', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  try {
    const accept = (exchange: Exchange): void => void exchange.upgrade!({ messages: 'text', receive: () => undefined });
    const listening = await new NodeListener(partly<Host>({ log: console })).listen(
      { host: '127.0.0.1', port: 0 },
      accept,
    );
    const url = `ws://127.0.0.1:${listening.port}/`;
    const [alive, dead] = [new WebSocket(url), new WebSocket(url, { autoPong: false })];
    await Promise.all([once(alive, 'open'), once(dead, 'open')]);
    for (let i = 0; i < 3; i++) {
      const pinged = once(alive, 'ping');
      const closed = once(dead, 'close');
      vi.advanceTimersByTime((WEBSOCKET_IDLE_SECONDS * 1000) / 2);
      await pinged;
      // The pong arrives before later bytes are answered.
      const heard = once(alive, 'pong');
      alive.ping();
      await heard;
      if (i === 1) expect((await closed)[0]).toBe(1006);
    }
    expect(alive.readyState).toBe(WebSocket.OPEN);
    alive.terminate();
    await listening.close();
  } finally {
    vi.useRealTimers();
  }
});

it('takes a handshake for aborted whose connection was lost, but has not been closed yet', async () => {
  const steps: string[] = [];
  const accept = (exchange: Exchange): void => {
    exchange.onAbort(() => steps.push('aborted'));
    // As with a reset. Node emits `close` in a later turn.
    (exchange as NodeExchange).socket.destroy();
    exchange.upgrade!({ messages: 'text', receive: () => undefined });
    steps.push('upgraded');
  };
  const listening = await new NodeListener(partly<Host>({ log: console })).listen(
    { host: '127.0.0.1', port: 0 },
    accept,
  );
  const socket = new WebSocket(`ws://127.0.0.1:${listening.port}/`).on('error', () => undefined);
  try {
    await eventuallyPasses(() => expect(steps).toEqual(['upgraded', 'aborted']));
  } finally {
    socket.terminate();
    await listening.close();
  }
});
