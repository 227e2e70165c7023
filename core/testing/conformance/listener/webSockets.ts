import { WebSocket } from 'ws';
import type { Exchange, UpgradeOptions } from '../../../api/listener.js';
import { WEBSOCKET_MESSAGE_BYTES } from '../../../limits.js';
import { nextTurn } from '../../../runtime/timers.js';
import { expect } from '../../expect.js';
import type { RawClient } from '../../rawClient.js';
import type { SuiteBuilder } from '../../suite.js';
import { bytes, Later, type ListenerSetup, readWhole } from './setup.js';

const HANDSHAKE_HEADERS = {
  Connection: 'Upgrade',
  Upgrade: 'websocket',
  'Sec-WebSocket-Version': '13',
  'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25jZQ==',
};

/** Messages of a client: more than the buffers of a connection hold. */
const FLOOD = 4000;

/** Options that accept a handshake; messages are discarded unless `receive` is given. */
const acceptOptions = (
  messages: 'text' | 'binary',
  receive: UpgradeOptions['receive'] = () => undefined,
): UpgradeOptions => ({
  messages,
  receive,
});

/** A client that keeps the messages that it receives. */
class Client {
  readonly messages: { readonly text: string; readonly binary: boolean }[] = [];
  received = 0;
  readonly socket: WebSocket;
  readonly opened: Promise<void>;
  /** The close code; 1006 if the connection was interrupted. */
  readonly closed: Promise<number>;
  isClosed = false;
  /** The reason that was sent with the close code. */
  reason = '';
  #waiters: (() => void)[] = [];

  constructor(url: string, protocols: string[]) {
    this.socket = new WebSocket(url, protocols, { rejectUnauthorized: false });
    this.socket.on('error', () => undefined);
    this.opened = new Promise(resolve => this.socket.once('open', resolve));
    this.closed = new Promise(resolve =>
      this.socket.once('close', (code, reason) => {
        this.isClosed = true;
        this.reason = reason.toString();
        resolve(code);
      }),
    );
    this.socket.on('message', (data: Buffer, binary: boolean) => {
      this.received += data.length;
      this.messages.push({ text: data.length < 1000 ? data.toString() : `${data.length}`, binary });
      for (const wake of this.#waiters.splice(0)) wake();
    });
  }

  /** Resolves when a condition holds, which messages can change. */
  async until(condition: () => boolean): Promise<void> {
    while (!condition()) await new Promise<void>(resolve => this.#waiters.push(resolve));
  }
}

/** The clients of a listener under test. */
class Sockets {
  readonly #clients: Client[] = [];
  #asked = 0;

  constructor(readonly setup: ListenerSetup) {}

  /** A client whose handshake has arrived and is not answered yet. */
  async ask(
    protocols: string[] = [],
    port = this.setup.listening.port,
  ): Promise<{ readonly client: Client; readonly exchange: Exchange }> {
    const path = `/socket/${this.#asked++}`;
    const scheme = this.setup.given.tls ? 'wss' : 'ws';
    const client = new Client(`${scheme}://127.0.0.1:${port}${path}`, protocols);
    this.#clients.push(client);
    return { client, exchange: await this.setup.front.event(path).value };
  }

  /** A request that need not be a valid handshake, and its body unless it is one. */
  async askRaw(
    method: string,
    headers: { readonly [name: string]: string | undefined },
    body = '',
  ): Promise<{ readonly client: RawClient; readonly exchange: Exchange; readonly read: Promise<Uint8Array> }> {
    const path = `/raw/${this.#asked++}`;
    const read = new Later<Uint8Array>();
    this.setup.front.handlers.set(path, exchange => read.resolve(exchange.upgrade ? NO_BODY : readWhole(exchange)));
    const client = await this.setup.open();
    const lines = Object.entries(headers).flatMap(([name, value]) =>
      value === undefined ? [] : `${name}: ${value}\r\n`,
    );
    client.send(`${method} ${path} HTTP/1.1\r\nHost: localhost\r\n${lines.join('')}\r\n${body}`);
    return { client, exchange: await this.setup.front.event(path).value, read: read.value };
  }

  close(): void {
    for (const { socket } of this.#clients.splice(0)) socket.terminate();
  }
}

const NO_BODY = Promise.resolve(new Uint8Array(0));

/** Adds the tests of WebSockets. */
export function testWebSockets(builder: SuiteBuilder, setup: ListenerSetup): void {
  const sockets = new Sockets(setup);
  builder.afterEach(() => sockets.close());
  builder.describe('WebSockets', () => {
    testHandshakes(builder, sockets);
    testSentMessages(builder, sockets);
    testReceivedMessages(builder, sockets);
  });
}

function testHandshakes({ it }: SuiteBuilder, sockets: Sockets): void {
  it('refuses a handshake with a complete answer', async () => {
    const { client, exchange } = await sockets.askRaw('GET', HANDSHAKE_HEADERS);
    await nextTurn();
    exchange.respond(403, [['x-why', 'not yours']], bytes('forbidden'));
    expect(await client.until(text => text.endsWith('forbidden'))).toMatch(
      /^HTTP\/1.1 403 [\s\S]*content-length: 9\r\n/i,
    );
    client.socket.destroy();
  });

  it('answers a handshake like any other request if it is not accepted', async () => {
    const { client, exchange } = await sockets.askRaw('GET', HANDSHAKE_HEADERS);
    const stream = exchange.stream(200, [], { length: 6 });
    stream.write(bytes('list'));
    stream.write(bytes('ed'));
    stream.end();
    expect(await client.until(text => text.endsWith('listed'))).toMatch(/^HTTP\/1.1 200 /);
    client.socket.destroy();
  });

  it('serves an invalid handshake like any other request, with its body', async () => {
    const cases: [string, { readonly [name: string]: string | undefined }, string][] = [
      ['GET', { ...HANDSHAKE_HEADERS, 'Sec-WebSocket-Key': undefined }, ''],
      ['GET', { ...HANDSHAKE_HEADERS, 'Sec-WebSocket-Key': 'c2hvcnQ=' }, ''],
      ['GET', { ...HANDSHAKE_HEADERS, 'Sec-WebSocket-Key': '!'.repeat(24) }, ''],
      ['GET', { ...HANDSHAKE_HEADERS, 'Sec-WebSocket-Version': '12' }, ''],
      ['GET', { ...HANDSHAKE_HEADERS, 'Sec-WebSocket-Protocol': 'a,,b' }, ''],
      ['GET', { ...HANDSHAKE_HEADERS, Connection: 'keep-alive' }, ''],
      ['GET', { ...HANDSHAKE_HEADERS, Upgrade: 'h2c' }, ''],
      ['GET', { ...HANDSHAKE_HEADERS, Upgrade: 'SPDY/3.1' }, ''],
      ['GET', { ...HANDSHAKE_HEADERS, 'Content-Length': '4' }, 'body'],
      ['POST', { ...HANDSHAKE_HEADERS, 'Content-Length': '4' }, 'body'],
      ['POST', { ...HANDSHAKE_HEADERS, Upgrade: 'h2c', 'Transfer-Encoding': 'chunked' }, '4\r\nbody\r\n0\r\n\r\n'],
    ];
    for (const [method, headers, body] of cases) {
      const { client, exchange, read } = await sockets.askRaw(method, headers, body);
      expect([headers, exchange.upgrade]).toEqual([headers, undefined]);
      expect(Buffer.from((await read)!).toString()).toBe(body === '' ? '' : 'body');
      exchange.respond(200, [], bytes('answered'));
      await client.until(text => text.endsWith('answered'));
      expect(client.closed).toBe(false);
      client.socket.destroy();
    }
  });
}

function testSentMessages({ it }: SuiteBuilder, sockets: Sockets): void {
  it('accepts a handshake, also later; each write is a message, and those of one turn arrive in order', async () => {
    const { client, exchange } = await sockets.ask();
    await nextTurn();
    const stream = exchange.upgrade!(acceptOptions('text'));
    expect(exchange.status).toBe(101);
    for (const text of ['one', '', 'two']) stream.write(bytes(text));
    await client.until(() => client.messages.length === 2);
    stream.write(bytes('three'));
    await client.until(() => client.messages.length === 3);
    expect(client.messages).toEqual(['one', 'two', 'three'].map(text => ({ text, binary: false })));
  });

  it('sends binary messages, and the subprotocol that was chosen', async () => {
    const { client, exchange } = await sockets.ask(['a', 'b']);
    exchange.upgrade!({ ...acceptOptions('binary'), subprotocol: 'b' }).write(bytes('x'));
    await client.until(() => client.messages.length === 1);
    expect([client.socket.protocol, client.messages]).toEqual(['b', [{ text: 'x', binary: true }]]);
  });

  it('closes with 1000 after the last message, without reporting an abort', async () => {
    const { client, exchange } = await sockets.ask();
    let aborts = 0;
    exchange.onAbort(() => aborts++);
    const stream = exchange.upgrade!(acceptOptions('text'));
    stream.write(bytes('last'));
    stream.end();
    stream.write(bytes('too late'));
    expect(await client.closed).toBe(1000);
    expect(client.messages.map(({ text }) => text)).toEqual(['last']);
    await nextTurn();
    expect([aborts, exchange.aborted]).toEqual([0, false]);
  });

  it('reports an abort once when the client closes; writing then has no effect', async () => {
    const { client, exchange } = await sockets.ask();
    let aborts = 0;
    const gone = new Promise<void>(resolve => exchange.onAbort(resolve));
    exchange.onAbort(() => aborts++);
    const stream = exchange.upgrade!(acceptOptions('text'));
    await client.opened;
    client.socket.close(1000);
    await gone;
    stream.write(bytes('late'));
    stream.end();
    stream.abort();
    await client.closed;
    expect([aborts, exchange.aborted]).toEqual([1, true]);
  });

  it('accepting has no effect when the client has closed the connection', async () => {
    const { client, exchange } = await sockets.ask();
    const gone = new Promise<void>(resolve => exchange.onAbort(resolve));
    client.socket.terminate();
    await gone;
    const stream = exchange.upgrade!(acceptOptions('text'));
    stream.write(bytes('late'));
    stream.end();
    expect(exchange.status).toBeUndefined();
  });

  it('closes a connection immediately', async () => {
    const { client, exchange } = await sockets.ask();
    const stream = exchange.upgrade!(acceptOptions('text'));
    await client.opened;
    stream.abort();
    expect(await client.closed).toBe(1006);
  });

  it('counts the bytes that a slow reader has not received, reports when they have drained, and loses nothing', async () => {
    const { client, exchange } = await sockets.ask();
    const stream = exchange.upgrade!(acceptOptions('binary'));
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
      await nextTurn();
      if (written > 256 * 1024 * 1024) break;
    }
    expect(unsent).toBeGreaterThanOrEqual(4 * 1024 * 1024);
    client.socket.resume();
    await drained;
    stream.end();
    expect(await client.closed).toBe(1000);
    expect(client.received).toBe(written);
  });

  it('answers pings; a message that is too large closes the connection', async () => {
    const { client, exchange } = await sockets.ask();
    const stream = exchange.upgrade!(acceptOptions('text'));
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

  it('closes gracefully: a WebSocket ends first', async () => {
    const own = await sockets.setup.listen();
    const { client, exchange } = await sockets.ask([], own.port);
    const stream = exchange.upgrade!(acceptOptions('text'));
    await client.opened;
    const closed = own.close();
    stream.write(bytes('last'));
    stream.end();
    expect(await client.closed).toBe(1000);
    expect(client.messages.map(({ text }) => text)).toEqual(['last']);
    await closed;
  });

  it('closes with the given code and reason after the last message', async () => {
    const { client, exchange } = await sockets.ask();
    const stream = exchange.upgrade!(acceptOptions('text'));
    stream.write(bytes('last'));
    stream.end(1001, 'closing');
    expect([await client.closed, client.reason]).toEqual([1001, 'closing']);
    expect(client.messages.map(({ text }) => text)).toEqual(['last']);
  });
}

function testReceivedMessages({ it }: SuiteBuilder, sockets: Sockets): void {
  it('passes on the messages of the client in order, until it ends', async () => {
    const { client, exchange } = await sockets.ask();
    const received: string[] = [];
    const stream = exchange.upgrade!(
      acceptOptions('text', (message, isBinary) => {
        received.push(`${Buffer.from(message).toString()} ${isBinary}`);
        if (received.length < 3) return;
        stream.end();
      }),
    );
    await client.opened;
    client.socket.send('one');
    client.socket.send(bytes('two'));
    client.socket.send('three');
    client.socket.send('four');
    expect(await client.closed).toBe(1000);
    expect(received).toEqual(['one false', 'two true', 'three false']);
  });

  it('passes on no message while the receiver is busy; waiting ones follow in order', async () => {
    const { client, exchange } = await sockets.ask();
    const received: string[] = [];
    const [begun, ready] = [new Later<void>(), new Later<void>()];
    const stream = exchange.upgrade!(
      acceptOptions('text', message => {
        received.push(Buffer.from(message).toString());
        begun.resolve();
        if (received.length === 3) stream.end();
        return received.length === 1 ? ready.value : undefined;
      }),
    );
    await client.opened;
    for (const text of ['one', 'two', 'three']) client.socket.send(text);
    await begun.value;
    await sockets.setup.ask('GET /now/beside HTTP/1.1\r\nHost: localhost\r\n\r\n', t => t.includes('beside?'));
    expect(received).toEqual(['one']);
    ready.resolve();
    await client.closed;
    expect(received).toEqual(['one', 'two', 'three']);
  });

  it('stops a client that sends more than is received, or closes its connection with 1008', async () => {
    const { client, exchange } = await sockets.ask();
    const ready = new Later<void>();
    let received = 0;
    const stream = exchange.upgrade!(
      acceptOptions('binary', () => {
        if (++received === FLOOD) stream.end();
        return ready.value;
      }),
    );
    await client.opened;
    let unsent = FLOOD;
    const send = (): void => {
      if (unsent > 0) client.socket.send(Buffer.alloc(WEBSOCKET_MESSAGE_BYTES), error => error ?? (unsent--, send()));
    };
    send();
    await sockets.setup.untilStill(() => (client.isClosed ? 0 : unsent));
    expect(unsent).toBeGreaterThan(0);
    expect(received).toBe(1);
    ready.resolve();
    expect([1000, 1006, 1008]).toContain(await client.closed);
    expect([1, FLOOD]).toContain(received);
  });

  for (const [title, fail] of [
    [
      'throws',
      () => {
        throw new Error('a fault of the receiver');
      },
    ],
    ['rejects', () => Promise.reject(new Error('a fault of the receiver'))],
  ] as const)
    it(`closes with 1011 if the receiver ${title}`, async () => {
      const { client, exchange } = await sockets.ask();
      exchange.upgrade!(acceptOptions('text', fail));
      await client.opened;
      client.socket.send('one');
      expect(await client.closed).toBe(1011);
    });
}
