import { join } from 'node:path';
import { sendAsAdmin, startCapstan } from '../lib/capstan.js';
import { type Case, costOf, type Row } from '../lib/case.js';
import { load } from '../lib/load.js';
import { residentAtRest } from '../lib/process.js';

const NAMESPACE = 'default';
const PATH = `/api/v1/namespaces/${NAMESPACE}/configmaps`;
const BYTES = 1500;

/** The revision of a list, as JSON. */
const revisionOf = (list: string): string =>
  (JSON.parse(list) as { metadata: { resourceVersion: string } }).metadata.resourceVersion;

/**
 * Watches that all reconnect at once after a restart, from the revision that they had reached before: the time until
 * the last one has the missed changes, and the duration of a get meanwhile, compared with a get alone.
 */
const resume: Case = {
  name: 'watch-resume',
  async run({ dir, tls, short, ms }): Promise<Row[]> {
    const dataDir = join(dir, 'resume');
    const [watchers, events] = short ? [200, 50] : [1000, 100];
    const before = await startCapstan({ dataDir, tls });
    const revision = revisionOf(await sendAsAdmin(before, 'GET', PATH));
    const filling = { is: 'create', namespace: NAMESPACE, prefix: 'o', bytes: BYTES, clients: 16 } as const;
    const address = { ...before, token: before.adminToken };
    await load({ ...filling, address, ms: 300_000, count: events }, before.pid);
    await before.close();
    const server = await startCapstan({ dataDir, tls });
    const target = { ...server, token: server.adminToken };
    const get = (time: number) =>
      load({ is: 'repeat', address: target, path: `${PATH}/o0`, connections: 1, ms: time }, server.pid);
    const alone = await get(ms / 2);
    const watchPath = `${PATH}?watch=1&resourceVersion=${revision}`;
    const [resumed, beside] = await Promise.all([
      load({ is: 'resume', address: target, watchPath, watchers, events }, server.pid),
      get(ms),
    ]);
    await server.close();
    const name = `${watchers} watches resumed after a restart, ${events} changes each`;
    const note = `p50 ${resumed.p50.toFixed(0)} ms; ${resumed.dropped} watches closed, ${resumed.errors} incomplete`;
    return [
      { case: `${name}, the last`, unit: 'ms', value: resumed.p99, atMost: true, ...costOf(resumed), note },
      { case: 'get beside them, p99', unit: 'ms', value: beside.p99, baseline: alone.p99, atMost: true },
    ];
  },
};

/** The total size of the bodies of a burst, in bytes. */
const LARGE_BYTES = 1_000_000;

/** Resident memory after large bodies and large lists have ended, compared with that before. */
const burst: Case = {
  name: 'memory-burst',
  async run({ dir, tls, short, ms, quietMs }): Promise<Row[]> {
    const server = await startCapstan({ dataDir: join(dir, 'burst'), tls });
    const address = { ...server, token: server.adminToken };
    const update = { is: 'update', address, namespace: NAMESPACE, prefix: 'large-', bytes: LARGE_BYTES } as const;
    // The objects remain: they are part of the state before.
    await load({ ...update, clients: 8, ms: 1 }, server.pid);
    const before = await residentAtRest(server.pid, quietMs);
    const time = short ? ms : 4 * ms;
    const bodies = await load({ ...update, clients: 8, ms: time }, server.pid);
    const accept = 'application/yaml';
    await load({ is: 'repeat', address, path: PATH, accept, connections: 4, ms: time / 2 }, server.pid);
    const value = (await residentAtRest(server.pid, quietMs)) / 2 ** 20;
    await server.close();
    const note = `MB at its end: ${Math.round(bodies.resident / 2 ** 20)}; baseline: before it`;
    const row = { case: 'memory after a burst of large bodies and lists', unit: 'MB', atMost: true, aim: 1.3, note };
    return [{ ...row, value, baseline: before / 2 ** 20 }];
  },
};

/** Memory that remains in use after a restart or a burst. */
export const recoveries: readonly Case[] = [resume, burst];
