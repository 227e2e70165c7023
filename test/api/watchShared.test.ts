import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Etcd, etcdWanted, startEtcd } from '../storage/etcd.js';
import { Api, namesIn } from './support.js';
import { about, isBookmark, metadataOf, openWatch, secret, valued, versionOf } from './watching.js';
import { MERGE } from '../support/mediaTypes.js';

const number = (version: string): bigint => BigInt(version);
const WATCH_LIST = 'watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true';

describe.skipIf(!etcdWanted)('two servers over one store (skipped without the program `etcd`)', () => {
  let etcd: Etcd;
  let both: readonly Api[];
  const directories: string[] = [];
  let path: string;
  const start = (): Promise<Api> => {
    const dataDir = mkdtempSync(join(tmpdir(), 'capstan-shared-'));
    directories.push(dataDir);
    return Api.start({ storage: 'etcd', etcdServers: [etcd.url], dataDir });
  };
  beforeAll(async () => {
    etcd = await startEtcd();
    const first = await start();
    both = [first, await start()];
    path = `${await first.namespace('shared')}/secrets`;
  });
  afterAll(async () => {
    await Promise.all((both ?? []).map(api => api.close()));
    await etcd?.stop();
    for (const directory of directories) rmSync(directory, { recursive: true, force: true });
  });

  test('a write that one has acknowledged is visible on the other in reads without a version, with its version, and in initial events [R234 R235 R334]', async () => {
    for (let i = 0; i < 12; i++) {
      const [writer, reader] = i % 2 ? [both[0]!, both[1]!] : [both[1]!, both[0]!];
      const version = versionOf(await writer.made(path, secret(`s${i}`)));
      const got =
        i % 3 === 0 ? await reader.get(`${path}/s${i}`) : await reader.get(`${path}/s${i}?resourceVersion=${version}`);
      expect([got.status, versionOf(got.body)]).toEqual([200, version]);
      const list = (await reader.get(path)).body;
      expect(namesIn(list)).toContain(`s${i}`);
      expect(number(versionOf(list))).toBeGreaterThanOrEqual(number(version));
      const watch = await openWatch(reader.server, `${path}?${WATCH_LIST}`);
      const events = await watch.until(isBookmark);
      expect(events.some(about(`s${i}`))).toBe(true);
      expect(number(versionOf(events.at(-1)!.object))).toBeGreaterThanOrEqual(number(version));
      watch.close();
      if (i % 4 === 0) {
        await writer.delete(`${path}/s${i}`);
        expect((await reader.get(`${path}/s${i}`)).status).toBe(404);
      }
    }
  });

  test('a client that alternates between both never sees an older object after a newer one', async () => {
    const travelled = `${await both[0]!.namespace('travel')}/secrets`;
    await both[0]!.made(travelled, secret('x'));
    let writing = true;
    const writers = both.map(async api => {
      for (let i = 0; writing; i++) await api.patch(`${travelled}/x`, MERGE, valued(`${i}`));
    });
    let version = versionOf((await both[0]!.get(travelled)).body);
    for (let turn = 0; turn < 12; turn++) {
      const { server } = both[turn % 2]!;
      const watch = await openWatch(server, `${travelled}?watch=1&allowWatchBookmarks=true&resourceVersion=${version}`);
      for (let i = 0; i < 5; i++) {
        const { object } = (await watch.next())!;
        expect(number(versionOf(object))).toBeGreaterThan(number(version));
        version = versionOf(object);
      }
      watch.close();
      // Lists that request this version are not older either, from both servers.
      const list = (await both[(turn + 1) % 2]!.get(`${travelled}?resourceVersion=${version}`)).body;
      expect(number(versionOf(list))).toBeGreaterThanOrEqual(number(version));
      const [item] = list['items'] as unknown as [typeof list];
      expect(number(versionOf(item))).toBeGreaterThanOrEqual(number(version));
    }
    writing = false;
    await Promise.all(writers);
  });

  test('watches on both see the same events in the same order, and pages may come from either', async () => {
    const ordered = `${await both[0]!.namespace('ordered')}/secrets`;
    const from = versionOf((await both[1]!.get(ordered)).body);
    const watches = await Promise.all(
      both.map(api => openWatch(api.server, `${ordered}?watch=1&resourceVersion=${from}`)),
    );
    await Promise.all(
      Array.from({ length: 20 }, (_, i) => both[i % 2]!.made(ordered, secret(`s${String(i).padStart(2, '0')}`))),
    );
    await both[0]!.made(ordered, secret('zz'));
    const [left, right] = await Promise.all(watches.map(watch => watch.until(about('zz'))));
    expect(left).toEqual(right);
    for (const watch of watches) watch.close();
    const names: string[] = [];
    for (let turn = 0, token = ''; turn === 0 || token !== ''; turn++) {
      const page = (await both[turn % 2]!.get(`${ordered}?limit=4&continue=${encodeURIComponent(token)}`)).body;
      names.push(...namesIn(page));
      token = String(metadataOf(page)['continue'] ?? '');
    }
    expect(names).toEqual([...Array.from({ length: 20 }, (_, i) => `s${String(i).padStart(2, '0')}`), 'zz']);
  });

  test('a list not older than a known version is answered from memory, even if the store is not available [R241]', async () => {
    const version = versionOf((await both[0]!.get(path)).body);
    await etcd.kill();
    const { status, body } = await both[0]!.get(`${path}?resourceVersion=${version}&resourceVersionMatch=NotOlderThan`);
    expect([status, number(versionOf(body)) >= number(version)]).toEqual([200, true]);
    expect((await both[0]!.get(path)).status).toBeGreaterThanOrEqual(500);
    await etcd.start();
    await both[0]!.until(async () => (await both[0]!.get(path)).status === 200);
  });
});
