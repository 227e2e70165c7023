import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { issue } from '../../core/services/pki/certificate.js';

/** True if etcd is installed. */
export const etcdInstalled = spawnSync('etcd', ['--version']).status === 0;
/** True if tests with etcd run: it is installed, or its absence must fail the tests. */
export const etcdWanted = etcdInstalled || process.env['CAPSTAN_TEST_REQUIRE'] === 'all';

/** Resolves with ports that are free at the moment. */
export async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer().listen(0, '127.0.0.1'));
  await Promise.all(servers.map(server => once(server, 'listening')));
  const ports = servers.map(server => (server.address() as { port: number }).port);
  await Promise.all(servers.map(server => new Promise(resolve => server.close(resolve))));
  return ports;
}

/** Options of an etcd process. */
export interface EtcdOptions {
  /** The data directory; by default a new temporary one. */
  readonly directory?: string;
  /** Additional flags. */
  readonly flags?: Readonly<Record<string, string>>;
  /** TLS for clients. */
  readonly tls?: { readonly cert: string; readonly key: string; readonly clientCa?: string };
}

/** An etcd process that can be killed and started again on its data. */
export interface Etcd {
  readonly url: string;
  /** The id of the current process. */
  readonly pid: number;
  /** Stop the process (SIGSTOP) and let it continue (SIGCONT). */
  pause(): void;
  resume(): void;
  /** Kills the process, like `kill -9`. */
  kill(): Promise<void>;
  start(): Promise<void>;
  /** Stops the process and removes its data. */
  stop(): Promise<void>;
}

interface Member {
  readonly name: string;
  readonly directory: string;
  readonly url: string;
  readonly peers: string;
}

async function member(
  name: string,
  scheme: string,
  [client, peer]: readonly number[],
  given?: string,
): Promise<Member> {
  const directory = given ?? (await mkdtemp(join(tmpdir(), 'capstan-etcd-')));
  return { name, directory, url: `${scheme}://127.0.0.1:${client}`, peers: `http://127.0.0.1:${peer}` };
}

function started(
  { name, directory, url, peers }: Member,
  cluster: readonly Member[],
  { flags = {}, tls }: EtcdOptions,
): Etcd {
  const all = {
    name,
    'data-dir': directory,
    'listen-client-urls': url,
    'advertise-client-urls': url,
    'listen-peer-urls': peers,
    'initial-advertise-peer-urls': peers,
    'initial-cluster': cluster.map(one => `${one.name}=${one.peers}`).join(','),
    ...(tls ? { 'cert-file': tls.cert, 'key-file': tls.key } : {}),
    ...(tls?.clientCa ? { 'trusted-ca-file': tls.clientCa, 'client-cert-auth': 'true' } : {}),
    ...flags,
  };
  let child: ChildProcess | undefined;
  const kill = async () => {
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'close');
    child.kill('SIGKILL');
    await ended;
    child = undefined;
  };
  return {
    url,
    get pid() {
      return child?.pid ?? 0;
    },
    pause: () => void child?.kill('SIGSTOP'),
    resume: () => void child?.kill('SIGCONT'),
    kill,
    async start() {
      const args = Object.entries(all).map(([flag, value]) => `--${flag}=${value}`);
      child = spawn('etcd', args, { stdio: ['ignore', 'pipe', 'pipe'] });
      await serving(child);
    },
    async stop() {
      await kill();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** Starts etcd on an empty directory and waits until it serves. */
export async function startEtcd(options: EtcdOptions = {}): Promise<Etcd> {
  const one = await member('default', options.tls ? 'https' : 'http', await freePorts(2), options.directory);
  const etcd = started(one, [one], options);
  await etcd.start();
  return etcd;
}

/** Starts a cluster of three members. */
export async function startCluster(): Promise<readonly Etcd[]> {
  const ports = await freePorts(6);
  const members = await Promise.all([0, 1, 2].map(i => member(`m${i}`, 'http', ports.slice(2 * i, 2 * i + 2))));
  const running = members.map(one => started(one, members, {}));
  await Promise.all(running.map(etcd => etcd.start()));
  return running;
}

function serving(child: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    let output = '';
    const read = (chunk: Buffer) => {
      output = (output + chunk).slice(-20_000);
      if (/ready to serve client requests|serving (insecure )?client requests/.test(output)) resolve();
    };
    child.stdout!.on('data', read);
    child.stderr!.on('data', read);
    child.once('close', () => reject(new Error(`etcd ended: ${output.slice(-500)}`)));
  });
}

/** Certificates of an etcd with TLS and of its client, as files in a directory. */
export async function certificates(
  directory: string,
): Promise<{ tls: Required<NonNullable<EtcdOptions['tls']>>; cafile: string; certfile: string; keyfile: string }> {
  const span = { notBefore: Date.now() - 3_600_000, notAfter: Date.now() + 86_400_000 };
  const ca = await issue({ ...span, subject: { commonName: 'ca' }, use: 'ca' });
  const server = await issue({ ...span, subject: { commonName: 'etcd' }, use: 'server', sans: ['127.0.0.1'] }, ca);
  const client = await issue({ ...span, subject: { commonName: 'capstan' }, use: 'client' }, ca);
  const file = async (name: string, pem: string) => {
    await writeFile(join(directory, name), pem);
    return join(directory, name);
  };
  const cafile = await file('ca.crt', ca.certificate);
  const tls = {
    cert: await file('server.crt', server.certificate),
    key: await file('server.key', server.key),
    clientCa: cafile,
  };
  return {
    tls,
    cafile,
    certfile: await file('client.crt', client.certificate),
    keyfile: await file('client.key', client.key),
  };
}
