import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type ClientOptions, WebSocket } from 'ws';
import type { Exchange, Listener, Listening } from '../../core/api/listener.js';
import { DRAIN_MS, WEBSOCKET_MESSAGE_BYTES } from '../../core/limits.js';
import type { ListenerCase } from './listener.js';
import { RawClient } from './rawClient.js';

const bytes = (text: string): Buffer => Buffer.from(text);
const turn = (): Promise<void> => new Promise(resolve => setImmediate(resolve));

const HANDSHAKE = {
  Connection: 'Upgrade',
  Upgrade: 'websocket',
  'Sec-WebSocket-Version': '13',
  'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25jZQ==',
};

/** A client that keeps the received messages. */
class Client {
  readonly messages: { readonly text: string; readonly binary: boolean }[] = [];
  received = 0;
  readonly socket: WebSocket;
  readonly opened: Promise<void>;
  /** The close code; 1006 if the connection was interrupted. */
  readonly closed: Promise<number>;
  private waiters: (() => void)[] = [];

  constructor(url: string, protocols: string[], options: ClientOptions) {
    this.socket = new WebSocket(url, protocols, { rejectUnauthorized: false, ...options });
    this.socket.on('error', () => undefined);
    this.opened = new Promise(resolve => this.socket.once('open', resolve));
    this.closed = new Promise(resolve => this.socket.once('close', resolve));
    this.socket.on('message', (data: Buffer, binary: boolean) => {
      this.received += data.length;
      this.messages.push({ text: data.length < 1000 ? data.toString() : `${data.length}`, binary });
      for (const wake of this.waiters.splice(0)) wake();
    });
  }

  async until(condition: () => boolean): Promise<void> {
    while (!condition()) await new Promise<void>(resolve => this.waiters.push(resolve));
  }
}

/** The tests of WebSockets in the conformance suite of the `listener` point. */
export function webSocketConformance(given: ListenerCase): void {
  describe(`${given.name}: WebSockets`, () => {
    const arrived = new Map<string, (exchange: Exchange) => void>();
    let listener: Listener;
    let listening: Listening;
    const clients: Client[] = [];
    const handle = (exchange: Exchange): void => arrived.get(exchange.path)!(exchange);
    const listen = (): Promise<Listening> => listener.listen({ host: '127.0.0.1', port: 0, tls: given.tls }, handle);
    const exchangeAt = (path: string): Promise<Exchange> => new Promise(resolve => arrived.set(path, resolve));

    /** A client whose handshake has arrived and is not answered yet. */
    const ask = async (
      protocols: string[] = [],
      port = listening.port,
    ): Promise<{ client: Client; exchange: Exchange }> => {
      const path = `/${clients.length}`;
      const arriving = exchangeAt(path);
      const client = new Client(`${given.tls ? 'wss' : 'ws'}://127.0.0.1:${port}${path}`, protocols, {});
      clients.push(client);
      return { client, exchange: await arriving };
    };
    /** A request that is not a valid handshake, and its answer. */
    const askRaw = async (
      method: string,
      headers: { readonly [name: string]: string | undefined },
      body = '',
    ): Promise<{ client: RawClient; exchange: Exchange; read: Promise<Uint8Array> | undefined }> => {
      const path = `/raw/${Math.random()}`;
      let read: Promise<Uint8Array> | undefined;
      const arriving = new Promise<Exchange>(resolve =>
        arrived.set(path, exchange => {
          if (!exchange.upgrade) read = exchange.body(100);
          resolve(exchange);
        }),
      );
      const client = await RawClient.open({ port: listening.port, ca: given.tls?.caPem });
      const lines = Object.entries(headers).flatMap(([name, value]) =>
        value === undefined ? [] : `${name}: ${value}\r\n`,
      );
      client.send(`${method} ${path} HTTP/1.1\r\nHost: localhost\r\n${lines.join('')}\r\n${body}`);
      return { client, exchange: await arriving, read };
    };

    beforeAll(async () => {
      listener = await given.make();
      listening = await listen();
    });
    afterAll(async () => {
      for (const { socket } of clients) socket.terminate();
      await listening.close();
    });

    it('accepts a handshake, also later; each write is a message, those of one turn come in order', async () => {
      const { client, exchange } = await ask();
      await turn();
      const stream = exchange.upgrade!('text');
      expect(exchange.status).toBe(101);
      for (const text of ['one', '', 'two']) stream.write(bytes(text));
      await client.until(() => client.messages.length === 2);
      stream.write(bytes('three'));
      await client.until(() => client.messages.length === 3);
      expect(client.messages).toEqual(['one', 'two', 'three'].map(text => ({ text, binary: false })));
    });

    it('sends binary messages, and the subprotocol that was chosen', async () => {
      const { client, exchange } = await ask(['a', 'b']);
      exchange.upgrade!('binary', 'b').write(bytes('x'));
      await client.until(() => client.messages.length === 1);
      expect([client.socket.protocol, client.messages]).toEqual(['b', [{ text: 'x', binary: true }]]);
    });

    it('closes with 1000 behind the last message, without telling of an abort', async () => {
      const { client, exchange } = await ask();
      const aborted = vi.fn();
      exchange.onAbort(aborted);
      const stream = exchange.upgrade!('text');
      stream.write(bytes('last'));
      stream.end();
      stream.write(bytes('too late'));
      expect(await client.closed).toBe(1000);
      expect(client.messages.map(({ text }) => text)).toEqual(['last']);
      await turn();
      expect([aborted.mock.calls.length, exchange.aborted]).toEqual([0, false]);
    });

    it('tells once when the client closes; writing then is harmless', async () => {
      const { client, exchange } = await ask();
      const aborted = vi.fn();
      const gone = new Promise<void>(resolve => exchange.onAbort(resolve));
      exchange.onAbort(aborted);
      const stream = exchange.upgrade!('text');
      await client.opened;
      client.socket.close(1000);
      await gone;
      stream.write(bytes('late'));
      stream.end();
      stream.abort();
      await client.closed;
      expect([aborted.mock.calls.length, exchange.aborted]).toEqual([1, true]);
    });

    it('accepting is harmless when the client is gone', async () => {
      const { client, exchange } = await ask();
      const gone = new Promise<void>(resolve => exchange.onAbort(resolve));
      client.socket.terminate();
      await gone;
      const stream = exchange.upgrade!('text');
      stream.write(bytes('late'));
      stream.end();
      expect(exchange.status).toBeUndefined();
    });

    it('cuts a stream at once', async () => {
      const { client, exchange } = await ask();
      const stream = exchange.upgrade!('text');
      await client.opened;
      stream.abort();
      expect(await client.closed).toBe(1006);
    });

    it('counts what a slow reader has not taken, tells when it has drained, and loses nothing', async () => {
      const { client, exchange } = await ask();
      const stream = exchange.upgrade!('binary');
      await client.opened;
      const drained = new Promise<void>(resolve => stream.onDrain(resolve));
      client.socket.pause();
      const sizes = [256 * 1024, 1, 20_000, 3];
      let unsent = 0;
      let written = 0;
      for (let i = 0; unsent < 4 * 1024 * 1024; i++) {
        const block = Buffer.alloc(sizes[i % sizes.length]!, 120);
        unsent = stream.write(block);
        written += block.length;
        await turn();
        if (written > 256 * 1024 * 1024) break;
      }
      expect(unsent).toBeGreaterThanOrEqual(4 * 1024 * 1024);
      client.socket.resume();
      await drained;
      stream.end();
      expect(await client.closed).toBe(1000);
      expect(client.received).toBe(written);
    });

    it('answers pings and drops what clients say; too large a message closes the connection', async () => {
      const { client, exchange } = await ask();
      const stream = exchange.upgrade!('text');
      await client.opened;
      const answered = new Promise(resolve => client.socket.once('pong', resolve));
      client.socket.send('x'.repeat(WEBSOCKET_MESSAGE_BYTES));
      client.socket.ping();
      await answered;
      stream.write(bytes('still here'));
      await client.until(() => client.messages.length === 1);
      client.socket.send('x'.repeat(WEBSOCKET_MESSAGE_BYTES + 1));
      expect([1006, 1009]).toContain(await client.closed);
    });

    it('refuses a handshake with a complete answer', async () => {
      const { client, exchange } = await askRaw('GET', HANDSHAKE);
      await turn();
      exchange.respond(403, [['x-why', 'not yours']], bytes('forbidden'));
      expect(await client.until(text => text.endsWith('forbidden'))).toMatch(
        /^HTTP\/1.1 403 [\s\S]*content-length: 9\r\n/i,
      );
      client.socket.destroy();
    });

    it('answers a handshake as any other request where nobody accepts it', async () => {
      const { client, exchange } = await askRaw('GET', HANDSHAKE);
      const stream = exchange.stream(200, [], { length: 6 });
      stream.write(bytes('list'));
      stream.write(bytes('ed'));
      stream.end();
      expect(await client.until(text => text.endsWith('listed'))).toMatch(/^HTTP\/1.1 200 /);
      client.socket.destroy();
    });

    it('does not accept what is no valid handshake; it is a request like any other, with its body', async () => {
      const cases: [string, { readonly [name: string]: string | undefined }, string][] = [
        ['GET', { ...HANDSHAKE, 'Sec-WebSocket-Key': undefined }, ''],
        ['GET', { ...HANDSHAKE, 'Sec-WebSocket-Key': 'c2hvcnQ=' }, ''],
        ['GET', { ...HANDSHAKE, 'Sec-WebSocket-Key': '!'.repeat(24) }, ''],
        ['GET', { ...HANDSHAKE, 'Sec-WebSocket-Version': '12' }, ''],
        ['GET', { ...HANDSHAKE, 'Sec-WebSocket-Protocol': 'a,,b' }, ''],
        ['GET', { ...HANDSHAKE, Connection: 'keep-alive' }, ''],
        ['GET', { ...HANDSHAKE, Upgrade: 'h2c' }, ''],
        ['GET', { ...HANDSHAKE, Upgrade: 'SPDY/3.1' }, ''],
        ['GET', { ...HANDSHAKE, 'Content-Length': '4' }, 'body'],
        ['POST', { ...HANDSHAKE, 'Content-Length': '4' }, 'body'],
        ['POST', { ...HANDSHAKE, Upgrade: 'h2c', 'Transfer-Encoding': 'chunked' }, '4\r\nbody\r\n0\r\n\r\n'],
      ];
      for (const [method, headers, body] of cases) {
        const { client, exchange, read } = await askRaw(method, headers, body);
        expect([headers, exchange.upgrade]).toEqual([headers, undefined]);
        expect(Buffer.from((await read)!).toString()).toBe(body === '' ? '' : 'body');
        exchange.respond(200, [], bytes('answered'));
        await client.until(text => text.endsWith('answered'));
        expect(client.closed).toBe(false);
        client.socket.destroy();
      }
    });

    it('closes gracefully: a WebSocket ends first', async () => {
      const own = await listen();
      const { client, exchange } = await ask([], own.port);
      const stream = exchange.upgrade!('text');
      await client.opened;
      const closed = own.close();
      stream.write(bytes('last'));
      stream.end();
      expect(await client.closed).toBe(1000);
      expect(client.messages.map(({ text }) => text)).toEqual(['last']);
      await closed;
    });

    it('cuts the WebSockets that are left when its time to drain is over', async () => {
      const own = await listen();
      const { client, exchange } = await ask([], own.port);
      exchange.upgrade!('text');
      await client.opened;
      vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
      try {
        const closed = own.close();
        vi.advanceTimersByTime(DRAIN_MS);
        await closed;
      } finally {
        vi.useRealTimers();
      }
      expect(await client.closed).toBe(1006);
    });
  });
}
