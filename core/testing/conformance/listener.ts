import type { Exchange, Listener, Listening } from '../../api/listener.js';
import { CREDENTIALS_BYTES, HEADER_BYTES, HEADER_VALUE_BYTES } from '../../limits.js';
import { Refusal } from '../../model/refusal.js';
import { nextTurn } from '../../runtime/timers.js';
import { expect } from '../expect.js';
import { completeChunks, count, RawClient, type RawTarget } from '../rawClient.js';
import { type ConformanceTest, suite } from '../suite.js';

/** How the suite connects to a listener. */
export interface ListenerCase {
  make(): Promise<Listener>;
  /** Paths and texts of a CA, a serving certificate and client certificates; without them, plain HTTP. */
  readonly tls?: ListenerTls;
}

/** Certificates for the suite. */
export interface ListenerTls {
  readonly certFile: string;
  readonly keyFile: string;
  readonly clientCaFile: string;
  readonly caPem: string;
  readonly good: { readonly cert: string; readonly key: string };
  readonly foreign: { readonly cert: string; readonly key: string };
}

/** A value that arrives later. */
class Later<T> {
  resolve!: (value: T) => void;
  readonly value = new Promise<T>(resolve => {
    this.resolve = resolve;
  });
}

const HOST = 'Host: localhost\r\n';
const get = (path: string, more = ''): string => `GET ${path} HTTP/1.1\r\n${HOST}${more}\r\n`;
const bytes = (text: string): Buffer => Buffer.from(text);
/** Headers of a WebSocket handshake. */
const HANDSHAKE =
  'Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n';
/** Names of headers, what their values repeat, and the longest value in bytes. */
const LONG_VALUES: readonly (readonly [string, string, number])[] = [
  ['X-Long', 'a', HEADER_VALUE_BYTES],
  ['Impersonate-User', 'é', HEADER_VALUE_BYTES],
  ['Sec-WebSocket-Protocol', 'a ', CREDENTIALS_BYTES],
  ['Authorization', ' a', CREDENTIALS_BYTES],
];
const LIMIT = 1000;
const BIG = 8 * 1024 * 1024;

/** Answers by path. Each path tests one behavior. */
class Front {
  readonly events = new Map<string, Later<Exchange>>();
  /** Number of bytes of the body of `/body/counted`. */
  counted = 0;
  /** The error with which reading the body of `/answered` was rejected. */
  readonly answeredEarly = new Later<string>();

  event(name: string): Later<Exchange> {
    let later = this.events.get(name);
    if (!later) this.events.set(name, (later = new Later()));
    return later;
  }

  readonly handle = (exchange: Exchange): void => {
    const { path } = exchange;
    exchange.onAbort(() => this.event(`abort ${path}`).resolve(exchange));
    this.event(path).resolve(exchange);
    if (path.startsWith('/now'))
      exchange.respond(200, [['x-a', 'b']], bytes(`${exchange.method} ${path}?${exchange.query}`));
    else if (path === '/later')
      void nextTurn().then(() => exchange.respond(200, [], bytes(`later ${exchange.header('x-id')}`)));
    else if (path === '/headers')
      void nextTurn().then(() => exchange.respond(200, [], bytes(JSON.stringify(exchange.headers()))));
    else if (path === '/pieces') exchange.respond(200, [], [bytes('one,'), bytes(''), bytes('two,'), bytes('three')]);
    else if (path === '/empty') exchange.respond(200, [], []);
    else if (path === '/big')
      exchange.respond(
        200,
        [],
        Array.from({ length: BIG / 4096 }, (_, i) => Buffer.alloc(4096, 97 + (i % 26))),
      );
    else if (path === '/none') exchange.respond(304, [['etag', '"x"']], []);
    else if (path === '/throw') throw new Error('handler failed');
    else if (path.startsWith('/body')) this.readBody(exchange);
    else if (path === '/answered') {
      exchange.body(LIMIT).catch(error => this.answeredEarly.resolve(String(error)));
      void nextTurn().then(() => exchange.respond(403, [], bytes('early')));
    } else if (path === '/certificate') exchange.respond(200, [], bytes(exchange.certificate ?? 'none'));
    else if (path === '/address') exchange.respond(200, [], bytes(`${exchange.remoteAddress} ${exchange.secure}`));
    else if (path === '/writes') this.writes(exchange);
  };

  private readBody(exchange: Exchange): void {
    const count = (received: number): void => {
      if (exchange.path === '/body/refused') throw new Refusal('TooManyRequests', 'too many');
      if (exchange.path === '/body/counted') this.counted += received;
    };
    void exchange.body(LIMIT, count).then(
      body => exchange.respond(200, [], bytes(`${body.length} ${Buffer.from(body).toString('latin1').slice(0, 10)}`)),
      error => {
        this.event(`failed ${exchange.path}`).resolve(exchange);
        if (error instanceof Refusal) exchange.respond(error.code, [], bytes(error.message));
      },
    );
  }

  private writes(exchange: Exchange): void {
    const stream = exchange.stream(200, [['content-type', 'text/plain']]);
    for (const part of ['a', 'b', 'c']) stream.write(bytes(part));
    void nextTurn()
      .then(nextTurn)
      .then(() => {
        stream.write(bytes('d'));
        stream.end();
      });
  }
}

/**
 * Returns the tests that every listener must pass.
 *
 * @example
 * for (const { name, run } of listenerConformance({ make: async () => new MyListener() })) test(name, run);
 */
export function listenerConformance(given: ListenerCase): readonly ConformanceTest[] {
  return suite(({ it, beforeEach, afterEach }) => {
    let front = new Front();
    let listener: Listener;
    let listening: Listening;
    const clients: RawClient[] = [];
    const targetOf = (port: number): RawTarget => ({ port, ca: given.tls?.caPem });
    const open = async (target = targetOf(listening.port)): Promise<RawClient> => {
      const client = await RawClient.open(target);
      clients.push(client);
      return client;
    };
    const ask = async (text: string, condition: (text: string) => boolean): Promise<string> => {
      const client = await open();
      client.send(text);
      return await client.until(condition);
    };
    const listen = (handle = front.handle): Promise<Listening> =>
      listener.listen({ host: '127.0.0.1', port: 0, tls: given.tls }, handle);

    beforeEach(async () => {
      front = new Front();
      listener = await given.make();
      listening = await listen();
    });
    afterEach(async () => {
      for (const client of clients.splice(0)) client.socket.destroy();
      await listening.close();
    });

    it('answers with status, headers, length and body', async () => {
      const text = await ask(get('/now%20x?q=1&r=%20'), t => t.endsWith('%20'));
      expect(text).toMatch(/^HTTP\/1.1 200 OK\r\n/);
      expect(text).toContain('x-a: b\r\n');
      expect(text.toLowerCase()).toContain('content-length: 22\r\n');
      expect(text.endsWith('GET /now%20x?q=1&r=%20')).toBe(true);
    });

    it('serves several requests on one connection', async () => {
      const client = await open();
      for (const n of [1, 2, 3]) {
        client.send(get(n === 2 ? '/later' : `/now/${n}`, 'X-Id: 7\r\n'));
        await client.until(t => t.includes(n === 2 ? 'later 7' : `/now/${n}?`));
      }
      expect(count(client.text, 'HTTP/1.1 200')).toBe(3);
    });

    it('answers pipelined requests in order', async () => {
      const text = await ask(get('/now/1') + get('/now/2') + get('/now/3'), t => t.includes('/now/3?'));
      expect([1, 2, 3].map(n => text.indexOf(`/now/${n}?`))).toEqual(
        [1, 2, 3].map(n => text.indexOf(`/now/${n}?`)).sort((a, b) => a - b),
      );
      expect(count(text, 'HTTP/1.1 200')).toBe(3);
    });

    it('never mixes answers when a request is pipelined after one that is not answered yet', async () => {
      const text = await ask(get('/later', 'X-Id: 1\r\n') + get('/now/2'), t => t.includes('/now/2?'));
      if (text !== '') expect(text.indexOf('later 1')).toBeLessThan(text.indexOf('/now/2?'));
    });

    it('sends no body for HEAD, but its length', async () => {
      const client = await open();
      client.send(`HEAD /pieces HTTP/1.1\r\n${HOST}\r\n`);
      await client.until(t => t.includes('\r\n\r\n'));
      client.send(get('/now/after'));
      const text = await client.until(t => t.includes('/now/after?'));
      expect(text.toLowerCase()).toContain('content-length: 13\r\n');
      expect(text).not.toContain('one,');
    });

    it('joins the pieces of a body in order', async () => {
      const answer = await ask(get('/pieces'), t => t.includes('three'));
      expect(answer).toMatch(/content-length: 13\r\n/i);
      expect(answer.endsWith('\r\n\r\none,two,three')).toBe(true);
    });

    it('answers with an empty body and with no body at all', async () => {
      expect((await ask(get('/empty'), t => t.includes('\r\n\r\n'))).toLowerCase()).toContain('content-length: 0\r\n');
      const none = await ask(get('/none'), t => t.includes('\r\n\r\n'));
      expect(none).toMatch(/^HTTP\/1.1 304 /);
      expect(none.toLowerCase()).not.toContain('content-length');
    });

    it('turns a throwing handler into a 500', async () => {
      expect(await ask(get('/throw'), t => t.includes('InternalError'))).toMatch(/^HTTP\/1.1 500 /);
    });

    it('reads bodies of fixed length, chunked, empty, and in parts', async () => {
      const fixed = `POST /body HTTP/1.1\r\n${HOST}Content-Length: 5\r\n\r\nhello`;
      expect(await ask(fixed, t => t.includes('5 hello'))).toContain('5 hello');
      const chunked = `POST /body HTTP/1.1\r\n${HOST}Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n`;
      expect(await ask(chunked, t => t.includes('5 abcde'))).toContain('5 abcde');
      const empty = `POST /body HTTP/1.1\r\n${HOST}Content-Length: 0\r\n\r\n`;
      expect(await ask(empty, t => t.endsWith('\r\n\r\n0 '))).toContain('\r\n\r\n0 ');
      const client = await open();
      client.send(`PUT /body/parts HTTP/1.1\r\n${HOST}Content-Length: 6\r\n\r\nabc`);
      await front.event('/body/parts').value;
      client.send('def');
      expect(await client.until(t => t.includes('6 abcdef'))).toContain('6 abcdef');
    });

    it('discards a body that is not read, and continues', async () => {
      const client = await open();
      client.send(`POST /now/first HTTP/1.1\r\n${HOST}Content-Length: 200000\r\n\r\n`);
      await client.until(t => t.includes('/now/first?'));
      client.send('x'.repeat(200_000));
      client.send(get('/now/second'));
      expect(await client.until(t => t.includes('/now/second?'))).toContain('GET /now/second?');
    });

    it('reports each part of a body as it arrives', async () => {
      const client = await open();
      client.send(`POST /body/counted HTTP/1.1\r\n${HOST}Content-Length: 6\r\n\r\nabc`);
      await front.event('/body/counted').value;
      while (front.counted < 3) await nextTurn();
      client.send('def');
      await client.until(t => t.includes('6 abcdef'));
      expect(front.counted).toBe(6);
    });

    it('ends the read of a body with the error of onPart, discards the rest, and continues', async () => {
      const client = await open();
      client.send(`POST /body/refused HTTP/1.1\r\n${HOST}Content-Length: 1000\r\n\r\n${'x'.repeat(500)}`);
      expect(await client.until(t => t.includes('too many'))).toMatch(/^HTTP\/1.1 429 /);
      client.send(`${'x'.repeat(500)}${get('/now/on')}`);
      expect(await client.until(t => t.includes('/now/on?'))).toContain('GET /now/on?');
    });

    it('ends the read of a body when the request is answered first, discards the rest, and continues', async () => {
      const client = await open();
      client.send(`POST /answered HTTP/1.1\r\n${HOST}Content-Length: 1000\r\n\r\n${'x'.repeat(500)}`);
      expect(await client.until(t => t.endsWith('early'))).toMatch(/^HTTP\/1.1 403 /);
      expect(await front.answeredEarly.value).toContain('before');
      client.send(`${'x'.repeat(500)}${get('/now/on')}`);
      expect(await client.until(t => t.includes('/now/on?'))).toContain('GET /now/on?');
    });

    it('answers Expect: 100-continue before the body is sent', async () => {
      const client = await open();
      client.send(`POST /body HTTP/1.1\r\n${HOST}Content-Length: 4\r\nExpect: 100-continue\r\n\r\n`);
      await client.until(t => t.includes('100 Continue\r\n\r\n'));
      client.send('data');
      expect(await client.until(t => t.includes('4 data'))).toMatch(/^HTTP\/1.1 100 Continue\r\n\r\nHTTP\/1.1 200/);
    });

    it('refuses a body above the limit, of fixed length and chunked, and continues', async () => {
      const fixed = await open();
      fixed.send(`POST /body HTTP/1.1\r\n${HOST}Content-Length: 5000\r\n\r\n${'x'.repeat(5000)}${get('/now/on')}`);
      expect(await fixed.until(t => t.includes('/now/on?'))).toContain(`Request entity too large: limit is ${LIMIT}`);
      const chunk = `400\r\n${'y'.repeat(1024)}\r\n`;
      const chunked = `POST /body HTTP/1.1\r\n${HOST}Transfer-Encoding: chunked\r\n\r\n${chunk}${chunk}0\r\n\r\n`;
      expect(await ask(chunked, t => t.includes('too large'))).toMatch(/^HTTP\/1.1 413 /);
    });

    for (const path of ['/body', '/answered', '/now/early', '/writes'])
      it(`a client that sends too much can read its answer: ${path}`, async () => {
        const client = await open();
        client.send(`POST ${path} HTTP/1.1\r\n${HOST}Content-Length: ${BIG}\r\n\r\n`);
        client.send(Buffer.alloc(BIG, 120));
        client.send(get('/now/on'));
        const text = await client.until(t => t.includes('/now/on?'));
        expect(text).toMatch(/^HTTP\/1.1 (413|403|200) /);
        expect([count(text, 'HTTP/1.1'), text.endsWith('GET /now/on?')]).toEqual([2, true]);
      });

    it('returns all headers in lower case and in order, also after the handler has returned', async () => {
      const lines = Array.from({ length: 60 }, (_, i) => `X-Header-${i}: value ${i}\r\n`).join('');
      const text = await ask(get('/headers', `${lines}X-Twice: 1\r\nX-Twice: 2\r\n`), t => t.endsWith(']]'));
      const headers = JSON.parse(text.slice(text.indexOf('[['))) as [string, string][];
      expect(headers.slice(1)).toEqual([
        ...Array.from({ length: 60 }, (_, i) => [`x-header-${i}`, `value ${i}`]),
        ['x-twice', '1'],
        ['x-twice', '2'],
      ]);
    });

    it('takes a large header block and refuses one above the limit with 431', async () => {
      const values = `X-Large: ${'a'.repeat(HEADER_VALUE_BYTES)}\r\n`.repeat(HEADER_BYTES / HEADER_VALUE_BYTES - 1);
      expect(await ask(get('/now/large', values), t => t.includes('large?'))).toContain('200 OK');
      expect(
        await ask(get('/now/huge', `X-Huge: ${'a'.repeat(HEADER_BYTES + 2000)}\r\n`), t => t.includes('\r\n\r\n')),
      ).toMatch(/^HTTP\/1.1 431 /);
    });

    for (const [name, repeated, limit] of LONG_VALUES)
      it(`refuses a value of ${name} that is too long with 431, before it is read`, async () => {
        const header = (bytes: number): string =>
          `${name}: x${repeated.repeat(Math.ceil(bytes / Buffer.byteLength(repeated)))}x\r\n`;
        for (const more of ['', HANDSHAKE]) {
          const text = await ask(get('/now/long', more + header(limit)), t => t.includes('"code":431'));
          expect(text).toMatch(/^HTTP\/1.1 431 /);
          expect(text).toContain(`"message":"a value of ${name.toLowerCase()} must be at most ${limit} bytes"`);
        }
        expect(await ask(get('/now/fits', header(limit - 4)), t => t.includes('fits?'))).toContain('200 OK');
      });

    it('survives bytes that are not HTTP', async () => {
      const client = await open();
      client.send('\x16\x03\x01 nonsense\r\n\r\n');
      client.socket.end();
      await client.end();
      expect(await ask(get('/now/alive'), t => t.includes('alive?'))).toContain('200 OK');
    });

    it('reports an abort while a body is being read, and rejects the read', async () => {
      const client = await open();
      client.send(`POST /body/abort HTTP/1.1\r\n${HOST}Content-Length: 50\r\n\r\npart`);
      await front.event('/body/abort').value;
      client.socket.destroy();
      expect((await front.event('failed /body/abort').value).aborted).toBe(true);
    });

    it('reports an abort before the answer; answering then has no effect', async () => {
      const client = await open();
      client.send(get('/silent'));
      await front.event('/silent').value;
      client.socket.destroy();
      const exchange = await front.event('abort /silent').value;
      expect(exchange.aborted).toBe(true);
      exchange.respond(200, [], bytes('late'));
    });

    it('reports an abort while streaming; writing then has no effect', async () => {
      const client = await open();
      client.send(get('/streaming'));
      const stream = (await front.event('/streaming').value).stream(200, []);
      stream.write(bytes('first'));
      await client.until(t => t.includes('first'));
      client.socket.destroy();
      await front.event('abort /streaming').value;
      stream.write(bytes('late'));
      stream.end();
      stream.abort();
    });

    it('has the status of an answer once it is given, also with concurrent requests', async () => {
      const client = await open();
      client.send(get('/status'));
      const exchange = await front.event('/status').value;
      expect(exchange.status).toBeUndefined();
      await ask(get('/now/beside'), t => t.includes('beside?'));
      exchange.respond(201, [], bytes('made'));
      expect(exchange.status).toBe(201);
      expect(await client.until(t => t.endsWith('made'))).toMatch(/^HTTP\/1.1 201 /);
    });

    it('sends a stream chunked, the writes of one turn as one', async () => {
      const text = await ask(get('/writes'), t => t.endsWith('0\r\n\r\n'));
      expect(text.toLowerCase()).toContain('transfer-encoding: chunked');
      expect(text.replace(/\r\n/g, ' ')).toMatch(/(3 abc|1 a 1 b 1 c) +1 d 0 +$/);
    });

    for (const [what, ahead] of [
      ['a blank that means nothing', { value: 0x20, partOfWrite: false }],
      ['the first byte of every write', { value: 0x61, partOfWrite: true }],
    ] as const)
      it(`completes the chunks of a stream in each turn, with ${what} to send ahead`, async () => {
        const client = await open();
        const path = `/ahead/${ahead.value}`;
        client.send(get(path));
        const stream = (await front.event(path).value).stream(200, [], { ahead });
        await client.until(t => t.includes('\r\n\r\n'));
        const seen = (text: string): string => completeChunks(text).replaceAll(' ', '');
        let written = '';
        for (const line of ['ab\n', 'ac\n', 'ad\n']) {
          stream.write(bytes(line));
          written += line;
          const text = await client.until(t => seen(t).startsWith(written));
          expect(['', 'a']).toContain(seen(text).slice(written.length));
        }
        stream.end();
        expect(seen(await client.until(t => t.endsWith('\r\n0\r\n\r\n')))).toMatch(/^ab\nac\nad\na?$/);
      });

    it('sends a large body to a client that pauses', async () => {
      const client = await open();
      client.socket.pause();
      client.send(get('/big'));
      await front.event('/big').value;
      await nextTurn();
      client.socket.resume();
      await client.until(() => client.received.length > BIG);
      const body = client.received.subarray(client.received.indexOf('\r\n\r\n') + 4);
      expect(body.length).toBe(BIG);
      expect([0, 4095, 4096, BIG - 1].map(at => body[at])).toEqual([97, 97, 98, 97 + ((BIG / 4096 - 1) % 26)]);
    });

    it('counts the bytes that a slow client has not received, and reports when they have drained', async () => {
      const client = await open();
      client.socket.pause();
      client.send(get('/slow'));
      const stream = (await front.event('/slow').value).stream(200, []);
      const drained = new Later<void>();
      stream.onDrain(() => drained.resolve());
      const block = Buffer.alloc(256 * 1024, 120);
      let unsent = 0;
      let written = 0;
      while (unsent < 4 * 1024 * 1024) {
        unsent = stream.write(block);
        written += block.length;
        await nextTurn();
        if (written > 256 * 1024 * 1024) break;
      }
      expect(unsent).toBeGreaterThanOrEqual(4 * 1024 * 1024);
      client.socket.resume();
      await drained.value;
      stream.end();
      await client.until(t => t.endsWith('\r\n0\r\n\r\n'));
      expect(client.received.length).toBeGreaterThan(written);
    });

    it('ends a stream immediately', async () => {
      const client = await open();
      client.send(get('/cut'));
      const stream = (await front.event('/cut').value).stream(200, []);
      stream.write(bytes('begun'));
      await client.until(t => t.includes('begun'));
      stream.abort();
      expect(await client.end()).not.toContain('0\r\n\r\n');
    });

    it('knows the client address and whether the connection is secure', async () => {
      expect(await ask(get('/address'), t => /true|false/.test(t))).toContain(`127.0.0.1 ${given.tls !== undefined}`);
    });

    const { tls } = given;
    if (tls)
      it('returns only client certificates that the CA verified', async () => {
        const answers = [tls.good, tls.foreign, undefined].map(async pair => {
          const client = await open({ ...targetOf(listening.port), ...pair });
          client.send(get('/certificate'));
          const text = await client.until(t => /none|END CERTIFICATE-----/.test(t.slice(t.indexOf('\r\n\r\n'))));
          return text === '' ? 'no connection' : text.slice(text.indexOf('\r\n\r\n') + 4).trim();
        });
        const [good, foreign, without] = await Promise.all(answers);
        expect([good, without]).toEqual([tls.good.cert.trim(), 'none']);
        expect(['none', 'no connection']).toContain(foreign);
      });

    it('refuses a port that is in use', async () => {
      await expect(
        listener.listen({ host: '127.0.0.1', port: listening.port, tls: given.tls }, front.handle),
      ).rejects.toThrow('cannot listen');
    });

    it('closes gracefully: exchanges under way end, idle connections are closed, no new ones are taken', async () => {
      const own = await listen();
      const [busy, idle] = [await open(targetOf(own.port)), await open(targetOf(own.port))];
      idle.send(get('/now/idle'));
      await idle.until(t => t.includes('idle?'));
      busy.send(get('/busy'));
      const exchange = await front.event('/busy').value;
      const closed = own.close();
      await expect(RawClient.open(targetOf(own.port))).rejects.toThrow();
      exchange.respond(200, [], bytes('finished'));
      expect(await busy.end()).toContain('finished');
      await idle.end();
      await closed;
      await own.close();
    });
  });
}
