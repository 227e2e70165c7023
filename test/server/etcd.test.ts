import { cpSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { certificates, type Etcd, etcdWanted, startCluster, startEtcd } from '../storage/etcd.js';
import { CuttingProxy } from '../storage/proxy.js';
import { EtcdStore } from '../../plugins/storage/etcd/store.js';
import { ServerProcess, type Watching, type WatchEvent } from './processes.js';
import { eventually } from '../support/eventually.js';

const MAPS = '/api/v1/namespaces/default/configmaps';
const LEASE = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/capstan-controllers';
const map = (name: string, value = '1', resourceVersion?: string) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, ...(resourceVersion ? { resourceVersion } : {}) },
  data: { value },
});
/** The objects that tests have written. Some time after its creation, every namespace gets its own ConfigMap. */
const shown = (events: readonly WatchEvent[]) =>
  events
    .filter(e => e.type !== 'BOOKMARK' && e.object.metadata.name !== 'kube-root-ca.crt')
    .map(e => `${e.type} ${e.object.metadata.name} ${e.object.data?.['value'] ?? ''}`.trim());
const namesOf = (items: readonly { readonly metadata: { readonly name: string } }[] = []) =>
  items.map(item => item.metadata.name);

/** Starts servers over an etcd, each with its own caches. */
async function start(
  count: number,
  urls: string,
  prefix: string,
  more: readonly string[] = [],
): Promise<ServerProcess[]> {
  const flags = ['--storage-backend=etcd', `--etcd-servers=${urls}`, `--etcd-prefix=${prefix}`, ...more];
  const made = Array.from({ length: count }, () => new ServerProcess(flags));
  try {
    await Promise.all(made.map(server => server.start()));
    await eventually(
      () => made[0]!.call('GET', '/api/v1/namespaces/default'),
      answer => answer.status === 200,
    );
    return made;
  } catch (error) {
    await Promise.all(made.map(server => server.dispose()));
    throw error;
  }
}

let running: ServerProcess[] = [];
/** Like `start`, for a single test. */
async function servers(...parameters: Parameters<typeof start>): Promise<ServerProcess[]> {
  const made = await start(...parameters);
  running.push(...made);
  return made;
}
afterEach(async () => {
  await Promise.all(running.map(server => server.dispose()));
  running = [];
});

describe.skipIf(!etcdWanted)('servers over one etcd (skipped without the program `etcd`)', () => {
  let etcd: Etcd;
  beforeAll(async () => {
    etcd = await startEtcd();
  });
  afterAll(() => etcd.stop());

  describe('of which two are running', () => {
    let a: ServerProcess;
    let b: ServerProcess;
    let tests = 0;
    /** The path of the ConfigMaps in a namespace of the test. */
    let maps: string;
    let leases: Watching;
    beforeAll(async () => {
      [a, b] = (await start(2, etcd.url, '/two')) as [ServerProcess, ServerProcess];
      leases = await a.watch(`${dirname(LEASE)}?watch=1`);
    });
    beforeEach(async () => {
      const name = `test-${++tests}`;
      expect((await a.call('POST', '/api/v1/namespaces', { metadata: { name } })).status).toBe(201);
      maps = `/api/v1/namespaces/${name}/configmaps`;
      // Tests compare the content of the namespace.
      await eventually(
        () => a.call('GET', `${maps}/kube-root-ca.crt`),
        answer => answer.status === 200,
      );
    });
    afterAll(async () => {
      // Another server may become leader at once.
      await Promise.all([a?.end(), b?.end()]);
      await Promise.all([a?.dispose(), b?.dispose()]);
    });

    it('immediately show writes of another server, in gets, lists, watches and conflicts [R234] [R235] [R334]', async () => {
      const watch = await b.watch(
        `${maps}?watch=1&resourceVersion=${(await b.call('GET', maps)).body.metadata.resourceVersion}`,
      );
      const expected: string[] = [];
      for (let i = 0; i < 50; i++) {
        const created = await a.call('POST', maps, map(`m${i}`));
        expect(created.status).toBe(201);
        expected.push(`ADDED m${i} 1`);
        const [got, listed] = await Promise.all([b.call('GET', `${maps}/m${i}`), b.call('GET', maps)]);
        expect(got.body.metadata.resourceVersion).toBe(created.body.metadata.resourceVersion);
        expect(namesOf(listed.body.items)).toContain(`m${i}`);
        const known = await b.call('GET', `${maps}/m${i}?resourceVersion=${created.body.metadata.resourceVersion}`);
        expect(known.status).toBe(200);
      }
      await watch.until(events => shown(events).length >= 50);
      expect(shown(watch.events)).toEqual(expected);
      const initial = await b.watch(
        `${maps}?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true`,
      );
      await a.call('POST', maps, map('last'));
      await initial.until(events => events.some(e => e.object.metadata.name === 'last'));
      expect(new Set(initial.events.filter(e => e.type === 'ADDED').map(e => e.object.metadata.name)).size).toBe(
        initial.events.filter(e => e.type === 'ADDED').length,
      );
      watch.close();
      initial.close();
    });

    it('agree on each other’s objects: conflicts, existing and deleted names, deleted objects [R345]', async () => {
      for (let i = 0; i < 20; i++) {
        const [one, two] = i % 2 === 0 ? [a, b] : [b, a];
        const created = await one.call('POST', maps, map('x'));
        expect(created.status).toBe(201);
        expect((await two.call('POST', maps, map('x'))).status).toBe(409);
        const { resourceVersion } = created.body.metadata;
        const updated = await two.call('PUT', `${maps}/x`, map('x', '2', resourceVersion));
        expect(updated.status).toBe(200);
        expect((await one.call('PUT', `${maps}/x`, map('x', '3', resourceVersion))).status).toBe(409);
        expect((await one.call('DELETE', `${maps}/x`)).status).toBe(200);
        expect((await two.call('DELETE', `${maps}/x`)).status).toBe(404);
        expect((await two.call('POST', maps, map('x'))).status).toBe(201);
        expect((await one.call('DELETE', `${maps}/x`)).status).toBe(200);
      }
    });

    it('update one object concurrently: each change is applied once', async () => {
      const both = [a, b] as const;
      await both[0].call('POST', maps, map('n', '0'));
      let won = 0;
      const client = async (server: ServerProcess) => {
        for (let i = 0; i < 15; i++) {
          const { body } = await server.call('GET', `${maps}/n`);
          const next = map('n', String(Number(body.data!['value']) + 1), body.metadata.resourceVersion);
          const { status } = await server.call('PUT', `${maps}/n`, next);
          expect([200, 409]).toContain(status);
          if (status === 200) won++;
        }
      };
      await Promise.all([0, 1, 2, 3].map(i => client(both[i % 2]!)));
      expect((await both[1].call('GET', `${maps}/n`)).body.data!['value']).toBe(String(won));
    });

    it('allocate one node port and one address concurrently: one gets them', async () => {
      const both = [a, b] as const;
      const services = '/api/v1/namespaces/default/services';
      const spec = { type: 'NodePort', clusterIP: '10.0.0.77', ports: [{ port: 80, nodePort: 31234 }] };
      const answers = await Promise.all(
        Array.from({ length: 16 }, (_, i) =>
          both[i % 2]!.call('POST', services, { metadata: { name: `s${i}` }, spec }),
        ),
      );
      expect(answers.map(answer => answer.status).sort()).toEqual([201, ...Array<number>(15).fill(422)]);
    });

    it('continue each other’s lists at one version [R240] [R251]', async () => {
      for (let i = 0; i < 9; i++) await a.call('POST', maps, map(`p${i}`));
      const first = await a.call('GET', `${maps}?limit=4`);
      await a.call('DELETE', `${maps}/p7`);
      const token = encodeURIComponent(first.body.metadata.continue!);
      const second = await b.call('GET', `${maps}?limit=100&continue=${token}`);
      expect([first.status, second.status]).toEqual([200, 200]);
      expect(second.body.metadata.resourceVersion).toBe(first.body.metadata.resourceVersion);
      const names = namesOf([...first.body.items!, ...second.body.items!]).filter(name => name.startsWith('p'));
      expect(names).toEqual(Array.from({ length: 9 }, (_, i) => `p${i}`));
    });

    it('each identify themselves in a Lease with the name of their machine, also the one without controllers, and one that loses them', async () => {
      const holders = (from = 0) =>
        leases.events
          .slice(from)
          .filter(({ object }) => object.metadata.name.startsWith('apiserver-'))
          .map(({ object }) => object.spec?.['holderIdentity']);
      const areTwo = (seen: readonly unknown[]) => new Set(seen).size >= 2;
      await eventually(() => holders(), areTwo);
      await eventually(async () => {
        const { body } = await a.call('GET', LEASE);
        const spec = { ...body.spec, holderIdentity: 'another', leaseDurationSeconds: 1 };
        return (await a.call('PUT', LEASE, { ...body, spec })).status === 200;
      });
      await eventually(() => /"message":"\S+ no longer leads"/.test(a.output + b.output));
      const lost = leases.events.length;
      await eventually(() => holders(lost), areTwo);
      expect(new Set(holders()).size).toBe(2);
      leases.close();
    });

    it('are consistent while other programs write to the same etcd', async () => {
      const other = await new EtcdStore({ servers: [etcd.url], prefix: '/theirs' }).start();
      for (let i = 0; i < 10; i++) {
        await a.call('POST', maps, map(`m${i}`));
        await other.commit([[{ is: 'put', key: 'k', value: Buffer.from(String(i)) }]]);
        expect(namesOf((await b.call('GET', maps)).body.items)).toContain(`m${i}`);
      }
      await other.close();
    });

    it('survive the end of one of them, whose watches resume at another without gaps or duplicates [R244]', async () => {
      const [ending] = (await servers(1, etcd.url, '/two')) as [ServerProcess];
      const from = (await ending.call('GET', maps)).body.metadata.resourceVersion;
      const first = await ending.watch(`${maps}?watch=1&resourceVersion=${from}`);
      const acknowledged: string[] = [];
      let killed = false;
      const writer = async () => {
        for (let i = 0; acknowledged.length < 60; i++) {
          const { status } = await b.call('POST', maps, map(`k${i}`));
          expect(status).toBe(201);
          acknowledged.push(`ADDED k${i} 1`);
          if (acknowledged.length === 30) {
            await first.until(events => events.length > 5);
            await ending.end('SIGKILL');
            killed = true;
          }
        }
      };
      await writer();
      expect(killed).toBe(true);
      const seen = [...first.events];
      const second = await b.watch(`${maps}?watch=1&resourceVersion=${seen.at(-1)!.object.metadata.resourceVersion}`);
      await second.until(events => shown([...seen, ...events]).length >= acknowledged.length);
      expect(shown([...seen, ...second.events])).toEqual(acknowledged);
      second.close();
      // A server that has just started reads past versions from the store.
      const [c] = (await servers(1, etcd.url, '/two')) as [ServerProcess];
      const all = await c.watch(`${maps}?watch=1&resourceVersion=${from}`);
      await all.until(events => shown(events).length >= acknowledged.length);
      expect(shown(all.events)).toEqual(acknowledged);
      all.close();
    });

    describe('and a third has connections that are interrupted', () => {
      let proxy: CuttingProxy;
      let far: ServerProcess;
      beforeAll(async () => {
        proxy = new CuttingProxy(Number(new URL(etcd.url).port));
        [far] = (await start(1, `http://127.0.0.1:${await proxy.listen()}`, '/two')) as [ServerProcess];
      });
      afterAll(async () => {
        await far?.dispose();
        proxy.close();
      });

      it('agree on every change, in one order, while the connections of one to etcd are interrupted repeatedly [R247] [R325]', async () => {
        const from = (await a.call('GET', maps)).body.metadata.resourceVersion;
        const both = [a, far];
        const watches = await Promise.all(both.map(server => server.watch(`${maps}?watch=1&resourceVersion=${from}`)));
        const acknowledged = new Map<string, string>();
        const client = async (id: number) => {
          const server = both[id % 2]!;
          for (let i = 0; i < 40; i++) {
            const created = await server.call('POST', maps, map(`s${id}-${i}`));
            if (created.status === 201) acknowledged.set(created.body.metadata.resourceVersion, `ADDED s${id}-${i}`);
            if (i % 5 === 0 && id % 2 === 1) proxy.cut();
            if (created.status !== 201 || i % 3 > 0) continue;
            const removed = await both[(id + 1) % 2]!.call('DELETE', `${maps}/s${id}-${i}`);
            expect([200, 504]).toContain(removed.status);
          }
        };
        await Promise.all([0, 1, 2, 3].map(client));
        const end = (await a.call('POST', maps, map('end'))).body.metadata.resourceVersion;
        const sequences: string[][] = [];
        for (const watch of watches) {
          await watch.until(events => events.some(e => e.object.metadata.resourceVersion === end));
          const revisions = watch.events.map(e => Number(e.object.metadata.resourceVersion));
          expect(revisions).toEqual([...new Set(revisions)].sort((a, b) => a - b));
          const seen = new Map(
            watch.events.map(e => [e.object.metadata.resourceVersion, `${e.type} ${e.object.metadata.name}`]),
          );
          for (const [revision, change] of acknowledged) expect(seen.get(revision)).toBe(change);
          sequences.push([...seen].map(([revision, change]) => `${revision} ${change}`));
          watch.close();
        }
        expect(sequences[0]).toEqual(sequences[1]);
        const [ours, theirs] = await Promise.all(both.map(server => server.call('GET', maps)));
        expect(ours!.body.items).toEqual(theirs!.body.items);
      });

      it('find the changes that were compacted while they were disconnected; older watches get 410 [R346]', async () => {
        for (const name of ['kept', 'changed', 'deleted']) await a.call('POST', maps, map(name));
        const listed = await far.call('GET', maps);
        const old = listed.body.metadata.resourceVersion;
        const watch = await far.watch(`${maps}?watch=1&resourceVersion=${old}`);
        proxy.part();
        await a.call('PUT', `${maps}/changed`, map('changed', '2'));
        await a.call('DELETE', `${maps}/deleted`);
        const last = await a.call('POST', maps, map('created'));
        const store = await new EtcdStore({ servers: [etcd.url], prefix: '/two' }).start();
        await store.compact(Number(last.body.metadata.resourceVersion));
        await store.close();
        proxy.heal();
        await watch.until(events => shown(events).length >= 3);
        expect(shown(watch.events)).toEqual(['MODIFIED changed 2', 'ADDED created 1', 'DELETED deleted 1']);
        const late = await far.watch(`${maps}?watch=1&resourceVersion=${old}`);
        await late.until(events => events.length > 0);
        expect(late.events[0]).toMatchObject({ type: 'ERROR', object: { code: 410, reason: 'Expired' } });
        const [ours, theirs] = await Promise.all([far, a].map(server => server.call('GET', maps)));
        expect(namesOf(ours!.body.items)).toEqual(namesOf(theirs!.body.items));
        watch.close();
        late.close();
      });
    });

    it('are not ready while etcd is not available, answer with 504, and recover afterwards [R319] [R322]', async () => {
      const from = (await a.call('GET', maps)).body.metadata.resourceVersion;
      const watch = await a.watch(`${maps}?watch=1&resourceVersion=${from}`);
      expect((await a.text('GET', '/readyz/etcd')).statusCode).toBe(200);
      await etcd.kill();
      const [ready, cached, read, write] = await Promise.all([
        a.text('GET', '/readyz'),
        a.call('GET', `${maps}?resourceVersion=0`),
        a.call('GET', maps),
        a.call('POST', maps, map('lost')),
      ]);
      expect(ready.statusCode).toBe(500);
      expect(ready.text).toContain('[-]etcd failed: reason withheld');
      expect(cached.status).toBe(200);
      const timeout = {
        reason: 'Timeout',
        message: 'Timeout: request did not complete within the allotted timeout',
        code: 504,
      };
      expect(read).toMatchObject({ status: 504, body: timeout });
      expect(write).toMatchObject({ status: 504, body: timeout });
      await etcd.start();
      await eventually(
        () => a.text('GET', '/readyz'),
        answer => answer.statusCode === 200,
      );
      expect((await a.call('POST', maps, map('found'))).status).toBe(201);
      await watch.until(events => events.some(e => e.object.metadata.name === 'found'));
      expect(shown(watch.events)).toEqual(['ADDED found 1']);
      watch.close();
    });
  });

  it('elect one that runs the controllers: another takes over when its lease has expired after it is killed, and does not wait for that when it is closed', async () => {
    const three = await servers(3, etcd.url, '/two');
    const holder = async (server: ServerProcess) =>
      String((await server.call('GET', LEASE)).body.spec?.['holderIdentity'] ?? '');
    const leads = (server: ServerProcess) => /"message":"(\S+) leads"/.exec(server.output)?.[1];
    await eventually(
      async () => three.filter(leads),
      leaders => leaders.length > 0,
    );
    const first = three.find(leads)!;
    expect(three.filter(leads)).toEqual([first]);
    expect(await holder(first)).toBe(leads(first));
    const others = three.filter(server => server !== first);
    await first.end('SIGKILL');
    await eventually(
      async () => others.filter(leads),
      leaders => leaders.length > 0,
    );
    const second = others.find(leads)!;
    const third = others.find(server => server !== second)!;
    expect(leads(third)).toBeUndefined();
    // The controllers of the new leader work: a namespace gets the objects that every namespace has.
    await third.call('POST', '/api/v1/namespaces', {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: 'later' },
    });
    await eventually(
      () => third.call('GET', '/api/v1/namespaces/later/serviceaccounts/default'),
      answer => answer.status === 200,
    );
    const leases = await third.watch(`${dirname(LEASE)}?watch=1&fieldSelector=metadata.name%3D${basename(LEASE)}`);
    expect(await second.end('SIGTERM')).toBe(0);
    await eventually(
      async () => leads(third),
      identity => identity !== undefined,
    );
    expect(await holder(third)).toBe(leads(third));
    await leases.until(events => events.some(({ object }) => object.spec?.['holderIdentity'] === ''));
    leases.close();
  });
});

describe.skipIf(!etcdWanted)('a server over an etcd with TLS (skipped without the program `etcd`)', () => {
  it('uses the certificates of its flags, and reports the problem without them', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'capstan-etcd-tls-'));
    const { tls, cafile, certfile, keyfile } = await certificates(directory);
    const etcd = await startEtcd({ tls });
    onTestFinished(async () => {
      await etcd.stop();
      rmSync(directory, { recursive: true });
    });
    const files = [`--etcd-cafile=${cafile}`, `--etcd-certfile=${certfile}`, `--etcd-keyfile=${keyfile}`];
    const [server] = (await servers(1, etcd.url, '/tls', files)) as [ServerProcess];
    expect((await server.call('POST', MAPS, map('m'))).status).toBe(201);
    await expect(servers(1, etcd.url, '/tls')).rejects.toThrow(/capstan: etcd at https:\S+ does not answer: /);
  });
});

describe.skipIf(!etcdWanted)(
  'a server over an etcd that was restored from a backup (skipped without the program `etcd`)',
  () => {
    it('stops, and shows the restored state after it is started again', async () => {
      const directory = mkdtempSync(join(tmpdir(), 'capstan-etcd-backup-'));
      const [data, backup] = [join(directory, 'data'), join(directory, 'backup')] as const;
      const etcd = await startEtcd({ directory: data });
      onTestFinished(async () => {
        await etcd.stop();
        rmSync(directory, { recursive: true });
      });
      const [server] = (await servers(1, etcd.url, '/backup')) as [ServerProcess];
      const ready = () =>
        eventually(
          () => server.text('GET', '/readyz'),
          answer => answer.statusCode === 200,
        );
      expect((await server.call('POST', MAPS, map('kept'))).status).toBe(201);
      await etcd.kill();
      cpSync(data, backup, { recursive: true });
      await etcd.start();
      await ready();
      for (let i = 0; i < 50; i++) expect((await server.call('POST', MAPS, map(`lost-${i}`))).status).toBe(201);
      await etcd.kill();
      rmSync(data, { recursive: true });
      renameSync(backup, data);
      await etcd.start();
      await eventually(
        () => server.call('GET', MAPS).catch(() => undefined),
        answer => answer === undefined,
      );
      expect(await server.ended()).toBe(1);
      expect(server.output).toMatch(
        /the server stopped: the store is at revision \d+, but was at \d+ before: it lost data; start again/,
      );
      await server.start();
      const names = namesOf((await server.call('GET', MAPS)).body.items);
      expect(names).toContain('kept');
      expect(names).not.toContain('lost-0');
    });
  },
);

describe.skipIf(!etcdWanted)('servers over a cluster of three etcds (skipped without the program `etcd`)', () => {
  let cluster: readonly Etcd[];
  beforeAll(async () => {
    cluster = await startCluster();
  });
  afterAll(() => Promise.all(cluster.map(etcd => etcd.stop())));

  it('continue while each member is killed, and watches show every change once', { timeout: 180_000 }, async () => {
    const urls = cluster.map(etcd => etcd.url).join(',');
    const [a, b] = (await servers(2, urls, '/registry')) as [ServerProcess, ServerProcess];
    const from = (await a.call('GET', MAPS)).body.metadata.resourceVersion;
    const watches = await Promise.all([a, b].map(server => server.watch(`${MAPS}?watch=1&resourceVersion=${from}`)));
    let next = 0;
    const some = async () => {
      for (let i = 0; i < 15; i++) {
        const name = `c${next++}`;
        const server = i % 2 === 0 ? a : b;
        // Whatever a cluster without leader answered: afterwards the object exists once.
        await eventually(
          () => server.call('POST', MAPS, map(name)),
          ({ status }) => status === 201 || status === 409,
        );
      }
    };
    for (const etcd of cluster) {
      await some();
      await etcd.kill();
      await some();
      await etcd.start();
    }
    const expected = Array.from({ length: next }, (_, i) => `ADDED c${i} 1`);
    for (const watch of watches) {
      await watch.until(events => shown(events).length >= next);
      expect(shown(watch.events)).toEqual(expected);
      watch.close();
    }
  });
});
