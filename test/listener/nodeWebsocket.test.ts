import { once } from 'node:events';
import { expect, it, vi } from 'vitest';
import { WebSocket } from 'ws';
import type { Host } from '../../core/api/host.js';
import type { Exchange } from '../../core/api/listener.js';
import { WEBSOCKET_IDLE_SECONDS } from '../../core/limits.js';
import { NodeListener } from '../../plugins/listener/node.js';
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
