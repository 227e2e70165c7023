import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Exchange, Listening } from '../../core/api/listener.js';
import { WholeBody } from '../../core/request/wholeBody.js';
import type { ListenerCase } from './listener.js';
import { count, RawClient } from './rawClient.js';

const HOST = 'Host: localhost\r\n';
const CHUNKED = 'Transfer-Encoding: chunked\r\n';
/** A request that a proxy which parses the previous request differently could take for a part of it. */
const HIDDEN = `GET /hidden HTTP/1.1\r\n${HOST}\r\n`;

const get = (headers: string): string => `GET /get HTTP/1.1\r\n${HOST}${headers}\r\n`;
const post = (headers: string, body: string): string => `POST /post HTTP/1.1\r\n${HOST}${headers}\r\n${body}`;
const chunks = '4\r\nbody\r\n0\r\n\r\n';

/** Requests whose end or type is ambiguous: they are answered with 400, 501 or 505, and the connection is closed. */
const REFUSED: readonly (readonly [string, string])[] = [
  ['two lengths that differ', post('Content-Length: 4\r\nContent-Length: 2\r\n', 'body')],
  ['a list of lengths', post('Content-Length: 4, 4\r\n', 'body')],
  ['a length that is not a number', post('Content-Length: four\r\n', 'body')],
  ['a length with a sign', post('Content-Length: +4\r\n', 'body')],
  ['a negative length', post('Content-Length: -4\r\n', 'body')],
  ['a length in hexadecimal', post('Content-Length: 0x4\r\n', 'body')],
  ['a length with a fraction', post('Content-Length: 4.0\r\n', 'body')],
  ['a length with something after it', post('Content-Length: 4a\r\n', 'body')],
  ['a length in two parts', post('Content-Length: 4 4\r\n', 'body')],
  ['an empty length', post('Content-Length:\r\n', 'body')],
  ['a length above 64 bits', post('Content-Length: 18446744073709551620\r\n', 'body')],
  ['a length that is not a number, without a body', get('Content-Length: x\r\n')],
  ['a length and chunks', post(`Content-Length: 4\r\n${CHUNKED}`, chunks)],
  ['chunks and a length', post(`${CHUNKED}Content-Length: 4\r\n`, chunks)],
  ['the coding identity', post('Transfer-Encoding: identity\r\n', chunks)],
  ['a coding before chunked', post('Transfer-Encoding: gzip, chunked\r\n', chunks)],
  ['a coding after chunked', post('Transfer-Encoding: chunked, identity\r\n', chunks)],
  ['an unknown coding', post('Transfer-Encoding: xchunked\r\n', chunks)],
  ['a quoted coding', post('Transfer-Encoding: "chunked"\r\n', chunks)],
  ['an empty coding', post('Transfer-Encoding:\r\nContent-Length: 4\r\n', 'body')],
  ['chunked twice', post(CHUNKED + CHUNKED, chunks)],
  ['two codings in two headers', post(`${CHUNKED}Transfer-Encoding: identity\r\n`, chunks)],
  ['a coding after a control character', post('Transfer-Encoding: \x0bchunked\r\n', chunks)],
  ['a coding in a GET', get('Transfer-Encoding: identity\r\n')],
  ['a space before the colon of a length', post('Content-Length : 4\r\n', 'body')],
  ['a space before the colon of a coding', post('Transfer-Encoding : chunked\r\nContent-Length: 4\r\n', 'body')],
  ['a chunk size with something after it', post(CHUNKED, '4z\r\nbody\r\n0\r\n\r\n')],
  ['a chunk size with a prefix', post(CHUNKED, '0x4\r\nbody\r\n0\r\n\r\n')],
  ['a negative chunk size', post(CHUNKED, '-4\r\nbody\r\n0\r\n\r\n')],
  ['a chunk size above 64 bits', post(CHUNKED, '10000000000000004\r\nbody\r\n0\r\n\r\n')],
  ['an empty chunk size', post(CHUNKED, '\r\nbody\r\n0\r\n\r\n')],
  ['a chunk size that a bare LF ends', post(CHUNKED, '4\nbody\r\n0\r\n\r\n')],
  ['chunk data that a bare LF ends', post(CHUNKED, '4\r\nbody\n0\r\n\r\n')],
  ['chunk data that nothing ends', post(CHUNKED, '4\r\nbodyXX0\r\n\r\n')],
  ['two hosts', get('Host: other\r\n')],
  ['no host', 'GET /get HTTP/1.1\r\n\r\n'],
  ['a header without a colon', get('Content-Length 4\r\n')],
  ['a header without a name', get(': 4\r\n')],
  ['a folded header', get('X-A: a\r\n b\r\n')],
  ['a space before the first header', `GET /get HTTP/1.1\r\n X-A: a\r\n${HOST}\r\n`],
  ['NUL in a header', get('X-A: a\0b\r\n')],
  ['a bare CR in a header', get('X-A: a\rb\r\n')],
  ['a bare LF after a header', get('X-A: a\nX-B: b\r\n')],
  ['a method that is not a token', `G@T /get HTTP/1.1\r\n${HOST}\r\n`],
  ['a request line without a version', `GET /get\r\n${HOST}\r\n`],
  ['a request line without a version, and no headers', 'GET /get\r\n\r\n'],
  ['a bare CR in the request line', `GET /get\r HTTP/1.1\r\n${HOST}\r\n`],
  ['a bare CR after the request line', `GET /get HTTP/1.1\r${HOST}\r\n`],
  ['a bare LF after the request line', `GET /get HTTP/1.1\n${HOST}\r\n`],
  ['a space in the target', `GET /g et HTTP/1.1\r\n${HOST}\r\n`],
  ['a control character in the target', `GET /g\x01et HTTP/1.1\r\n${HOST}\r\n`],
  ['a target that is not a path', `GET get HTTP/1.1\r\n${HOST}\r\n`],
  ['version 2.0', `GET /get HTTP/2.0\r\n${HOST}\r\n`],
  ['a version with something after it', `GET /get HTTP/1.1x\r\n${HOST}\r\n`],
];

/** Requests with an unambiguous end, so that the next one is answered. */
const SERVED: readonly (readonly [string, string])[] = [
  ['a length', post('Content-Length: 4\r\n', 'body')],
  ['a length with zeros before it', post('Content-Length: 004\r\n', 'body')],
  ['a length without a body', get('Content-Length: 0\r\n')],
  ['chunks', post(CHUNKED, '2\r\nbo\r\n2\r\ndy\r\n0\r\n\r\n')],
  ['chunks, the coding in capitals', post('Transfer-Encoding: CHUNKED\r\n', chunks)],
  ['chunk sizes with zeros before them', post(CHUNKED, '004\r\nbody\r\n000\r\n\r\n')],
];

/** Known deviations of a listener, by the name of the case; `docs/guides/connections.md` documents them. */
export interface FramingExceptions {
  /** Accepts the request, and answers the following bytes as another request. */
  readonly taken: readonly string[];
  /** Waits for more bytes, and closes the connection after its idle time without an answer. */
  readonly waitsFor: readonly string[];
}

const IDLE_MS = 30_000;

/** The tests of the end of requests in the conformance suite of the `listener` point. */
export function framingConformance(given: ListenerCase, { taken, waitsFor }: FramingExceptions): void {
  describe(`${given.name}: framing`, () => {
    const requests: string[] = [];
    let listening: Listening;
    const handle = (exchange: Exchange): void => {
      requests.push(exchange.path);
      const answer = (body: Uint8Array): void =>
        exchange.respond(200, [], Buffer.from(`${exchange.path} ${Buffer.from(body).toString()}.`));
      if (exchange.method === 'GET') answer(Buffer.alloc(0));
      else {
        const body = new WholeBody(100);
        exchange.body(body);
        void body.bytes.then(answer, () => undefined);
      }
    };
    const send = async (text: string): Promise<RawClient> => {
      requests.length = 0;
      const client = await RawClient.open({ port: listening.port, ca: given.tls?.caPem });
      client.send(Buffer.from(text, 'latin1'));
      return client;
    };
    const isExpected = ([name]: readonly [string, string]): boolean =>
      !taken.includes(name) && !waitsFor.includes(name);
    const casesOf = (names: readonly string[]) => REFUSED.filter(([name]) => names.includes(name));

    beforeAll(async () => {
      listening = await (await given.make()).listen({ host: '127.0.0.1', port: 0, tls: given.tls }, handle);
    });
    afterAll(() => listening.close());

    it.each(REFUSED.filter(isExpected))('refuses %s and closes the connection', async (_, text) => {
      const client = await send(text + HIDDEN);
      const answer = await client.end();
      expect(answer).toMatch(/^HTTP\/1.1 (400|501|505) /);
      expect([count(answer, 'HTTP/1.1'), requests]).toEqual([1, requests.filter(path => path === '/post')]);
    });

    it.each(SERVED)('serves %s, and the next request', async (_, text) => {
      const client = await send(text + HIDDEN);
      const answer = await client.until(received => received.includes('/hidden .'));
      expect(count(answer, 'HTTP/1.1 200')).toBe(2);
      expect(answer).toMatch(/\/(get |post body)\./);
      client.socket.destroy();
    });

    it.runIf(taken.length > 0).each(casesOf(taken))('accepts, against the rules, %s', async (_, text) => {
      const client = await send(text);
      expect(await client.until(received => /HTTP\/1.1 200[\s\S]*\.$/.test(received))).toMatch(/^HTTP\/1.1 200 /);
      client.socket.destroy();
    });

    it.runIf(waitsFor.length > 0)(
      'closes the connection after a while, without an answer, if it waits for more bytes',
      async () => {
        const clients = await Promise.all(casesOf(waitsFor).map(([, text]) => send(text + HIDDEN)));
        expect(await Promise.all(clients.map(client => client.end()))).toEqual(clients.map(() => ''));
        expect(requests).toEqual([]);
      },
      IDLE_MS,
    );
  });
}
