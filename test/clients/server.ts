import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { addCertificates } from '../support/certificates.js';

const COMMAND = resolve('dist/core/command/main.js');
const START_MS = 60_000;

/** A server in its own process, with a data directory that `close` removes. */
export interface BuiltServer {
  readonly dir: string;
  readonly kubeconfig: string;
  /** Stops it as an operator does, then starts it again on the same port and data. */
  restart(): Promise<void>;
  close(): Promise<void>;
}

/** A free port for servers that restart on it while earlier connections still exist. */
export async function freePort(): Promise<string> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return String(port);
}

/** Starts `capstan serve` on a port with additional flags, and resolves when it reports that it is ready. */
export async function startBuiltServer(asked = '0', ...more: readonly string[]): Promise<BuiltServer> {
  const dir = mkdtempSync(join(tmpdir(), 'capstan-clients-'));
  let { child, port } = await spawnServer(dir, asked, more);
  return {
    dir,
    kubeconfig: join(dir, 'data', 'admin.kubeconfig'),
    async restart() {
      await stop(child);
      ({ child, port } = await spawnServer(dir, port, more));
    },
    async close() {
      await stop(child);
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

/** Starts it on a free port with a store in memory: clients see no difference. `restart` loses the objects. */
export const startMemoryServer = (...more: readonly string[]): Promise<BuiltServer> =>
  startBuiltServer('0', '--storage-backend=memory', ...more);

async function spawnServer(
  dir: string,
  port: string,
  more: readonly string[],
): Promise<{ child: ChildProcess; port: string }> {
  const flags = ['serve', '--naming=kubernetes', '--secure-port', port, '--data-dir', join(dir, 'data'), ...more];
  await addCertificates(join(dir, 'data'));
  const child = spawn(process.execPath, [COMMAND, ...flags], { stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  return new Promise((done, fail) => {
    const timer = setTimeout(() => fail(new Error(`not ready in time:\n${output}`)), START_MS);
    const read = (chunk: Buffer): void => {
      output = (output + chunk.toString()).slice(-20_000);
      const url = /https:\/\/[^\s/]+:(\d+)/.exec(output)?.[1];
      if (url === undefined || !output.includes('ready in')) return;
      clearTimeout(timer);
      done({ child, port: url });
    };
    child.stdout?.on('data', read);
    child.stderr?.on('data', read);
    child.once('exit', code => fail(new Error(`the server ended with ${code}:\n${output}`)));
  });
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGTERM');
  await exited;
}

/** The output of a run of kubectl. */
export interface Printed {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** kubectl for one server, with its own home directory. */
export class Kubectl {
  readonly #env: NodeJS.ProcessEnv;

  constructor(
    readonly server: BuiltServer,
    readonly namespace: string,
  ) {
    // It ends before it needs garbage collection, which takes a quarter of its CPU time.
    this.#env = { ...process.env, KUBECONFIG: server.kubeconfig, HOME: server.dir, GOGC: 'off' };
  }

  /** Runs to the end, whatever the exit code. */
  try(args: readonly string[], options: { input?: string; env?: NodeJS.ProcessEnv } = {}): Promise<Printed> {
    return new Promise(done => {
      const all = ['-n', this.namespace, ...args];
      const env = { ...this.#env, ...options.env };
      const child = execFile('kubectl', all, { env, timeout: 100_000, maxBuffer: 64 << 20 }, (error, out, err) => {
        done({ code: error ? Number(error.code ?? 1) || 1 : 0, out, err });
      });
      // It may end before it has read its input.
      child.stdin?.on('error', () => undefined).end(options.input ?? '');
    });
  }

  /** Runs and returns the output. Throws if it failed. */
  async run(...args: string[]): Promise<string> {
    return this.#must(args, await this.try(args));
  }

  /** Runs with the object on standard input (`-f -`). */
  async with(object: unknown, ...args: string[]): Promise<string> {
    const input = typeof object === 'string' ? object : JSON.stringify(object);
    return this.#must(args, await this.try([...args, '-f', '-'], { input }));
  }

  /** The object as JSON. */
  async json(...args: string[]): Promise<Record<string, unknown>> {
    return JSON.parse(await this.run(...args, '-o', 'json')) as Record<string, unknown>;
  }

  /** Starts without waiting; `lines` grows with its output, `code` is its exit code. */
  start(...args: string[]): { readonly lines: string[]; readonly code: Promise<number>; stop(): Promise<void> } {
    const child = spawn('kubectl', ['-n', this.namespace, ...args], {
      env: this.#env,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const lines: string[] = [];
    let rest = '';
    child.stdout?.on('data', (chunk: Buffer) => {
      const parts = (rest + chunk.toString()).split('\n');
      rest = parts.pop() ?? '';
      lines.push(...parts);
    });
    const exited = once(child, 'exit');
    return {
      lines,
      code: exited.then(([code]) => code as number),
      async stop() {
        child.kill('SIGTERM');
        await exited;
      },
    };
  }

  /** A file for `-f` or an editor. */
  file(name: string, text: string): string {
    const path = join(this.server.dir, name);
    writeFileSync(path, text, { mode: 0o755 });
    return path;
  }

  #must(args: readonly string[], { code, out, err }: Printed): string {
    if (code !== 0) throw new Error(`kubectl ${args.join(' ')}: ${code}\n${out}${err}`);
    return out;
  }
}

/** True if kubectl can be run; otherwise its tests are skipped. */
export async function hasKubectl(): Promise<boolean> {
  return new Promise(done => execFile('kubectl', ['version', '--client'], error => done(!error)));
}
