import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { pack } from 'msgpackr';
import { request } from 'undici';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { snapshotCommand } from '../../core/command/subcommands/snapshot.js';
import { storeCommand } from '../../core/command/store/store.js';
import { SnapshotError } from '../../core/services/snapshot/format.js';
import { SnapshotReader } from '../../core/services/snapshot/reader.js';
import { SnapshotWriter } from '../../core/services/snapshot/writer.js';
import type { Stored } from '../../core/api/storage.js';
import { Captured, ServerProcess } from './server.js';

const HEADER = { revision: 77, objects: 3, store: 'rocksdb', created: '2026-01-01T00:00:00.000Z' };
const OBJECTS: Stored[] = [
  { key: 'core/secrets/a/é', value: Buffer.from('one'), created: 3, modified: 9, version: 4 },
  { key: 'core/nodes/b', value: Buffer.alloc(0), created: 5, modified: 5, version: 1 },
  { key: 'core/nodes/c', value: Buffer.alloc(5000, 'x'), created: 2 ** 40, modified: 2 ** 50, version: 2 },
];

function bytesOf(objects: readonly Stored[]): Buffer {
  const writer = new SnapshotWriter();
  return Buffer.concat([writer.header({ ...HEADER, objects: objects.length }), writer.rows(objects), writer.end()]);
}

/** The same objects in format 1: rows of a fixed layout. */
function bytesOfFormat1(objects: readonly Stored[]): Buffer {
  const rows = objects.map(({ key, value, created, modified, version }) => {
    const head = Buffer.alloc(28);
    head.writeUInt32BE(Buffer.byteLength(key), 0);
    head.writeUInt32BE(value.length, 4);
    head.writeBigUInt64BE(BigInt(created), 8);
    head.writeBigUInt64BE(BigInt(modified), 16);
    head.writeUInt32BE(version, 24);
    return Buffer.concat([head, Buffer.from(key), value]);
  });
  const count = Buffer.alloc(8);
  count.writeBigUInt64BE(BigInt(objects.length));
  const line = `capstan-snapshot 1 ${JSON.stringify({ ...HEADER, objects: objects.length })}\n`;
  return sealed(Buffer.concat([Buffer.from(line), ...rows, Buffer.alloc(4, 0xff), count]));
}

/** The bytes, followed by their checksum. */
const sealed = (bytes: Buffer): Buffer => Buffer.concat([bytes, createHash('sha256').update(bytes).digest()]);

function read(pieces: readonly Buffer[]): Stored[] {
  const reader = new SnapshotReader();
  const objects = pieces.flatMap(piece => reader.take(piece));
  reader.end();
  return objects.map(object => ({ ...object, value: Buffer.from(object.value) }));
}

describe.each([
  ['that is written', bytesOf],
  ['of format 1', bytesOfFormat1],
])('a snapshot %s', (_, encode) => {
  it('is read as it was written, in parts of any size', () => {
    const bytes = encode(OBJECTS);
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: bytes.length - 1 }), { maxLength: 20 }), cuts => {
        const at = [0, ...cuts.sort((a, b) => a - b), bytes.length];
        expect(read(at.slice(1).map((to, i) => bytes.subarray(at[i], to)))).toEqual(OBJECTS);
      }),
      { numRuns: 50 },
    );
  });

  it('is refused after any change of a byte, truncation or appended byte', () => {
    const bytes = encode(OBJECTS);
    const refuses = (damaged: Buffer): void => expect(() => read([damaged])).toThrow(SnapshotError);
    for (let at = 0; at < bytes.length; at += 7) {
      const flipped = Buffer.from(bytes);
      flipped[at]! ^= 0x40;
      refuses(flipped);
      refuses(bytes.subarray(0, at));
    }
    refuses(Buffer.concat([bytes, Buffer.of(0)]));
    refuses(Buffer.from('something else\n'));
    refuses(Buffer.alloc(10_000, 'x'));
  });
});

describe('a snapshot file', () => {
  it('has blocks of about 64 KB, so that readers need little memory', () => {
    const objects = Array.from({ length: 300 }, (_, i) => ({ ...OBJECTS[2]!, key: `core/${i}` }));
    const bytes = bytesOf(objects);
    const sizes: number[] = [];
    for (let at = bytes.indexOf(10) + 1; bytes.readUInt32BE(at) > 0; at += 4 + bytes.readUInt32BE(at))
      sizes.push(bytes.readUInt32BE(at));
    expect(Math.max(...sizes)).toBeLessThan(66_000);
    expect(sizes).toHaveLength(Math.ceil(300 / 13));
    expect(read([bytes])).toEqual(objects);
  });

  it('of a later format is refused with both formats named', () => {
    const bytes = Buffer.from(bytesOf(OBJECTS).toString('latin1').replace('snapshot 3', 'snapshot 4'), 'latin1');
    expect(() => read([bytes])).toThrow(
      'it has format 4, this version reads formats 1 to 3: use the version that wrote it',
    );
  });

  it.each([
    ['no array', { key: 'a' }, 'a block in it is not an array'],
    ['rows that are not arrays', ['a'], 'a row in it is not an array'],
    ['rows without a value', [['a', 'b', 1, 1, 1]], 'a row in it has no key or no value'],
    ['rows without revisions', [['a', Buffer.of(1), 1, '1', 1]], 'a row in it has no revisions or no version'],
  ])('whose block holds %s is refused', (_, block, message) => {
    const content = pack(block);
    const length = Buffer.alloc(4);
    length.writeUInt32BE(content.length);
    const line = Buffer.from(`capstan-snapshot 2 ${JSON.stringify(HEADER)}\n`);
    expect(() => read([Buffer.concat([line, length, content])])).toThrow(`it is damaged: ${message}`);
  });
});

interface Item {
  readonly metadata: { readonly name: string; readonly resourceVersion: string; readonly uid: string };
  readonly data: { readonly n: string };
}

const CONFIG_MAPS = '/api/v1/namespaces/shop/configmaps';
const PAIRS = 8;
const configMap = (name: string, n: number): object => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name },
  data: { n: String(n) },
});

let directory: string;
let server: ServerProcess;
let stop = false;

/** Increments `a-…`, then `b-…`, repeatedly: at any revision, a is equal to b or greater by one. */
async function count(pair: number): Promise<void> {
  for (let n = 1; !stop; n++) {
    for (const side of ['a', 'b']) {
      const answer = await server.call('PUT', `${CONFIG_MAPS}/${side}-${pair}`, configMap(`${side}-${pair}`, n));
      if (answer.status !== 200) throw new Error(`PUT: ${answer.status}`);
    }
  }
}

async function snapshot(...args: string[]): Promise<{ code: number; io: Captured }> {
  const io = new Captured();
  return { code: await snapshotCommand(args, io), io };
}

const inDirectory = (name: string): string => join(directory, name);

describe('capstan snapshot', () => {
  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'capstan-snapshot-'));
    server = await ServerProcess.start(inDirectory('old'));
    await server.namespace('shop');
    for (let i = 0; i < PAIRS; i++)
      for (const side of ['a', 'b']) await server.call('POST', CONFIG_MAPS, configMap(`${side}-${i}`, 0));
  });
  afterAll(async () => {
    await server?.end('SIGKILL');
    rmSync(directory, { recursive: true, force: true });
  });

  it('save takes one revision of a server under writes, with everything acknowledged before [R010]', async () => {
    const writers = Array.from({ length: PAIRS }, (_, pair) => count(pair));
    const taken: string[] = [];
    for (let i = 0; i < 3; i++) {
      const file = inDirectory(`under-writes-${i}`);
      const acknowledged = (await server.call<Item>('POST', CONFIG_MAPS, configMap(`before-${i}`, i))).body.metadata
        .resourceVersion;
      const { code, io } = await snapshot('save', file, `--data-dir=${inDirectory('old')}`);
      expect(code).toBe(0);
      const [, revision] = /revision (\d+), \d+ objects, .* checksum ok/.exec(io.lines[0]!)!;
      expect(Number(revision)).toBeGreaterThanOrEqual(Number(acknowledged));
      const url = `${CONFIG_MAPS}?resourceVersion=${revision}&resourceVersionMatch=Exact`;
      const exact = (await server.call<{ items: Item[] }>('GET', url)).body.items;
      const stored = read([readFileSync(file)]).filter(({ key }) => key.startsWith('core/configmaps/shop/'));
      const saved = stored.map(({ value }) => JSON.parse(Buffer.from(value).toString()) as Item);
      expect(saved.map(item => [item.metadata.name, item.metadata.resourceVersion, item.data.n])).toEqual(
        exact.map(item => [item.metadata.name, item.metadata.resourceVersion, item.data.n]),
      );
      expect(stored.map(({ modified }) => String(modified))).toEqual(saved.map(item => item.metadata.resourceVersion));
      const n = new Map(saved.map(item => [item.metadata.name, Number(item.data.n)]));
      for (let pair = 0; pair < PAIRS; pair++) expect([0, 1]).toContain(n.get(`a-${pair}`)! - n.get(`b-${pair}`)!);
      taken.push(revision!);
    }
    stop = true;
    await Promise.all(writers);
    expect(new Set(taken).size).toBe(3);
  });

  it('save needs authorization', async () => {
    const anonymous = await request(`${server.url}/store/snapshot`, { dispatcher: server.agent });
    expect(anonymous.statusCode).toBe(403);
    await anonymous.body.dump();
    const kubeconfig = JSON.parse(readFileSync(inDirectory('old/admin.kubeconfig'), 'utf8')) as {
      users: { user: object }[];
    };
    kubeconfig.users[0]!.user = {};
    writeFileSync(inDirectory('nobody.kubeconfig'), JSON.stringify(kubeconfig));
    await expect(
      snapshot('save', inDirectory('none'), `--kubeconfig=${inDirectory('nobody.kubeconfig')}`),
    ).rejects.toThrow(/refused: 403 .*forbidden/);
  });

  it('save reports a path that cannot be written before it sends a request', async () => {
    const file = inDirectory('absent/backup.snapshot');
    await expect(snapshot('save', file, `--data-dir=${inDirectory('old')}`)).rejects.toThrow(
      `${file} cannot be written: ENOENT`,
    );
  });

  it('restore creates a store with the same objects and higher revisions; watches from old revisions get 410', async () => {
    const file = inDirectory('to-restore');
    await snapshot('save', file, `--data-dir=${inDirectory('old')}`);
    const before = (await server.call<{ items: Item[]; metadata: { resourceVersion: string } }>('GET', CONFIG_MAPS))
      .body;
    // Changes after the snapshot, whose revisions must not be assigned again.
    const later = (await server.call<Item>('POST', CONFIG_MAPS, configMap('after-the-snapshot', 1))).body.metadata
      .resourceVersion;
    const old = server;
    const { code, io } = await snapshot('restore', file, `--data-dir=${inDirectory('new')}`);
    expect(code).toBe(0);
    expect(io.lines[0]).toMatch(/^restored \d+ objects of revision \d+ into /);
    expect(await storeCommand(['check', `--data-dir=${inDirectory('new')}`], new Captured())).toBe(0);
    server = await ServerProcess.start(inDirectory('new'));
    await old.end();

    const after = (await server.call<{ items: Item[]; metadata: { resourceVersion: string } }>('GET', CONFIG_MAPS))
      .body;
    // The certificate of the CA of the new server, which is in every namespace, is different.
    const own = (item: Item): boolean => !('ca.crt' in item.data);
    expect(after.items.filter(own)).toEqual(before.items.filter(own));
    expect(Number(after.metadata.resourceVersion)).toBeGreaterThan(Number(later));
    const created = (await server.call<Item>('POST', CONFIG_MAPS, configMap('new', 1))).body;
    expect(Number(created.metadata.resourceVersion)).toBeGreaterThan(Number(later));
    for (const revision of [before.items[0]!.metadata.resourceVersion, before.metadata.resourceVersion, later]) {
      const watch = await server.call<{ code?: number; object?: { code: number } }>(
        'GET',
        `${CONFIG_MAPS}?watch=1&resourceVersion=${revision}&timeoutSeconds=5`,
      );
      expect(watch.body.object?.code ?? watch.body.code).toBe(410);
    }
    const stale = await server.call('PUT', `${CONFIG_MAPS}/a-0`, {
      ...configMap('a-0', 5),
      metadata: { name: 'a-0', resourceVersion: later },
    });
    expect(stale.status).toBe(409);
  });

  it('restore refuses a directory with a store, and a damaged file before it creates anything', async () => {
    const file = inDirectory('good');
    await snapshot('save', file, `--data-dir=${server.dataDir}`);
    await expect(snapshot('restore', file, `--data-dir=${server.dataDir}`)).rejects.toThrow(/already contains a store/);
    const bytes = readFileSync(file);
    bytes[bytes.length >> 1]! ^= 1;
    writeFileSync(inDirectory('bad'), bytes);
    for (const action of [
      ['restore', inDirectory('bad'), `--data-dir=${inDirectory('never')}`],
      ['status', inDirectory('bad')],
    ])
      await expect(snapshot(...action)).rejects.toThrow(/bad: it is damaged/);
    await expect(storeCommand(['check', `--data-dir=${inDirectory('never')}`], new Captured())).rejects.toThrow(
      /contains no store/,
    );
  });

  it('status prints revision, objects, size and the result of the checksum', async () => {
    const file = inDirectory('status');
    await snapshot('save', file, `--data-dir=${server.dataDir}`);
    const { code, io } = await snapshot('status', file);
    expect(code).toBe(0);
    expect(io.lines).toEqual([
      expect.stringMatching(/status: revision \d+, \d+ objects, [\d.]+ kB, checksum ok$/),
      expect.stringMatching(/^taken \d{4}-.* from rocksdb$/),
    ]);
    await expect(snapshot('status', inDirectory('absent'))).rejects.toThrow(/absent: ENOENT; name a file that exists/);
    await expect(snapshot('status')).rejects.toThrow(/save FILE, restore FILE or status FILE/);
  });

  it('save leaves no file if the server disconnects', async () => {
    const exited = once(server.child, 'exit');
    server.child.kill('SIGKILL');
    await exited;
    await expect(snapshot('save', inDirectory('gone'), `--data-dir=${server.dataDir}`)).rejects.toThrow(
      /cannot be reached/,
    );
    expect(() => readFileSync(inDirectory('gone'))).toThrow();
  });
});
