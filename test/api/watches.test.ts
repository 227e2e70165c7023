import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { RawClient } from '../conformance/rawClient.js';
import { Api } from './support.js';
import { MERGE } from '../support/mediaTypes.js';
import { textOf } from '../support/values.js';

/** `CAPSTAN_WATCHES` sets a larger number; each watch uses two file descriptors of this process. */
const WATCHES = Number(process.env['CAPSTAN_WATCHES'] ?? 500);
const EVENTS = 20;
/** Enough for one client that does not read: more than sockets buffer and the server keeps for it. */
const LARGE = { count: 60, bytes: 700_000 };

/** A watch on its own connection, which counts its events by object and type. */
class Counting {
  readonly seen = new Map<string, number>();
  #rest = '';

  constructor(
    readonly client: RawClient,
    readonly path: string,
    token: string,
  ) {
    client.socket.removeAllListeners('data');
    client.socket.setEncoding('latin1');
    client.socket.on('data', chunk => this.#take(String(chunk)));
    client.send(`GET ${path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${token}\r\n\r\n`);
  }

  get total(): number {
    let sum = 0;
    for (const count of this.seen.values()) sum += count;
    return sum;
  }

  #take(chunk: string): void {
    const lines = (this.#rest + chunk).split('\n');
    this.#rest = lines.pop()!;
    for (const line of lines) {
      const type = /^\{"type":"(\w+)"/.exec(line)?.[1];
      if (type === undefined) continue;
      const key = `${type} ${/"name":"([^"]+)"/.exec(line)?.[1]}`;
      this.seen.set(key, (this.seen.get(key) ?? 0) + 1);
    }
  }
}

describe('many watches', () => {
  let api: Api;
  let port: number;
  let revision: string;
  beforeAll(async () => {
    api = await Api.start({ httpPort: 0 });
    port = Number(new URL(api.server.httpUrl!).port);
    const busy = await api.namespace('busy');
    // A controller creates this object in every new namespace, which would be an additional event here.
    await api.until(async () => (await api.get(`${busy}/configmaps/kube-root-ca.crt`)).status === 200);
    revision = textOf((await api.get('/api/v1/namespaces/busy/configmaps')).body['metadata']!['resourceVersion']);
  });
  afterAll(() => api.close());

  const open = async (path: string): Promise<Counting> =>
    new Counting(await RawClient.open({ port }), `${path}?watch=1&resourceVersion=${revision}`, api.server.token);

  test(
    `each of ${WATCHES} sees every event exactly once, and is not delayed by a client that never reads [R137 R325]`,
    async () => {
      const maps = '/api/v1/namespaces/busy/configmaps';
      const secrets = '/api/v1/namespaces/busy/secrets';
      const watches: Counting[] = [];
      for (let i = 0; i < WATCHES; i += 50) {
        watches.push(...(await Promise.all(Array.from({ length: Math.min(50, WATCHES - i) }, () => open(maps)))));
      }
      const reading = await Promise.all([open(secrets), open(secrets)]);
      const stuck = await open(secrets);
      stuck.client.socket.pause();

      const large = { a: Buffer.alloc(LARGE.bytes, 'x').toString('base64') };
      const changes = async (i: number): Promise<void> => {
        await api.made(maps, { metadata: { name: `m${i}` } });
        await api.patch(`${maps}/m${i}`, MERGE, { data: { a: 'b' } });
        await api.delete(`${maps}/m${i}`);
      };
      for (let i = 0; i < EVENTS; i++) await changes(i);
      for (let i = 0; i < LARGE.count; i++) await api.made(secrets, { metadata: { name: `s${i}` }, data: large });

      const expected = new Map(
        Array.from({ length: EVENTS }, (_, i) =>
          ['ADDED', 'MODIFIED', 'DELETED'].map(type => [`${type} m${i}`, 1] as const),
        ).flat(),
      );
      for (const watch of watches) {
        await api.until(async () => watch.total >= expected.size);
        expect(watch.seen).toEqual(expected);
      }
      for (const watch of reading) {
        await api.until(async () => watch.total >= LARGE.count);
        expect(watch.total).toBe(LARGE.count);
      }
      stuck.client.socket.resume();
      await stuck.client.end();
      expect(stuck.total).toBeLessThan(LARGE.count);
      expect([...watches, ...reading].filter(watch => watch.client.closed)).toEqual([]);
      for (const { client } of [...watches, ...reading]) client.socket.destroy();
      expect((await api.get('/livez')).status).toBe(200);
    },
    120_000 + WATCHES * 60,
  );
});
