import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'vitest';
import { EtcdStore } from '../../../plugins/storage/etcd/store.js';
import { storageConformance } from '../storage.js';

const present = spawnSync('etcd', ['--version']).status === 0;

/** Two ports that were free a moment ago. */
async function freePorts(): Promise<[number, number]> {
  const one = () =>
    new Promise<{ port: number; close: () => void }>(resolve => {
      const server = createServer().listen(0, '127.0.0.1', () => {
        resolve({ port: (server.address() as { port: number }).port, close: () => server.close() });
      });
    });
  const [a, b] = await Promise.all([one(), one()]);
  a.close();
  b.close();
  return [a.port, b.port];
}

/** Starts etcd on an empty directory and waits until it serves. */
async function startEtcd(): Promise<{ url: string; stop: () => Promise<void> }> {
  const directory = await mkdtemp(join(tmpdir(), 'capstan-etcd-'));
  const [client, peer] = await freePorts();
  const url = `http://127.0.0.1:${client}`;
  const peers = `http://127.0.0.1:${peer}`;
  const flags = { 'data-dir': directory, 'listen-client-urls': url, 'advertise-client-urls': url, 'listen-peer-urls': peers };
  const cluster = { 'initial-advertise-peer-urls': peers, 'initial-cluster': `default=${peers}` };
  const args = Object.entries({ ...flags, ...cluster }).map(([name, value]) => `--${name}=${value}`);
  const child = spawn('etcd', args, { stdio: ['ignore', 'pipe', 'pipe'] });
  await serving(child);
  const stop = async () => {
    const ended = new Promise(resolve => child.once('close', resolve));
    child.kill('SIGKILL');
    await ended;
    await rm(directory, { recursive: true });
  };
  return { url, stop };
}

function serving(child: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    let output = '';
    const read = (chunk: Buffer) => {
      output += chunk;
      if (/ready to serve client requests/.test(output)) resolve();
    };
    child.stdout!.on('data', read);
    child.stderr!.on('data', read);
    child.once('close', () => reject(new Error(`etcd ended: ${output.slice(-500)}`)));
  });
}

if (present || process.env['CAPSTAN_TEST_REQUIRE'] === 'all') {
  storageConformance('etcd', async () => {
    const { url, stop } = await startEtcd();
    return { open: () => new EtcdStore({ servers: [url], prefix: 'test/' }).start(), dispose: stop };
  });
} else {
  describe('storage conformance: etcd', () => {
    it.skip('skipped: the program `etcd` is not installed (CAPSTAN_TEST_REQUIRE=all makes this a failure)', () => {});
  });
}
