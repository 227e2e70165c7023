import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { WebSocket } from 'ws';
import type { Exchange, Listening } from '../../core/api/listener.js';
import { CONNECTIONS, HEADER_BYTES } from '../../core/limits.js';
import { count, RawClient } from '../conformance/rawClient.js';
import { certificates, LISTENERS } from './listeners.js';
import { eventuallyPasses } from '../support/eventually.js';

const limits = vi.hoisted(() => ({ droppedBodyMs: 2000 }));

/** Time limits that a test can wait for. uWS has a compiled-in limit of 10 seconds, which it counts in steps of 4. */
vi.mock('../../core/limits.js', async original => ({
  ...(await original<typeof import('../../core/limits.js')>()),
  CONNECTIONS: 12,
  HEADERS_MS: 1000,
  REQUEST_MS: 2000,
  DROPPED_BODY_BYTES: 4 * 1024 * 1024,
  get DROPPED_BODY_MS() {
    return limits.droppedBodyMs;
  },
  IDLE_MS: 1500,
  STALLED_READER_MS: 1000,
  DRAIN_MS: 1000,
}));

const HOST = 'Host: localhost\r\n';
const LARGE = 32 * 1024 * 1024;
const get = (path: string): string => `GET ${path} HTTP/1.1\r\n${HOST}\r\n`;

/** Sends a byte repeatedly until the connection is closed. */
function drip(client: RawClient, byte: string): void {
  const timer = setInterval(() => client.send(byte), 200);
  client.socket.once('close', () => clearInterval(timer));
}

const tls = await certificates();
const cases = LISTENERS.flatMap(({ name, make }) => [
  { name, make, tls: undefined },
  { name: `${name}, TLS`, make, tls },
]);

describe.each(cases)('a hostile client of the listener $name', ({ name, make, tls }) => {
  const isNode = name.startsWith('node');
  let listening: Listening;
  /** Called once for each path whose exchange was aborted. */
  const aborted = vi.fn<(path: string) => void>();
  const streams: ReturnType<Exchange['stream']>[] = [];

  const handle = (exchange: Exchange): void => {
    const { path } = exchange;
    exchange.onAbort(() => aborted(path));
    if (path === '/large') exchange.respond(200, [], [Buffer.alloc(LARGE)]);
    else if (path === '/stream') exchange.stream(200, []).write(Buffer.alloc(LARGE));
    else if (path === '/quiet') streams.push(exchange.stream(200, []));
    else if (path === '/socket')
      exchange.upgrade!({ messages: 'binary', receive: () => undefined }).write(Buffer.alloc(LARGE));
    else if (path === '/body')
      exchange.body({
        write: () => undefined,
        close: () => exchange.respond(200, [], Buffer.from('read')),
        abort: () => undefined,
      });
    else exchange.respond(exchange.method === 'GET' ? 200 : 403, [], Buffer.from('answered'));
  };
  const open = (): Promise<RawClient> => RawClient.open({ port: listening.port, ca: tls?.caPem });

  beforeAll(async () => {
    listening = await (await make()).listen({ host: '127.0.0.1', port: 0, tls }, handle);
  });
  afterAll(() => listening.close());

  /** Runs `attack` on a new connection. Resolves with the bytes received until the server closes it. */
  const attack = async (run: (client: RawClient) => void): Promise<string> => {
    const client = await open();
    run(client);
    return await client.end();
  };

  it.concurrent('is disconnected when it sends nothing, or sends headers, a body, or the body of an answered request too slowly', async () => {
    const body = `Content-Length: 100000\r\n\r\n`;
    const [nothing, line, lines, slow, stalled, chunks, answered, idle] = await Promise.all([
      attack(() => undefined),
      attack(client => (client.send(`GET / HTTP/1.1\r\n${HOST}X: `), drip(client, 'x'))),
      attack(client => (client.send(`GET / HTTP/1.1\r\n${HOST}`), drip(client, 'X: x\r\n'))),
      attack(client => (client.send(`POST /body HTTP/1.1\r\n${HOST}${body}`), drip(client, 'x'))),
      attack(client => client.send(`POST /body HTTP/1.1\r\n${HOST}${body}x`)),
      attack(client => {
        client.send(`POST /body HTTP/1.1\r\n${HOST}Transfer-Encoding: chunked\r\n\r\n`);
        drip(client, '1\r\nx\r\n');
      }),
      attack(client => (client.send(`POST /answered HTTP/1.1\r\n${HOST}${body}`), drip(client, 'x'))),
      attack(client => client.send(get('/idle'))),
    ]);
    for (const answer of [nothing, line, lines, slow, stalled, chunks])
      expect(answer).toMatch(/^$|^HTTP\/1.1 408 [\s\S]*\r\n\r\n$/);
    expect([count(answered!, 'HTTP/1.1 403'), count(answered!, 'HTTP/1.1')]).toEqual([1, 1]);
    expect(idle).toMatch(/^HTTP\/1.1 200 [\s\S]*answered$/);
  });

  it.runIf(tls)('is disconnected when it does not complete the TLS handshake', async () => {
    const socket = connect(listening.port, '127.0.0.1').resume();
    await once(socket, 'close');
  });

  it.each(['/large', '/stream'])('is disconnected when it reads nothing of an answer: %s', async path => {
    aborted.mockClear();
    const client = await open();
    client.socket.pause();
    client.send(get(path));
    await eventuallyPasses(() => expect(aborted).toHaveBeenCalledWith(path));
    client.socket.destroy();
  });

  it('is disconnected when it does not read a WebSocket', async () => {
    aborted.mockClear();
    const url = `ws${tls ? 's' : ''}://127.0.0.1:${listening.port}/socket`;
    const socket = new WebSocket(url, { ca: tls?.caPem });
    await once(socket, 'open');
    socket.pause();
    await eventuallyPasses(() => expect(aborted).toHaveBeenCalledWith('/socket'));
    socket.terminate();
  });

  it('is not disconnected while a stream has nothing to send to it', async () => {
    const client = await open();
    const begun = streams.length;
    client.send(get('/quiet'));
    await eventuallyPasses(() => expect(streams.length).toBeGreaterThan(begun));
    const other = await open();
    other.socket.pause();
    other.send(get('/stream'));
    aborted.mockClear();
    await eventuallyPasses(() => expect(aborted).toHaveBeenCalledWith('/stream'));
    const stream = streams.at(-1)!;
    stream.write(Buffer.from('event'));
    stream.end();
    expect(await client.until(text => text.endsWith('0\r\n\r\n'))).toContain('event');
    client.socket.destroy();
  });

  it('counts as disconnected when it closes its half of the connection', async () => {
    aborted.mockClear();
    const begun = streams.length;
    const client = await open();
    client.send(get('/quiet'));
    await eventuallyPasses(() => expect(streams.length).toBeGreaterThan(begun));
    client.socket.end();
    await client.end();
    await eventuallyPasses(() => expect(aborted).toHaveBeenCalledWith('/quiet'));
  });

  it.runIf(isNode)('is disconnected when it sends too much of the body of an answered request', async () => {
    // The connection must not end because of the time that the body takes.
    const { droppedBodyMs } = limits;
    limits.droppedBodyMs = 600_000;
    onTestFinished(() => void (limits.droppedBodyMs = droppedBodyMs));
    const client = await open();
    const part = Buffer.alloc(1024 * 1024);
    // The system has buffers of up to 40 MB; the limit is 4.
    const parts = 64;
    client.send(`POST /answered HTTP/1.1\r\n${HOST}Content-Length: ${(parts + 1) * part.length}\r\n\r\n`);
    await client.until(text => text.endsWith('answered'));
    const send = () => new Promise<unknown>(resolve => client.socket.write(part, resolve));
    let sent = 0;
    while (sent < parts && !(await send())) sent++;
    expect(sent).toBeLessThan(parts);
    await client.end();
  });

  it('cannot send more headers than the limit', async () => {
    const headers = 'a:b\r\n'.repeat(HEADER_BYTES / 5);
    const client = await open();
    client.send(`GET / HTTP/1.1\r\n${HOST}${headers}\r\n`);
    expect(await client.until(text => text.includes('\r\n\r\n'))).toMatch(/^HTTP\/1.1 431 /);
    client.socket.destroy();
  });

  it('gets no more connections than the limit, and frees them for others when it disconnects', async () => {
    const isServed = async (): Promise<boolean> => {
      const client = await open().catch(() => undefined);
      client?.send(get('/'));
      const text = await client?.until(received => received.endsWith('answered'));
      client?.socket.destroy();
      return text?.endsWith('answered') === true;
    };
    await eventuallyPasses(async () => expect(await isServed()).toBe(true));
    const sockets = Array.from({ length: CONNECTIONS }, () => connect(listening.port, '127.0.0.1').resume());
    await Promise.all(sockets.map(socket => once(socket, 'connect')));
    expect(await isServed()).toBe(false);
    for (const socket of sockets) socket.destroy();
    await eventuallyPasses(async () => expect(await isServed()).toBe(true));
  });

  it('frees its place when a WebSocket closes', async () => {
    const url = `ws${tls ? 's' : ''}://127.0.0.1:${listening.port}/socket`;
    for (let i = 0; i < 2 * CONNECTIONS; i++) {
      const socket = new WebSocket(url, { ca: tls?.caPem });
      await once(socket, 'open');
      socket.terminate();
      await once(socket, 'close');
    }
  });
});
