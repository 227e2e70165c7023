import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  return port;
}

/** An etcd of one member that can be broken and started again on the same data and ports. */
export class EtcdProcess {
  #child: ChildProcess | undefined;

  private constructor(
    readonly directory: string,
    readonly clientPort: number,
    readonly peerPort: number,
  ) {}

  static async start(directory: string): Promise<EtcdProcess> {
    const etcd = new EtcdProcess(directory, await freePort(), await freePort());
    await etcd.start();
    return etcd;
  }

  get url(): string {
    return `http://127.0.0.1:${this.clientPort}`;
  }

  async start(): Promise<void> {
    const peers = `http://127.0.0.1:${this.peerPort}`;
    const flags = [
      `--data-dir=${this.directory}`,
      `--listen-client-urls=${this.url}`,
      `--advertise-client-urls=${this.url}`,
      `--listen-peer-urls=${peers}`,
      `--initial-advertise-peer-urls=${peers}`,
      `--initial-cluster=default=${peers}`,
    ];
    const child = spawn('etcd', flags, { stdio: ['ignore', 'pipe', 'pipe'] });
    this.#child = child;
    await new Promise<void>((done, fail) => {
      let output = '';
      const read = (chunk: Buffer): void => {
        output = (output + chunk.toString()).slice(-20_000);
        if (output.includes('ready to serve client requests')) done();
      };
      child.stdout.on('data', read);
      child.stderr.on('data', read);
      child.once('error', fail);
      child.once('exit', () => fail(new Error(`etcd ended:\n${output.slice(-2000)}`)));
    });
  }

  pause(): void {
    this.#child?.kill('SIGSTOP');
  }

  resume(): void {
    this.#child?.kill('SIGCONT');
  }

  async kill(): Promise<void> {
    const child = this.#child;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
  }
}
