import type { BodySink } from '../../../api/listener.js';
import { nextTurn } from '../../../runtime/timers.js';
import { expect } from '../../expect.js';
import { count, type RawClient } from '../../rawClient.js';
import type { SuiteBuilder } from '../../suite.js';
import { BIG, bytes, get, HOST, Later, LIMIT, type ListenerSetup } from './setup.js';

/** Bytes that are sent again and again, and the number of times: more than the buffers of a connection hold. */
const PATTERN = Buffer.from(Array.from({ length: 251 * 256 }, (_, i) => i % 251));
const REPEATED = 250;
const STREAMED = PATTERN.length * REPEATED;
/** The largest number of bytes that wait in a listener while a sink is busy: see `BodySink`. */
const WAITING = 1024 * 1024;

/** A request with a long body, which is sent as fast as the listener reads it. */
class LongRequest {
  unsent = STREAMED;

  constructor(
    readonly client: RawClient,
    path: string,
  ) {
    client.send(`POST ${path} HTTP/1.1\r\n${HOST}Content-Length: ${STREAMED}\r\n\r\n`);
    this.#send();
  }

  #send(): void {
    if (this.unsent === 0) return;
    this.client.socket.write(PATTERN, () => {
      this.unsent -= PATTERN.length;
      this.#send();
    });
  }
}

/** A sink that waits after its first part until it is released, and checks the others. */
class SlowSink implements BodySink {
  readonly begun = new Later<void>();
  readonly released = new Later<void>();
  /** Resolves with the error if the body is aborted. */
  readonly ended = new Later<unknown>();
  received = 0;
  isAsSent = true;

  write(part: Uint8Array): Promise<void> | undefined {
    const expected = Buffer.alloc(part.length + 251, PATTERN.subarray(0, 251)).subarray(this.received % 251);
    this.isAsSent &&= Buffer.compare(part, expected.subarray(0, part.length)) === 0;
    const isFirst = this.received === 0;
    this.received += part.length;
    this.begun.resolve();
    return isFirst ? this.released.value : undefined;
  }

  close(): void {
    this.ended.resolve(undefined);
  }

  abort(error: unknown): void {
    this.ended.resolve(error);
  }
}

/** Adds the tests of bodies of requests. */
export function testBodies({ it }: SuiteBuilder, setup: ListenerSetup): void {
  it('reads bodies of fixed length, chunked, empty, and in parts', async () => {
    const fixed = `POST /body HTTP/1.1\r\n${HOST}Content-Length: 5\r\n\r\nhello`;
    expect(await setup.ask(fixed, t => t.includes('5 hello'))).toContain('5 hello');
    const chunked = `POST /body HTTP/1.1\r\n${HOST}Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n`;
    expect(await setup.ask(chunked, t => t.includes('5 abcde'))).toContain('5 abcde');
    const empty = `POST /body HTTP/1.1\r\n${HOST}Content-Length: 0\r\n\r\n`;
    expect(await setup.ask(empty, t => t.endsWith('\r\n\r\n0 '))).toContain('\r\n\r\n0 ');
    const client = await setup.open();
    client.send(`PUT /body/parts HTTP/1.1\r\n${HOST}Content-Length: 6\r\n\r\nabc`);
    await setup.front.event('/body/parts').value;
    client.send('def');
    expect(await client.until(t => t.includes('6 abcdef'))).toContain('6 abcdef');
  });

  it('discards a body that is not read, and continues', async () => {
    const client = await setup.open();
    client.send(`POST /now/first HTTP/1.1\r\n${HOST}Content-Length: 200000\r\n\r\n`);
    await client.until(t => t.includes('/now/first?'));
    client.send('x'.repeat(200_000));
    client.send(get('/now/second'));
    expect(await client.until(t => t.includes('/now/second?'))).toContain('GET /now/second?');
  });

  it('reports each part of a body as it arrives', async () => {
    const client = await setup.open();
    client.send(`POST /body/counted HTTP/1.1\r\n${HOST}Content-Length: 6\r\n\r\nabc`);
    await setup.front.event('/body/counted').value;
    while (setup.front.counted < 3) await nextTurn();
    client.send('def');
    await client.until(t => t.includes('6 abcdef'));
    expect(setup.front.counted).toBe(6);
  });

  it('ends the read of a body with the error of the sink, discards the rest, and continues', async () => {
    const client = await setup.open();
    client.send(`POST /body/refused HTTP/1.1\r\n${HOST}Content-Length: 1000\r\n\r\n${'x'.repeat(500)}`);
    expect(await client.until(t => t.includes('too many'))).toMatch(/^HTTP\/1.1 429 /);
    client.send(`${'x'.repeat(500)}${get('/now/on')}`);
    expect(await client.until(t => t.includes('/now/on?'))).toContain('GET /now/on?');
  });

  it('ends the read of a body when the request is answered first, discards the rest, and continues', async () => {
    const client = await setup.open();
    client.send(`POST /answered HTTP/1.1\r\n${HOST}Content-Length: 1000\r\n\r\n${'x'.repeat(500)}`);
    expect(await client.until(t => t.endsWith('early'))).toMatch(/^HTTP\/1.1 403 /);
    expect(await setup.front.answeredEarly.value).toContain('before');
    client.send(`${'x'.repeat(500)}${get('/now/on')}`);
    expect(await client.until(t => t.includes('/now/on?'))).toContain('GET /now/on?');
  });

  it('answers Expect: 100-continue before the body is sent', async () => {
    const client = await setup.open();
    client.send(`POST /body HTTP/1.1\r\n${HOST}Content-Length: 4\r\nExpect: 100-continue\r\n\r\n`);
    await client.until(t => t.includes('100 Continue\r\n\r\n'));
    client.send('data');
    expect(await client.until(t => t.includes('4 data'))).toMatch(/^HTTP\/1.1 100 Continue\r\n\r\nHTTP\/1.1 200/);
  });

  it('refuses a body above the limit, of fixed length and chunked, and continues', async () => {
    const fixed = await setup.open();
    fixed.send(`POST /body HTTP/1.1\r\n${HOST}Content-Length: 5000\r\n\r\n${'x'.repeat(5000)}${get('/now/on')}`);
    expect(await fixed.until(t => t.includes('/now/on?'))).toContain(`Request entity too large: limit is ${LIMIT}`);
    const chunk = `400\r\n${'y'.repeat(1024)}\r\n`;
    const chunked = `POST /body HTTP/1.1\r\n${HOST}Transfer-Encoding: chunked\r\n\r\n${chunk}${chunk}0\r\n\r\n`;
    expect(await setup.ask(chunked, t => t.includes('too large'))).toMatch(/^HTTP\/1.1 413 /);
  });

  it('reports an abort while a body is being read, and rejects the read', async () => {
    const client = await setup.open();
    client.send(`POST /body/abort HTTP/1.1\r\n${HOST}Content-Length: 50\r\n\r\npart`);
    await setup.front.event('/body/abort').value;
    client.socket.destroy();
    expect((await setup.front.event('failed /body/abort').value).aborted).toBe(true);
  });

  for (const path of ['/body', '/answered', '/now/early', '/writes'])
    it(`a client that sends too much can read its answer: ${path}`, async () => {
      const client = await setup.open();
      client.send(`POST ${path} HTTP/1.1\r\n${HOST}Content-Length: ${BIG}\r\n\r\n`);
      client.send(Buffer.alloc(BIG, 120));
      client.send(get('/now/on'));
      const text = await client.until(t => t.includes('/now/on?'));
      expect(text).toMatch(/^HTTP\/1.1 (413|403|200) /);
      expect([count(text, 'HTTP/1.1'), text.endsWith('GET /now/on?')]).toEqual([2, true]);
    });

  /** A request whose sink is busy, after the listener has received as much as it accepts meanwhile. */
  const stall = async (path: string): Promise<{ readonly request: LongRequest; readonly sink: SlowSink }> => {
    const sink = new SlowSink();
    setup.front.sinks.set(path, sink);
    const request = new LongRequest(await setup.open(), path);
    await sink.begun.value;
    await setup.untilStill(() => request.unsent);
    return { request, sink };
  };

  it('reads the connection no further while the sink is busy, and loses nothing', async () => {
    const { request, sink } = await stall('/slow-body');
    const first = sink.received;
    expect(request.unsent).toBeGreaterThan(0);
    sink.released.resolve();
    expect([await sink.ended.value, sink.received, sink.isAsSent]).toEqual([undefined, STREAMED, true]);
    expect(first).toBeLessThan(WAITING);
    (await setup.front.event('/slow-body').value).respond(200, [], bytes('read'));
    request.client.send(get('/now/on'));
    const text = await request.client.until(t => t.endsWith('/now/on?'));
    expect(text).toContain('read');
  });

  it('closes a sink only when it is ready', async () => {
    const sink = new SlowSink();
    setup.front.sinks.set('/last', sink);
    const client = await setup.open();
    client.send(`POST /last HTTP/1.1\r\n${HOST}Content-Length: 2\r\n\r\n\0\x01`);
    await sink.begun.value;
    let isClosed = false;
    void sink.ended.value.then(() => (isClosed = true));
    await setup.ask(get('/now/beside'), t => t.includes('beside?'));
    expect(isClosed).toBe(false);
    sink.released.resolve();
    expect([await sink.ended.value, sink.isAsSent]).toEqual([undefined, true]);
    (await setup.front.event('/last').value).respond(200, [], bytes('read'));
    expect(await client.until(t => t.endsWith('read'))).toMatch(/^HTTP\/1.1 200 /);
  });

  it('discards the rest of a body whose sink rejects, aborts it with that error, and continues', async () => {
    const path = '/rejected';
    const failure = new Error('the sink is full');
    const ended = new Later<unknown>();
    setup.front.sinks.set(path, {
      write: () => Promise.reject(failure),
      close: () => ended.resolve(undefined),
      abort: error => ended.resolve(error),
    });
    const client = await setup.open();
    client.send(`POST ${path} HTTP/1.1\r\n${HOST}Content-Length: 1000\r\n\r\n${'x'.repeat(500)}`);
    expect((await ended.value) === failure).toBe(true);
    (await setup.front.event(path).value).respond(507, [], bytes('full'));
    await client.until(t => t.endsWith('full'));
    client.send(`${'x'.repeat(500)}${get('/now/on')}`);
    expect(await client.until(t => t.endsWith('/now/on?'))).toMatch(/^HTTP\/1.1 507 /);
  });

  it('continues after a sink that answers its request and is busy from then on', async () => {
    const path = '/answers';
    setup.front.handlers.set(path, exchange =>
      exchange.body({
        write: () => {
          exchange.respond(403, [], bytes('refused'));
          return new Promise(() => undefined);
        },
        close: () => undefined,
        abort: () => undefined,
      }),
    );
    const client = await setup.open();
    client.send(`POST ${path} HTTP/1.1\r\n${HOST}Content-Length: 1000\r\n\r\n${'x'.repeat(500)}`);
    await client.until(t => t.endsWith('refused'));
    client.send(`${'x'.repeat(500)}${get('/now/on')}`);
    expect(await client.until(t => t.endsWith('/now/on?'))).toMatch(/^HTTP\/1.1 403 /);
  });

  it('answers a request whose sink is busy, and aborts the sink; the client can read its answer', async () => {
    const { request, sink } = await stall('/refused-late');
    (await setup.front.event('/refused-late').value).respond(403, [], bytes('refused'));
    expect(String(await sink.ended.value)).toContain('before');
    expect(await request.client.until(t => t.endsWith('refused'))).toMatch(/^HTTP\/1.1 403 /);
    const received = sink.received;
    sink.released.resolve();
    request.client.send(get('/now/on'));
    await request.client.until(t => t.endsWith('/now/on?'));
    expect(sink.received).toBe(received);
  });
}
