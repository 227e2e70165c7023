import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ClientOptions, WebSocket } from 'ws';
import { WATCH_BACKLOG_BYTES } from '../../core/limits.js';
import { RawClient } from '../conformance/rawClient.js';
import { Api, type Event } from './support.js';
import { brief, secret, valued, versionOf } from './watching.js';
import { LISTENER_NAMES } from '../listener/names.js';
import { MERGE } from '../support/mediaTypes.js';

const PROTOBUF = 'application/vnd.kubernetes.protobuf';
const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io';
const BEARER = 'base64url.bearer.authorization.k8s.io.';
const base64 = (token: string): string => Buffer.from(token).toString('base64url');

/** A watch over a WebSocket from the client's side. */
class Watch {
  readonly messages: { readonly data: Buffer; readonly binary: boolean }[] = [];
  /** Resolves with the close code. */
  readonly closed: Promise<number>;
  /** Status, content type and body of the answer that refused the handshake; undefined if it was accepted. */
  readonly refusal: Promise<{ status: number; text: string; version: unknown } | undefined>;
  readonly socket: WebSocket;

  constructor(
    api: Api,
    path: string,
    {
      protocols = [],
      ...options
    }: { protocols?: string[]; headers?: { readonly [name: string]: string } } & Partial<ClientOptions> = {},
  ) {
    this.socket = new WebSocket(api.server.url.replace('http', 'ws') + path, protocols, {
      rejectUnauthorized: false,
      ...options,
      headers: options.headers ?? { authorization: `Bearer ${api.server.token}` },
    });
    this.socket.on('error', () => undefined);
    this.socket.on('message', (data: Buffer, binary: boolean) => this.messages.push({ data, binary }));
    this.closed = new Promise(resolve => this.socket.once('close', resolve));
    this.refusal = new Promise(resolve => {
      this.socket.once('open', () => resolve(undefined));
      this.socket.once('unexpected-response', (_, response) => {
        let text = '';
        response.on('data', (part: Buffer) => (text += part.toString()));
        response.on('end', () => {
          resolve({ status: response.statusCode!, text, version: response.headers['sec-websocket-version'] });
          this.socket.terminate();
        });
      });
    });
  }

  get events(): Event[] {
    return this.messages.map(({ data }) => JSON.parse(data.toString()) as Event);
  }

  async next(count: number): Promise<Event[]> {
    while (this.messages.length < count) await once(this.socket, 'message');
    return this.events;
  }
}

describe.each(LISTENER_NAMES)('watches over WebSockets, listener %s', listener => {
  let api: Api;
  let path: string;
  let namespace: string;
  beforeAll(async () => {
    api = await Api.start({ listener });
    namespace = await api.namespace('sockets');
    path = `${namespace}/secrets`;
    await api.made(path, secret('a'));
  });
  afterAll(() => api.close());
  const version = async (): Promise<string> => versionOf((await api.get(path)).body);

  test('each event is one text message; timeoutSeconds ends it with code 1000', async () => {
    const watch = new Watch(api, `${path}?watch=1&timeoutSeconds=2&fieldSelector=metadata.name%3Da`);
    await watch.next(1);
    await api.patch(`${path}/a`, MERGE, valued('changed'));
    expect(await watch.closed).toBe(1000);
    expect(watch.events.map(brief)).toEqual(['ADDED a', 'MODIFIED a']);
    for (const { data, binary } of watch.messages)
      expect([binary, /^\{"type":.*\}\n$/.test(data.toString())]).toEqual([false, true]);
  });

  test('many concurrent events arrive in order, each once', async () => {
    const watch = new Watch(api, `${path}?watch=1&resourceVersion=${await version()}&labelSelector=many`);
    await watch.refusal;
    const names = Array.from({ length: 200 }, (_, i) => `many${i}`);
    // More connections at once would exceed the time limit of handshakes on a busy machine.
    const writers = Array.from({ length: 20 }, async (_, writer) => {
      for (const name of names.filter((__, i) => i % 20 === writer))
        await api.made(path, { metadata: { name, labels: { many: '' } } });
    });
    const events = await watch.next(names.length);
    await Promise.all(writers);
    expect(new Set(events.map(({ object }) => object['metadata']!['name'])).size).toBe(names.length);
    const versions = events.map(({ object }) => Number(versionOf(object)));
    expect(versions).toEqual(versions.toSorted((a, b) => a - b));
    watch.socket.terminate();
  });

  test('bookmarks, the end of the initial events, the older path, and a Table', async () => {
    const initial = 'sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true';
    const one = 'fieldSelector=metadata.name%3Da&timeoutSeconds=1';
    const marked = new Watch(api, `${path}?watch=1&${initial}&${one}`);
    const older = new Watch(api, `/api/v1/watch/namespaces/sockets/secrets?${one}`);
    const table = new Watch(api, `${path}?watch=1&${one}`, {
      headers: { accept: TABLE, authorization: `Bearer ${api.server.token}` },
    });
    await Promise.all([marked.closed, older.closed, table.closed]);
    expect(marked.events.map(brief)).toEqual(['ADDED a', 'BOOKMARK']);
    expect(older.events.map(brief)).toEqual(['ADDED a']);
    expect(table.events.map(({ object }) => object['kind'])).toEqual(['Table']);
  });

  test('protobuf is sent in binary messages without the length of a frame', async () => {
    const headers = { accept: PROTOBUF, authorization: `Bearer ${api.server.token}` };
    const one = `${path}?watch=1&fieldSelector=metadata.name%3Da&timeoutSeconds=1`;
    const watch = new Watch(api, one, { headers });
    await watch.closed;
    const [{ data, binary }] = watch.messages as [{ data: Buffer; binary: boolean }];
    const type = Buffer.from('\n\x05ADDED\x12', 'latin1');
    expect([watch.messages.length, binary, data.subarray(0, type.length)]).toEqual([1, true, type]);
    expect(data.includes('k8s\0')).toBe(true);
  });

  test('an error after the start of a watch is a message with an ERROR, then the end', async () => {
    const watch = new Watch(
      api,
      `${path}?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&resourceVersion=999999999`,
    );
    expect(await watch.closed).toBe(1000);
    expect(watch.events.map(({ type, object }) => [type, object['code']])).toEqual([['ERROR', 504]]);
  });

  test('a bearer token may be sent as a subprotocol, which is not selected', async () => {
    for (const domain of ['k8s.io', 'orchestrator.io']) {
      const token = `base64url.bearer.authorization.${domain}.${base64(api.server.token)}`;
      for (const protocols of [
        [token, 'base64.binary.k8s.io'],
        ['base64.binary.k8s.io', token],
      ]) {
        const watch = new Watch(api, `${path}?watch=1`, { protocols, headers: {} });
        expect([await watch.refusal, watch.socket.protocol]).toEqual([undefined, 'base64.binary.k8s.io']);
        await watch.next(1);
        watch.socket.terminate();
      }
    }
  });

  test('the first of the other subprotocols is selected', async () => {
    const offered = new Watch(api, `${path}?watch=1`, { protocols: ['v4.channel.k8s.io', 'b'] });
    const none = new Watch(api, `${path}?watch=1`);
    await Promise.all([offered.refusal, none.refusal]);
    expect([offered.socket.protocol, none.socket.protocol]).toEqual(['v4.channel.k8s.io', '']);
    for (const watch of [offered, none]) watch.socket.terminate();
  });

  test('refusals have the same status as without a WebSocket', async () => {
    const token = base64(api.server.token);
    const cases: [number, string, ConstructorParameters<typeof Watch>[2]][] = [
      [403, `${path}?watch=1`, { headers: {} }],
      [401, `${path}?watch=1`, { headers: { authorization: 'Bearer wrong' } }],
      [401, `${path}?watch=1`, { headers: {}, protocols: [BEARER + base64('wrong'), 'x'] }],
      [401, `${path}?watch=1`, { headers: {}, protocols: [BEARER + token] }],
      [401, `${path}?watch=1`, { headers: {}, protocols: [`${BEARER}${token}.`, 'x'] }],
      [401, `${path}?watch=1`, { headers: {}, protocols: [BEARER + token, BEARER + base64('wrong'), 'x'] }],
      [404, `${namespace}/nothing?watch=1`, {}],
      [422, `${path}?watch=1&resourceVersion=x`, {}],
      [406, `${path}?watch=1`, { headers: { accept: 'text/html', authorization: `Bearer ${api.server.token}` } }],
      [404, `${namespace}/pods/none/exec?command=ls`, {}],
    ];
    for (const [status, asked, options] of cases) {
      const refusal = await new Watch(api, asked, options).refusal;
      expect([asked, options, refusal?.status]).toEqual([asked, options, status]);
      expect(JSON.parse(refusal!.text)).toMatchObject({ kind: 'Status', code: status });
    }
  });

  test('an upgrade on any other path is ignored and answered completely', async () => {
    for (const [asked, part] of [
      ['/livez', 'ok'],
      [path, '"kind":"SecretList"'],
      [`${path}/a`, '"kind":"Secret"'],
    ] as const)
      expect(await new Watch(api, asked).refusal).toMatchObject({ status: 200, text: expect.stringContaining(part) });
  });

  test('an invalid handshake is refused with 400 and the problem', async () => {
    const ask = async (...lines: string[]): Promise<string> => {
      const client = await RawClient.open({ port: Number(new URL(api.server.url).port), ca: 'any' });
      const all = ['Host: x', `Authorization: Bearer ${api.server.token}`, 'Connection: Upgrade', 'Upgrade: websocket'];
      client.send(`GET ${path}?watch=1 HTTP/1.1\r\n${[...all, ...lines].join('\r\n')}\r\n\r\n`);
      const text = await client.until(received => received.includes('"code":400}'));
      client.socket.destroy();
      return text;
    };
    const key = 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==';
    const refused = await ask('Sec-WebSocket-Version: 13');
    expect(refused).toContain('Sec-WebSocket-Key: must be 16 bytes in base64');
    const [, id] = /audit-id: (\S+)\r\n/.exec(refused)!;
    expect(await api.decisionOf({ headers: { 'audit-id': id } })).toMatchObject({ outcome: { code: 400 } });
    expect(await ask('Sec-WebSocket-Version: 8', key)).toMatch(
      /sec-websocket-version: 13\r\n[\s\S]*Sec-WebSocket-Version: must be 13/,
    );
    expect(await ask('Sec-WebSocket-Version: 13', key, 'Sec-WebSocket-Protocol: a b')).toContain(
      'Sec-WebSocket-Protocol: must be a list of different tokens',
    );
  });

  test('messages of a client are ignored, and many of them do not delay other clients', async () => {
    const selected = `${path}?watch=1&resourceVersion=${await version()}&labelSelector=flood`;
    const [few, many, other] = [new Watch(api, selected), new Watch(api, selected), new Watch(api, selected)];
    await Promise.all([few.refusal, many.refusal, other.refusal]);
    few.socket.send('ignored');
    for (let i = 0; i < 2000; i++) many.socket.send('x'.repeat(4096));
    await api.made(path, { metadata: { name: 'flooded', labels: { flood: '' } } });
    for (const watch of [few, other]) expect((await watch.next(1)).map(brief)).toEqual(['ADDED flooded']);
    const disconnected = many.closed.then(code => [`closed with ${code}`]);
    const served = many.next(1).then(events => events.map(brief));
    expect(['closed with 1008', 'ADDED flooded']).toContain((await Promise.race([disconnected, served]))[0]);
    for (const watch of [few, many, other]) watch.socket.terminate();
  });

  test('a client that never reads is disconnected', async () => {
    const watch = new Watch(api, `${path}?watch=1&resourceVersion=${await version()}`);
    await watch.refusal;
    watch.socket.pause();
    const big = 'x'.repeat(700_000);
    await api.made(path, secret('big', big));
    for (let i = 0; i < 36; i++) await api.patch(`${path}/big`, MERGE, valued(`${i}${big}`));
    // The values are in base64. The kernel and the socket buffer accept a part as well.
    expect((36 * big.length * 4) / 3).toBeGreaterThan(4 * WATCH_BACKLOG_BYTES);
    watch.socket.resume();
    expect(await watch.closed).toBe(1006);
  });

  // The last test: it ends the server.
  test('a drain ends watches over WebSockets with code 1001', async () => {
    const watch = new Watch(api, '/api/v1/namespaces?watch=1&allowWatchBookmarks=true&resourceVersion=0');
    await watch.next(1);
    await api.close();
    expect(await watch.closed).toBe(1001);
    expect(watch.events.at(-1)!.type).toBe('BOOKMARK');
  });
});
