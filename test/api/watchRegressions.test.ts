import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { connect } from 'node:tls';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { Compacted } from '../../core/api/storage.js';
import { WATCH_BACKLOG_BYTES } from '../../core/limits.js';
import { openMemory } from '../../plugins/storage/memory.js';
import { freePort, startBuiltServer } from '../clients/server.js';
import { Api, type Event, namesIn } from './support.js';
import {
  about,
  brief,
  isBookmark,
  metadataOf,
  openWatch,
  type Reached,
  secret,
  send,
  valued,
  versionOf,
  type Watching,
} from './watching.js';
import { MERGE } from '../support/mediaTypes.js';

const number = (version: string): bigint => BigInt(version);

/** Open APIs and servers of a test. */
const undo: (() => unknown)[] = [];
afterEach(async () => {
  for (const release of undo.splice(0).reverse()) await release();
});

/** A server in its own process, so that it can be stopped as an operator does. */
async function built(): Promise<{ server: Reached; restart(): Promise<void> }> {
  const process = await startBuiltServer(await freePort());
  undo.push(() => process.close());
  const url = /https:\/\/[\w.:[\]]+/.exec(readFileSync(process.kubeconfig, 'utf8'))![0];
  const token = readFileSync(join(process.dir, 'data', 'pki', 'admin-token.csv'), 'utf8').split(',')[0]!;
  return { server: { url, token }, restart: () => process.restart() };
}

async function collection(server: Reached, namespace: string): Promise<string> {
  await send(server, 'POST', '/api/v1/namespaces', { metadata: { name: namespace } });
  return `/api/v1/namespaces/${namespace}/secrets`;
}

describe('a watch over restarts', () => {
  test('on shutdown each watch ends with its last bookmark, and later changes are seen on another server [R010 R330]', async () => {
    const { server, restart } = await built();
    const path = await collection(server, 'drain');
    await send(server, 'POST', path, secret('a'));
    const watches = await Promise.all(
      [0, 1, 2, 3].map(() => openWatch(server, `${path}?watch=1&allowWatchBookmarks=true`)),
    );
    const plain = await openWatch(server, `${path}?watch=1`);
    await Promise.all(watches.map(watch => watch.until(about('a'))));
    await send(server, 'POST', path, secret('b'));
    const restarted = restart();
    const bookmarks: Event[] = [];
    for (const watch of watches) {
      const events = await watch.rest();
      expect(events.map(brief)).toEqual([
        ...(events[0]!.type === 'BOOKMARK' ? ['BOOKMARK'] : []),
        'ADDED b',
        'BOOKMARK',
      ]);
      bookmarks.push(events.at(-1)!);
    }
    expect((await plain.rest()).map(brief)).toEqual(['ADDED a', 'ADDED b']);
    await restarted;
    expect(namesIn(await send(server, 'GET', path))).toEqual(['a', 'b']);
    await send(server, 'DELETE', `${path}/a`);
    for (const bookmark of bookmarks) {
      const resumed = await openWatch(server, `${path}?watch=1&resourceVersion=${versionOf(bookmark.object)}`);
      expect((await resumed.until(about('a'))).map(brief)).toEqual(['DELETED a']);
      resumed.close();
    }
  });

  test('a watch registered while the cache starts sees the whole state, then every change [R245 R246]', async () => {
    const { server, restart } = await built();
    const path = await collection(server, 'starting');
    const names = Array.from({ length: 300 }, (_, i) => `s${String(i).padStart(3, '0')}`);
    await Promise.all(names.map(name => send(server, 'POST', path, secret(name))));
    const ended = await openWatch(server, `${path}?watch=1&resourceVersion=0&labelSelector=none`);
    const restarted = restart();
    await ended.rest();
    // From here on the old server is stopping or stopped, and the new one is starting.
    const trying = async (): Promise<Watching> => {
      for (;;) {
        const watch = await openWatch(server, `${path}?watch=1&resourceVersion=0`).catch(() => undefined);
        if (watch?.status === 200) return watch;
        watch?.close();
        // Each attempt takes CPU time from the server that is starting.
        await delay(5);
      }
    };
    const watches = await Promise.all([trying(), trying(), trying()]);
    await restarted;
    await send(server, 'POST', path, secret('zz-end'));
    for (const watch of watches) {
      const events = await watch.until(about('zz-end'));
      expect(events.map(event => metadataOf(event.object).name)).toEqual([...names, 'zz-end']);
      watch.close();
    }
  });

  test('history before a restart is served from the store to watches and Exact lists, including deleted objects [R237 R247]', async () => {
    const { server, restart } = await built();
    const path = await collection(server, 'past');
    const a = await send(server, 'POST', path, secret('a', '1'));
    await send(server, 'POST', path, secret('b'));
    const both = await send(server, 'GET', path);
    await send(server, 'PATCH', `${path}/a`, valued('2'));
    await send(server, 'DELETE', `${path}/b`);
    await restart();
    const watch = await openWatch(server, `${path}?watch=1&resourceVersion=${versionOf(a)}`);
    expect((await watch.until(event => event.type === 'DELETED')).map(brief)).toEqual([
      'ADDED b',
      'MODIFIED a',
      'DELETED b',
    ]);
    watch.close();
    expect(await send(server, 'GET', `${path}?resourceVersionMatch=Exact&resourceVersion=${versionOf(both)}`)).toEqual(
      both,
    );
  });
});

describe('a watched revision that is compacted', () => {
  test('a watch from this revision continues, one from below immediately gets Compacted', async () => {
    const store = await openMemory();
    for (const value of ['1', '2', '3', '4'])
      await store.commit([[{ is: 'put', key: value === '4' ? 'y' : 'x', value: Buffer.from(value) }]]);
    await store.compact(2);
    const seen: string[] = [];
    const stop = new AbortController();
    await store.watch(
      '',
      2,
      (events, revision) => {
        for (const event of events) seen.push(`${event.revision} ${event.key}`);
        if (revision >= 4) stop.abort();
      },
      stop.signal,
    );
    expect(seen).toEqual(['3 x', '4 y']);
    const below: unknown[] = [];
    await expect(store.watch('', 1, events => below.push(...events), new AbortController().signal)).rejects.toThrow(
      Compacted,
    );
    expect(below).toEqual([]);
    expect((await store.range('', { revision: 2 })).items).toHaveLength(1);
    await expect(store.range('', { revision: 1 })).rejects.toThrow(Compacted);
    await store.close();
  });

  test('410 is the first and only event; the client lists again and continues [R336 R339x R346 R360]', async () => {
    const api = await Api.start({ historyRetention: 200 });
    undo.push(() => api.close());
    const path = `${await api.namespace('compacted')}/secrets`;
    const old = versionOf(await api.made(path, secret('a')));
    let written = 0;
    let events: Event[] = [];
    await api.until(async () => {
      await api.made(path, secret(`s${written++}`));
      const watch = await openWatch(api.server, `${path}?watch=1&timeoutSeconds=1&resourceVersion=${old}`);
      events = [(await watch.next())!];
      const expired = events[0]!.type === 'ERROR';
      if (expired) events.push(...(await watch.rest()));
      watch.close();
      return expired;
    });
    expect(events).toEqual([
      {
        type: 'ERROR',
        object: {
          kind: 'Status',
          apiVersion: 'v1',
          metadata: {},
          status: 'Failure',
          message: expect.stringContaining(`too old resource version: ${old}`),
          reason: 'Expired',
          code: 410,
        },
      },
    ]);
    const list = (await api.get(path)).body;
    expect(namesIn(list)).toHaveLength(written + 1);
    const again = await openWatch(api.server, `${path}?watch=1&resourceVersion=${versionOf(list)}`);
    await api.delete(`${path}/a`);
    expect((await again.until(() => true)).map(brief)).toEqual(['DELETED a']);
    again.close();
  });
});

describe('a watcher that never reads', () => {
  let api: Api;
  afterAll(() => api?.close());

  test('is disconnected, and delays neither writers nor other watchers', async () => {
    api = await Api.start();
    const path = `${await api.namespace('slow')}/secrets`;
    const { hostname, port } = new URL(api.server.url);
    const socket = connect({ host: hostname, port: Number(port), rejectUnauthorized: false });
    await once(socket, 'secureConnect');
    socket.write(`GET ${path}?watch=1 HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${api.server.token}\r\n\r\n`);
    await once(socket, 'readable');
    let cut = false;
    socket.on('error', () => undefined);
    socket.on('close', () => {
      cut = true;
    });
    const reading = await openWatch(api.server, `${path}?watch=1`);
    const big = 'x'.repeat(700_000);
    const stored = Buffer.byteLength(big) * (4 / 3);
    await api.made(path, secret('big', big));
    const events: Event[] = await reading.until(about('big'));
    // Bytes that the kernel and the socket buffer accept do not count: writing ends when the server stops accepting.
    let last = events[0]!;
    for (let i = 0; i < 36; i++) {
      await api.patch(`${path}/big`, MERGE, valued(`${i}${big}`));
      [last] = (await reading.until(() => true)) as [Event];
      events.push(last);
    }
    expect(36 * stored).toBeGreaterThan(4 * WATCH_BACKLOG_BYTES);
    socket.resume();
    if (!cut) await once(socket, 'close');
    expect(cut).toBe(true);
    for (let i = 1; i < events.length; i++)
      expect(number(versionOf(events[i]!.object))).toBeGreaterThan(number(versionOf(events[i - 1]!.object)));
    expect(events).toHaveLength(37);
    reading.close();
  });
});

test('a bookmark is never below an earlier event', async () => {
  const api = await Api.shared();
  undo.push(() => api.close());
  const path = `${await api.namespace('marks')}/secrets`;
  const watch = await openWatch(api.server, `${path}?watch=1&allowWatchBookmarks=true&timeoutSeconds=1`);
  let writing = true;
  const written = (async () => {
    for (let i = 0; writing; i++) await api.post(path, secret(`s${i}`));
  })();
  let last = 0n;
  for (const event of await watch.rest()) {
    const version = number(versionOf(event.object));
    expect(version >= last).toBe(true);
    if (!isBookmark(event)) expect(version).toBeGreaterThan(last);
    last = version;
  }
  writing = false;
  await written;
});
