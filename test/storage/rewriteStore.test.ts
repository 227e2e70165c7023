import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import type { StoreOperation } from '../../core/api/index.js';
import { DEFAULTS } from '../../core/server/settings.js';
import { rewriteStore } from '../../core/server/rewriteStore.js';
import { readValues } from '../../core/services/encryption/index.js';
import { namingOf } from '../../core/naming.js';
import { openRocksDb } from '../../plugins/storage/rocksdb/open.js';
import { ServerProcess } from '../server/processes.js';
import { eventually } from '../support/eventually.js';
import { etcdWanted, startEtcd } from './etcd.js';

const folder = mkdtempSync(join(tmpdir(), 'capstan-rewrite-'));
afterAll(() => rmSync(folder, { recursive: true }));
let names = 0;
const newPath = (): string => join(folder, `${++names}`);

const KEYS = { one: 1, two: 2 } as const;

/** Writes an encryption file with these keys for Secrets, the first of which is used for writes. */
function configure(file: string, ...keys: (keyof typeof KEYS)[]): string {
  const secrets = keys.map(name => ({ name, secret: Buffer.alloc(32, KEYS[name]).toString('base64') }));
  const resources = [{ resources: ['secrets'], providers: [{ aesgcm: { keys: secrets } }] }];
  const configuration = { apiVersion: 'apiserver.config.k8s.io/v1', kind: 'EncryptionConfiguration', resources };
  writeFileSync(`${file}.new`, JSON.stringify(configuration));
  renameSync(`${file}.new`, file);
  return file;
}

const silent = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
const naming = namingOf('kubernetes');

/** Rewrites a RocksDB store with an encryption file. */
const rewrite = (dataDir: string, file: string, report: (count: number) => void = () => undefined) =>
  rewriteStore(
    { ...DEFAULTS, storage: 'rocksdb', naming: 'kubernetes', dataDir, encryptionProviderConfig: file },
    silent,
    report,
  );

/** Opens the store of a data directory with an encryption file. */
async function open(dataDir: string, file: string) {
  const { values } = await readValues(file, { log: silent, naming, observe: () => undefined });
  return await openRocksDb({ path: join(dataDir, 'store'), historyMs: 3_600_000, values });
}

const put = (name: string): StoreOperation => {
  const head = `{"kind":"Secret","apiVersion":"v1","metadata":{"name":"${name}","resourceVersion":"`;
  const value = Buffer.from(`${head}"},"data":{"a":"${name}"}}`);
  return { is: 'put', key: `core/secrets/default/${name}`, value, gap: head.length };
};

describe('a rewrite of a store', () => {
  it('writes only values that are not encrypted with the first key, with a new version', async () => {
    const [dataDir, file] = [newPath(), newPath()];
    const before = await open(dataDir, configure(file, 'one'));
    await before.commit([
      [put('a')],
      [{ is: 'put', key: 'claims/core.services/x', value: Buffer.from('{"holder":"a"}') }],
    ]);
    await before.close();
    const changing = await open(dataDir, configure(file, 'two', 'one'));
    await changing.commit([[put('b')]]);
    await changing.close();
    expect(await rewrite(dataDir, file)).toEqual({ objects: 3, rewritten: 1, unreadable: [] });
    expect(await rewrite(dataDir, file)).toEqual({ objects: 3, rewritten: 0, unreadable: [] });
    const after = await open(dataDir, configure(file, 'two'));
    const { items } = await after.range('core/');
    expect(items.map(({ value, modified }) => [Buffer.from(value).toString(), modified])).toEqual([
      ['{"kind":"Secret","apiVersion":"v1","metadata":{"name":"a","resourceVersion":"4"},"data":{"a":"a"}}', 4],
      ['{"kind":"Secret","apiVersion":"v1","metadata":{"name":"b","resourceVersion":"3"},"data":{"a":"b"}}', 3],
    ]);
    // The former values are removed with the history.
    expect(after.compactedRevision()).toBe(4);
    await after.close();
  });

  it('continues where it was interrupted', async () => {
    const [dataDir, file] = [newPath(), newPath()];
    const before = await open(dataDir, configure(file, 'one'));
    await before.commit(Array.from({ length: 1200 }, (_, i) => [put(`s${i}`)]));
    await before.close();
    configure(file, 'two', 'one');
    const stop = (): void => {
      throw new Error('interrupted');
    };
    await expect(rewrite(dataDir, file, stop)).rejects.toThrow('interrupted');
    expect(await rewrite(dataDir, file)).toMatchObject({ objects: 1200, rewritten: 700 });
  });

  it('reports values that it cannot read, and does not change them', async () => {
    const [dataDir, file] = [newPath(), newPath()];
    const before = await open(dataDir, configure(file, 'one'));
    await before.commit([[put('a')]]);
    await before.close();
    const { rewritten, unreadable } = await rewrite(dataDir, configure(file, 'two'));
    expect([rewritten, unreadable.map(({ key }) => key)]).toEqual([0, ['core/secrets/default/a']]);
    expect(await rewrite(dataDir, configure(file, 'two', 'one'))).toMatchObject({ rewritten: 1, unreadable: [] });
  });

  it('needs the encryption file, and an existing store', async () => {
    const file = configure(newPath(), 'one');
    await expect(rewrite(newPath(), file)).rejects.toThrow('contains no store');
    const settings = { ...DEFAULTS, storage: 'rocksdb' as const, dataDir: newPath() };
    await expect(rewriteStore(settings, silent, () => undefined)).rejects.toThrow('--encryption-provider-config');
  });
});

const SECRETS = '/api/v1/namespaces/default/secrets';

/** Creates Secrets, several at once, until `stop` is called, which resolves with those that were acknowledged. */
function load(server: ServerProcess): { acknowledged: Set<string>; stop(): Promise<void> } {
  const acknowledged = new Set<string>();
  let isStopped = false;
  const writeAll = async (writer: number): Promise<void> => {
    for (let i = 0; !isStopped; i++) {
      const name = `s-${writer}-${i}`;
      const body = { metadata: { name }, stringData: { name } };
      const status = await server.call('POST', SECRETS, body).then(
        answer => answer.status,
        () => 0,
      );
      if (status === 201) acknowledged.add(name);
    }
  };
  const writers = Promise.all(Array.from({ length: 8 }, (_, i) => writeAll(i)));
  return {
    acknowledged,
    async stop() {
      isStopped = true;
      await writers;
    },
  };
}

const START = 'dist/core/command/main.js';

/** `capstan store rewrite`. */
function rewriting(dataDir: string, file: string): ChildProcess {
  const flags = ['--naming=kubernetes', `--data-dir=${dataDir}`, `--encryption-provider-config=${file}`];
  const child = spawn(process.execPath, [resolve(START), 'store', 'rewrite', ...flags]);
  onTestFinished(() => void child.kill('SIGKILL'));
  return child;
}

/** The names of all Secrets of a server. */
async function namesIn(server: ServerProcess): Promise<Set<string>> {
  const { status, body } = await server.call('GET', SECRETS);
  expect(status).toBe(200);
  return new Set(body.items?.map(({ metadata }) => metadata.name));
}

describe('a rotation of keys', () => {
  it('loses nothing, whenever a server under load or the rewrite is killed', async () => {
    const file = configure(newPath(), 'one');
    const server = new ServerProcess([`--encryption-provider-config=${file}`]);
    onTestFinished(() => server.dispose());
    await server.start();
    await eventually(async () => (await server.call('GET', '/api/v1/namespaces/default')).status === 200);
    const { acknowledged, stop } = load(server);
    await eventually(() => acknowledged.size >= 400);
    configure(file, 'two', 'one');
    await eventually(() => server.output.includes('the encryption file has changed and is used'));
    const reached = acknowledged.size;
    await eventually(() => acknowledged.size >= reached + 100);
    await server.end('SIGKILL');
    await stop();

    // It is killed between the first writes and the last ones, or at its end on a slow machine.
    const killed = rewriting(server.directory, file);
    await once(killed.stdout!, 'data');
    killed.kill('SIGKILL');
    await once(killed, 'exit');
    const complete = rewriting(server.directory, file);
    let output = '';
    complete.stdout!.on('data', chunk => (output += String(chunk)));
    const [code] = (await once(complete, 'exit')) as [number];
    expect([code, output]).toEqual([0, expect.stringContaining('had to be rewritten')]);

    configure(file, 'two');
    await server.start();
    const names = await eventually(() => namesIn(server));
    expect([...acknowledged].filter(name => !names.has(name))).toEqual([]);
  });

  it.skipIf(!etcdWanted)(
    'is completed over etcd while servers write (skipped without the program `etcd`)',
    async () => {
      const etcd = await startEtcd();
      onTestFinished(() => etcd.stop());
      const file = configure(newPath(), 'one');
      const flags = ['--storage-backend=etcd', `--etcd-servers=${etcd.url}`, `--encryption-provider-config=${file}`];
      const server = new ServerProcess(flags);
      onTestFinished(() => server.dispose());
      await server.start();
      await eventually(async () => (await server.call('GET', '/api/v1/namespaces/default')).status === 200);
      const { acknowledged, stop } = load(server);
      await eventually(() => acknowledged.size >= 30);
      configure(file, 'two', 'one');
      await eventually(() => server.output.includes('the encryption file has changed and is used'));
      const settings = {
        ...DEFAULTS,
        storage: 'etcd' as const,
        naming: 'kubernetes' as const,
        etcdServers: [etcd.url],
        encryptionProviderConfig: file,
      };
      const { rewritten, unreadable } = await rewriteStore(settings, silent, () => undefined);
      expect([rewritten >= 30, unreadable]).toEqual([true, []]);
      await stop();
      configure(file, 'two');
      await server.end();
      await server.start();
      const names = await namesIn(server);
      expect([...acknowledged].filter(name => !names.has(name))).toEqual([]);
    },
  );
});
