import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { mkdir, mkdtemp, rm, truncate, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parseConfig, loadSettings } from '../../core/command/config.js';
import { storeCommand } from '../../core/command/store/store.js';
import { openRocksDb } from '../../plugins/storage/rocksdb/open.js';
import { committed } from '../conformance/storage.js';
import { flip, mayMount, put, unpack } from '../storage/rocksdbFiles.js';
import { Captured, ServerProcess } from './server.js';

let dataDir: string;
const store = (): string => join(dataDir, 'store');

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'capstan-command-'));
});
afterEach(() => rm(dataDir, { recursive: true, force: true }));

async function fill(count: number): Promise<void> {
  const engine = await openRocksDb({ path: store(), historyMs: 3_600_000 });
  for (let i = 1; i <= count; i++) {
    const key = `core/configmaps/default/c${i}`;
    await committed(engine, put(key, 'x'.repeat(800)));
    // A read waits until RocksDB has the previous writes, so that each commit is a separate write there.
    await engine.get(key);
  }
  await engine.close();
}

/** A store of an earlier release whose RocksDB log has lost its end. */
async function loseTheEnd(): Promise<void> {
  await unpack('store-3-log', store());
  const log = readdirSync(join(store(), 'db')).find(file => file.endsWith('.log'))!;
  const file = join(store(), 'db', log);
  await truncate(file, Math.floor((await stat(file)).size / 2));
}

async function run(...args: string[]): Promise<{ code: number; io: Captured }> {
  const io = new Captured();
  return { code: await storeCommand([...args, `--data-dir=${dataDir}`], io), io };
}

describe('capstan store', () => {
  it('check reports the content, and ends with exit code 0 for a sound store', async () => {
    await fill(20);
    const { code, io } = await run('check');
    expect(code).toBe(0);
    expect(io.errors).toEqual([]);
    expect(io.lines.join('\n')).toMatch(/log \d+\.log: 0 B, 0 records\nhigh-water mark: revision 20\n/);
    expect(io.lines).toContain('revisions: 20, history after 0: 20 events');
    expect(io.lines.at(-1)).toBe('the store is sound');
  });

  it('check names every problem, and ends with exit code 1 for a damaged store', async () => {
    await loseTheEnd();
    const { code, io } = await run('check');
    expect(code).toBe(1);
    expect(io.errors.join('\n')).toMatch(/problem: revisions \d+ to 120 are missing/);
    expect(io.lines.at(-1)).toBe('the store is damaged: 1 problem');
  });

  it('recover reports lost data and needs consent; with consent, it keeps the damaged files', async () => {
    await loseTheEnd();
    const asked = await run('recover');
    expect(asked.code).toBe(1);
    expect(asked.io.lines.join('\n')).toMatch(/lost: revisions \d+ to 120\nkept: \d+ objects/);
    expect(asked.io.errors.join()).toMatch(/nothing was changed.*--accept-loss/);
    const agreed = await run('recover', '--accept-loss');
    expect(agreed.code).toBe(0);
    const kept = /the damaged files are in (.*)$/.exec(agreed.io.lines.at(-1)!)![1]!;
    expect(existsSync(join(kept, 'db', 'CURRENT')) && existsSync(join(kept, 'high-water'))).toBe(true);
    expect((await run('check')).code).toBe(0);
    const again = await run('recover');
    expect(again.io.lines).toEqual([expect.stringMatching(/^nothing to recover: \d+ objects at revision 1000120$/)]);
  });

  it('recover needs no consent if nothing is lost', async () => {
    await fill(20);
    await (await openRocksDb({ path: store(), historyMs: 3_600_000 })).close();
    await rm(join(store(), 'db', 'CURRENT'));
    const { code, io } = await run('recover');
    expect(code).toBe(0);
    expect(io.lines.join('\n')).toMatch(/has lost its CURRENT file[\s\S]*kept: 20 objects[\s\S]*recovered/);
  });

  it('refuses a directory without a store, and unknown arguments', async () => {
    await expect(run('check')).rejects.toThrow(/contains no store/);
    await expect(run('mend')).rejects.toThrow(/expects check, recover, rewrite or migrate/);
    await expect(run('check', '--accept-loss')).rejects.toThrow('--accept-loss: is a flag of');
    await expect(run('check', '--deep')).rejects.toThrow(/^--deep: /);
    await expect(run('check', '--kubeconfig=x')).rejects.toThrow(/^--kubeconfig: /);
    await expect(run('migrate')).rejects.toThrow(/^--data-dir: /);
    await expect(storeCommand(['check'], new Captured())).rejects.toThrow(/^--data-dir: needs a value/);
  });
});

const CONFIG_MAPS = '/api/v1/namespaces/shop/configmaps';
const configMap = (name: string, data: object): object => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name },
  data,
});

describe('a server', () => {
  it('whose disk is full answers with an error, and ends with exit code 1 and the reason', async () => {
    const server = await ServerProcess.start(dataDir, [], ['prlimit', '--fsize=4000000']);
    await server.namespace('shop');
    const exited = once(server.child, 'exit');
    let refused: { status: number; body: { message?: string } } | undefined;
    for (let i = 0; i < 200 && !refused; i++) {
      const answer = await server.call<{ message?: string }>(
        'POST',
        CONFIG_MAPS,
        configMap(`c${i}`, { x: 'x'.repeat(100_000) }),
      );
      if (answer.status !== 201) refused = answer;
    }
    expect(refused).toMatchObject({
      status: 500,
      body: { message: expect.stringMatching(/the store failed and must be opened again/) },
    });
    expect((await exited)[0]).toBe(1);
    expect(server.output).toMatch(/the server stopped: the store failed and must be opened again.*File too large/i);
    await server.agent.destroy();
  });

  it('refuses to start on a store that another server uses', async () => {
    const server = await ServerProcess.start(dataDir);
    await expect(ServerProcess.start(dataDir)).rejects.toThrow(
      /ended with 1:[\s\S]*is in use by another process: stop it first/,
    );
    await expect(run('check')).rejects.toThrow(/is in use by another process/);
    expect(await server.end()).toBe(0);
  });

  it('refuses to start with a damaged value, with an error in one line', async () => {
    await fill(200);
    await (await openRocksDb({ path: store(), historyMs: 3_600_000 })).close();
    await flip(join(store(), 'db', readdirSync(join(store(), 'db')).find(file => file.endsWith('.sst'))!), 0.7);
    await expect(ServerProcess.start(dataDir)).rejects.toThrow(
      /ended with 1:\ncapstan: .*is damaged.*capstan store recover`\n$/,
    );
  });

  it.runIf(mayMount())('refuses to start on a full disk', async () => {
    await fill(20);
    const mounted = join(dataDir, 'mounted');
    await mkdir(mounted);
    const line = `mount -t tmpfs -o size=1m none ${mounted} && cp -r ${store()} ${mounted}/store && mkdir ${mounted}/pki && (dd if=/dev/zero of=${mounted}/ballast bs=4k 2>/dev/null; exec "$@")`;
    const starting = ServerProcess.start(mounted, [], ['unshare', '-rm', 'sh', '-c', line, 'sh']);
    await expect(starting).rejects.toThrow(/ended with 1:[\s\S]*(ENOSPC|no space left)/i);
  });
});

describe('the time for which history is kept', () => {
  it('is a duration, by flag or configuration file, and five minutes by default [R360]', () => {
    expect(loadSettings([]).historyRetention).toBe(300_000);
    expect(loadSettings(['--history=1m30s']).historyRetention).toBe(90_000);
    expect(parseConfig('history: 10m', '.').historyRetention).toBe(600_000);
    for (const bad of ['5', '-1m', 'soon', '0', ''])
      expect(() => loadSettings([`--history=${bad}`])).toThrow(/^--history/);
  });
});
