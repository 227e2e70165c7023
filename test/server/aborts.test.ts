import { request } from 'node:http';
import { createRequire } from 'node:module';
import { connect, type Socket } from 'node:net';
import { resolve } from 'node:path';
import { queryObjects } from 'node:v8';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RunningServer } from '../../core/index.js';
import { startServer } from './library.js';
import { LISTENER_NAMES } from '../listener/names.js';
import { eventually, eventuallyPasses } from '../support/eventually.js';

/** Number of requests of a run: by default, eight for each way through the server and each time to disconnect. */
const REQUESTS = Number(process.env.CAPSTAN_ABORTS ?? 600);
const WATCHES = Math.max(150, REQUESTS / 10);
const AT_ONCE = 64;
const MAPS = '/api/v1/namespaces/default/configmaps';
const TABLE = 'application/json;as=Table;g=meta.k8s.io;v=v1';
const PROTOBUF = 'application/vnd.kubernetes.protobuf';

const WATCHER = ['workers/front/watch/watcher.js', 'Watcher'] as const;
/** The classes whose instances belong to a request or a watch, by listener. */
const KEPT: Readonly<Record<string, readonly (readonly [path: string, name: string])[]>> = {
  uws: [WATCHER, ['plugins/listener/uwsExchange.js', 'UwsExchange'], ['plugins/listener/uwsWrite.js', 'UwsStream']],
  node: [WATCHER, ['plugins/listener/nodeExchange.js', 'NodeExchange']],
};
const load = createRequire(import.meta.url);
/** A class as loaded by the server. */
const loaded = (path: string, name: string) =>
  (load(resolve(`dist/${path}`)) as { readonly [name: string]: new () => unknown })[name]!;

/** A reproducible sequence (Park and Miller's generator). */
function random(seed: number): (below: number) => number {
  let state = seed;
  return below => {
    state = (state * 48271) % 2147483647;
    return state % below;
  };
}

const head = (method: string, path: string, token: string, more = ''): string =>
  `${method} ${path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${token}\r\n${more}\r\n`;
const withBody = (method: string, path: string, token: string, body: object): string => {
  const text = JSON.stringify(body);
  return head(method, path, token, `content-type: application/json\r\ncontent-length: ${text.length}\r\n`) + text;
};

describe.each(LISTENER_NAMES)('clients that disconnect at any time, on %s', listener => {
  let server: RunningServer;
  let port: number;
  beforeAll(async () => {
    server = await startServer({ storage: 'memory', port: 0, httpPort: 0, naming: 'kubernetes', listener });
    port = Number(new URL(server.httpUrl!).port);
    await eventually(async () => (await call('GET', '/api/v1/namespaces/default')).status === 200);
    for (let i = 0; i < 200; i++)
      await call('POST', MAPS, { metadata: { name: `there-${i}` }, data: { text: 'x'.repeat(5000) } });
  });
  afterAll(() => server.close());

  /** One request on its own connection, and its answer. */
  function call(method: string, path: string, body?: object): Promise<{ status: number; text: string }> {
    const headers = { authorization: `Bearer ${server.token}`, 'content-type': 'application/json' };
    return new Promise((done, fail) => {
      const sent = request({ port, method, path, headers, agent: false }, answer => {
        const parts: Buffer[] = [];
        answer.on('data', part => parts.push(part)).on('error', fail);
        answer.on('end', () => done({ status: answer.statusCode!, text: Buffer.concat(parts).toString() }));
      });
      sent.on('error', fail).end(body && JSON.stringify(body));
    });
  }

  /** Requests that take every path through the server. */
  function requestOf(n: number, pick: (below: number) => number): string {
    const { token } = server;
    const name = `made-${n % 500}`;
    const one = `${MAPS}/there-${n % 200}`;
    const made = { metadata: { name }, data: { text: 'y'.repeat(pick(20_000)) } };
    const ways: (() => string)[] = [
      () => withBody('POST', MAPS, token, made),
      () => withBody('PUT', `${MAPS}/${name}`, token, made),
      () => head('DELETE', `${MAPS}/${name}`, token),
      () => withBody('DELETE', `${MAPS}?fieldSelector=metadata.name%3D${name}`, token, {}),
      () => head('GET', one, token),
      () => head('GET', one, token, `accept: ${TABLE}\r\n`),
      () => head('GET', one, `unknown-${n}`),
      () => head('GET', MAPS, token),
      () => head('GET', MAPS, token, 'accept-encoding: gzip\r\n'),
      () => head('GET', `${MAPS}?resourceVersion=999999999`, token),
      () => head('GET', '/metrics', token),
      () => head('GET', `${MAPS}?watch=1&timeoutSeconds=1`, token),
      () => head('GET', `${MAPS}?watch=1&resourceVersion=1&allowWatchBookmarks=1`, token),
      () => head('GET', `${MAPS}?watch=1`, token, `accept: ${TABLE}\r\n`),
      () => head('GET', `${MAPS}?watch=1`, token, `accept: ${PROTOBUF}\r\n`),
    ];
    return ways[pick(ways.length)]!();
  }

  /**
   * Sends a request, or a part of it, and disconnects: immediately, after a while, or after a part of the answer,
   * sometimes without reading.
   */
  function sendAndDisconnect(text: string, pick: (below: number) => number): Promise<void> {
    return new Promise(done => {
      const socket: Socket = connect(port, '127.0.0.1');
      socket.on('close', () => done()).on('error', () => undefined);
      const leave = () => (pick(2) === 0 ? socket.destroy() : socket.resetAndDestroy());
      socket.write(pick(4) === 0 ? text.slice(0, pick(text.length)) : text);
      const when = pick(5);
      if (when === 0) socket.once('connect', leave);
      else if (when === 1) setImmediate(leave);
      else if (when === 2) setTimeout(leave, pick(20));
      else {
        if (when === 3) socket.pause();
        else socket.once('data', leave);
        setTimeout(leave, 50);
      }
    });
  }

  /** Requests in flight, as counted by the server; the request for metrics is one of the reads. */
  async function countInFlight(): Promise<number[]> {
    const { text } = await call('GET', '/metrics');
    return ['mutating', 'readOnly'].map(kind =>
      Number(text.match(new RegExp(`inflight_requests{request_kind="${kind}"} (\\d+)`))?.[1]),
    );
  }

  /** Waits until no request is in flight: reads of a version that is never reached take three seconds. */
  const allEnd = () => eventuallyPasses(async () => expect(await countInFlight()).toEqual([0, 1]));

  it('leave no request in flight', async () => {
    const pick = random(listener.length);
    let next = 0;
    const client = async (): Promise<void> => {
      while (next < REQUESTS) await sendAndDisconnect(requestOf(next++, pick), pick);
    };
    await Promise.all(Array.from({ length: AT_ONCE }, client));
    await allEnd();
    expect((await call('POST', MAPS, { metadata: { name: 'after' } })).status).toBe(201);
  });

  it('leave no request in flight when many watches end in the middle of events', async () => {
    const pick = random(7);
    const open = Array.from({ length: WATCHES }, (_, i) => {
      // A watch with bookmarks may replace a list, and then cannot have Tables.
      const [accept, query] = i % 10 === 0 ? [`accept: ${TABLE}\r\n`, ''] : ['', '&allowWatchBookmarks=1'];
      const socket = connect(port, '127.0.0.1');
      socket.on('error', () => undefined).on('data', () => undefined);
      socket.write(head('GET', `${MAPS}?watch=1${query}`, server.token, accept));
      return socket;
    });
    for (let i = 0; i < 50; i++) {
      await call('PUT', `${MAPS}/there-${i}`, { metadata: { name: `there-${i}` }, data: { n: String(i) } });
      for (const socket of open.splice(0, pick(WATCHES / 20))) socket.destroy();
    }
    for (const socket of open) socket.destroy();
    await allEnd();
  });

  it('leave nothing of a request in memory', async () => {
    // One class after the other, since each search scans the whole heap.
    for (const [path, name] of KEPT[listener]!) {
      // The uws listener keeps the exchange of its last callback.
      const most = name === 'UwsExchange' ? 1 : 0;
      const count = () => queryObjects(loaded(path, name), { format: 'count' });
      await eventuallyPasses(() => expect(count(), name).toBeLessThanOrEqual(most));
    }
  });
});
