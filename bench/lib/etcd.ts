import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { freePort } from './capstan.js';

/** A running etcd of one member. */
export interface BenchEtcd {
  readonly url: string;
  readonly pid: number;
  close(): Promise<void>;
}

/** Starts the installed etcd on an empty directory; undefined if there is none. */
export async function startEtcd(dir: string): Promise<BenchEtcd | undefined> {
  if (spawnSync('etcd', ['--version']).status !== 0) return undefined;
  mkdirSync(dir, { recursive: true });
  const url = `http://127.0.0.1:${await freePort()}`;
  const peers = `http://127.0.0.1:${await freePort()}`;
  const flags = {
    'data-dir': dir,
    'listen-client-urls': url,
    'advertise-client-urls': url,
    'listen-peer-urls': peers,
    'initial-advertise-peer-urls': peers,
    'initial-cluster': `default=${peers}`,
    'quota-backend-bytes': String(8 * 2 ** 30),
  };
  const args = Object.entries(flags).map(([flag, value]) => `--${flag}=${value}`);
  const child = spawn('etcd', args, { stdio: ['ignore', 'ignore', 'pipe'] });
  await new Promise<void>((resolve, reject) => {
    let output = '';
    child.stderr.on('data', (chunk: Buffer) => {
      output = (output + chunk.toString()).slice(-10_000);
      if (/ready to serve client requests|serving (insecure )?client/.test(output)) resolve();
    });
    child.once('exit', () => reject(new Error(`etcd ended:\n${output}`)));
  });
  return {
    url,
    pid: child.pid ?? 0,
    async close() {
      const ended = once(child, 'close');
      child.kill('SIGKILL');
      await ended;
    },
  };
}
