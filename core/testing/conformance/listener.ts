import { HEADER_BYTES, HEADER_VALUE_BYTES, CREDENTIALS_BYTES } from '../../limits.js';
import { nextTurn } from '../../runtime/timers.js';
import { expect } from '../expect.js';
import { completeChunks, count, RawClient } from '../rawClient.js';
import { type ConformanceTest, suite } from '../suite.js';
import { testBodies } from './listener/bodies.js';
import { BIG, bytes, get, HANDSHAKE, HOST, Later, type ListenerCase, ListenerSetup } from './listener/setup.js';
import { testWebSockets } from './listener/webSockets.js';

export type { ListenerCase, ListenerTls } from './listener/setup.js';

/** Names of headers, the text that their values repeat, and the longest value in bytes. */
const LONG_VALUES: readonly (readonly [string, string, number])[] = [
  ['X-Long', 'a', HEADER_VALUE_BYTES],
  ['Impersonate-User', 'é', HEADER_VALUE_BYTES],
  ['Sec-WebSocket-Protocol', 'a ', CREDENTIALS_BYTES],
  ['Authorization', ' a', CREDENTIALS_BYTES],
];
/**
 * Returns the tests that every listener must pass.
 *
 * @example
 * for (const { name, run } of listenerConformance({ make: async () => new MyListener() })) test(name, run);
 */
export function listenerConformance(given: ListenerCase): readonly ConformanceTest[] {
  return suite(builder => {
    const { it } = builder;
    const setup = new ListenerSetup(given);
    const { open, ask, listen, targetOf } = setup;
    builder.beforeEach(() => setup.begin());
    builder.afterEach(() => setup.end());
    testBodies(builder, setup);
    if (given.hasWebSockets) testWebSockets(builder, setup);

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

    it('closes the connection after the answer if the client asks for that, and says so', async () => {
      for (const path of ['/now/last', '/later', '/big', '/writes', '/throw']) {
        const client = await open();
        client.send(get(path, 'Connection: close\r\n'));
        const text = (await client.end()).toLowerCase();
        expect(count(text.slice(0, text.indexOf('\r\n\r\n')), 'connection: close')).toBe(1);
      }
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

    it('accepts a large header block and refuses one above the limit with 431', async () => {
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

    it('reports an abort before the answer; answering then has no effect', async () => {
      const client = await open();
      client.send(get('/silent'));
      await setup.front.event('/silent').value;
      client.socket.destroy();
      const exchange = await setup.front.event('abort /silent').value;
      expect(exchange.aborted).toBe(true);
      exchange.respond(200, [], bytes('late'));
    });

    it('reports an abort while streaming; writing then has no effect', async () => {
      const client = await open();
      client.send(get('/streaming'));
      const stream = (await setup.front.event('/streaming').value).stream(200, []);
      stream.write(bytes('first'));
      await client.until(t => t.includes('first'));
      client.socket.destroy();
      await setup.front.event('abort /streaming').value;
      stream.write(bytes('late'));
      stream.end();
      stream.abort();
    });

    it('has the status of an answer once it is given, also with concurrent requests', async () => {
      const client = await open();
      client.send(get('/status'));
      const exchange = await setup.front.event('/status').value;
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
        const stream = (await setup.front.event(path).value).stream(200, [], { ahead });
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
      await setup.front.event('/big').value;
      await nextTurn();
      client.socket.resume();
      await client.untilBytes(received => received.length > BIG);
      const body = client.received.subarray(client.received.indexOf('\r\n\r\n') + 4);
      expect(body.length).toBe(BIG);
      expect([0, 4095, 4096, BIG - 1].map(at => body[at])).toEqual([97, 97, 98, 97 + ((BIG / 4096 - 1) % 26)]);
    });

    it('counts the bytes that a slow client has not received, and reports when they have drained', async () => {
      const client = await open();
      client.socket.pause();
      client.send(get('/slow'));
      const stream = (await setup.front.event('/slow').value).stream(200, []);
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
      await client.untilBytes(received => received.subarray(-7).toString('latin1') === '\r\n0\r\n\r\n');
      expect(client.received.length).toBeGreaterThan(written);
    });

    it('ends a stream immediately', async () => {
      const client = await open();
      client.send(get('/cut'));
      const stream = (await setup.front.event('/cut').value).stream(200, []);
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
          const client = await open({ ...targetOf(setup.listening.port), ...pair });
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
        setup.listener.listen({ host: '127.0.0.1', port: setup.listening.port, tls: given.tls }, setup.front.handle),
      ).rejects.toThrow('cannot listen');
    });

    it('closes gracefully: exchanges in flight end, idle connections are closed, new ones refused', async () => {
      const own = await listen();
      const [busy, idle] = [await open(targetOf(own.port)), await open(targetOf(own.port))];
      idle.send(get('/now/idle'));
      await idle.until(t => t.includes('idle?'));
      busy.send(get('/busy'));
      const exchange = await setup.front.event('/busy').value;
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
