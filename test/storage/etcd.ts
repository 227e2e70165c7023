import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Whether tests with etcd run: it is installed, or a missing one is to be a failure. */
export const etcdWanted = spawnSync('etcd', ['--version']).status === 0 || process.env['CAPSTAN_TEST_REQUIRE'] === 'all';

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
export async function startEtcd(): Promise<{ url: string; stop: () => Promise<void> }> {
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
