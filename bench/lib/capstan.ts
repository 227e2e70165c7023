import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { withConnection } from '../load/connection.js';
import type { Target } from './target.js';

/** The build that this program belongs to. */
const BUILD = fileURLToPath(new URL('../..', import.meta.url));
/** The module that is preloaded into servers, also into those of other builds. */
const PROBE = new URL('../latency/probe.js', import.meta.url).href;
const MARKS = new URL('../latency/marks.js', import.meta.url).href;
/** The time limit of a start, in milliseconds. */
const START_MS = 60_000;

/** Finds a free port of the loopback interface. */
export async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}

/** A running server. */
export interface Capstan extends Target {
  /** The token of a user who is authorized by a role binding, like real users, and not by a built-in group. */
  readonly token: string;
  readonly adminToken: string;
  /** Milliseconds from the start of the process until it is ready. */
  readonly startMs: number;
  /** The roles of its threads, by their ids in the operating system. */
  roles(): ReadonlyMap<string, string>;
}

const TOKENS = { admin: 'bench-admin-token', user: 'bench-user-token' };

/** The options of a start. */
export interface CapstanOptions {
  readonly dataDir: string;
  readonly tls: boolean;
  readonly cpuProfile?: boolean;
  /** The directory for the times of messages of writes. */
  readonly marks?: string;
  /** Further users, by token: members of the group `bench-many`. */
  readonly tokens?: readonly string[];
  /** Directory of the build, `dist` of a checkout; else this one. */
  readonly build?: string;
  /** Further flags. */
  readonly flags?: readonly string[];
}

/** Starts the built server on a data directory and waits until it is ready. */
export async function startCapstan({
  dataDir,
  tls,
  cpuProfile,
  marks,
  tokens = [],
  build = BUILD,
  flags: further = [],
}: CapstanOptions): Promise<Capstan> {
  mkdirSync(dataDir, { recursive: true });
  const tokenFile = join(dataDir, 'bench-tokens.csv');
  if (!existsSync(tokenFile)) {
    const many = tokens.map((token, i) => `${token},bench-${i},many-${i},bench-many\n`);
    const users = [`${TOKENS.admin},bench-admin,1,system:masters\n`, `${TOKENS.user},bench,2,bench\n`, ...many];
    writeFileSync(tokenFile, users.join(''), { mode: 0o600 });
  }
  const port = await findFreePort();
  const ports = tls ? ['--secure-port', String(port)] : ['--secure-port', '0', '--http-port', String(port)];
  const modes = further.some(flag => flag.startsWith('--authorization-')) ? [] : ['--authorization-mode=RBAC'];
  const flags = ['serve', '--naming=kubernetes', ...modes, `--token-auth-file=${tokenFile}`];
  const profile = cpuProfile ? ['--cpu-prof', `--cpu-prof-dir=${join(dataDir, 'profile')}`] : [];
  const threads = join(dataDir, 'threads');
  rmSync(threads, { recursive: true, force: true });
  mkdirSync(threads);
  const started = performance.now();
  const child = spawn(
    process.execPath,
    [
      ...profile,
      `--import=${PROBE}`,
      ...(marks === undefined ? [] : [`--import=${MARKS}`]),
      join(build, 'core/command/main.js'),
      ...flags,
      ...further,
      ...ports,
      '--data-dir',
      join(dataDir, 'data'),
    ],
    {
      // The server gets its own session, like services and the reference: Linux divides the cores between sessions
      // first (`sched_autogroup_enabled`), and would count this server's threads with the load generator and other
      // programs.
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        ...process.env,
        CAPSTAN_BENCH_THREADS: threads,
        ...(marks === undefined ? {} : { CAPSTAN_BENCH_MARKS: marks }),
      },
    },
  );
  // Signals of the terminal do not reach that session: `bench/run.ts` exits when it gets them.
  const endWithBench = (): boolean => child.kill('SIGTERM');
  process.once('exit', endWithBench);
  child.once('exit', () => process.off('exit', endWithBench));
  const target = { pid: child.pid ?? 0, host: '127.0.0.1', port, tls, token: TOKENS.user, adminToken: TOKENS.admin };
  await waitUntilReady(child, port);
  const roles = () => new Map(readdirSync(threads).map(id => [id, readFileSync(join(threads, id), 'utf8')]));
  return { ...target, startMs: performance.now() - started, roles, close: () => stop(child) };
}

/** Sends a request as the administrator and returns the answer's body. Throws unless the status is 2xx or 409. */
export type SendAsAdmin = (method: string, path: string, body?: object) => Promise<string>;

/** Calls `use` with a function that sends requests as the administrator over one connection, one after another. */
export const withAdmin = <T>(server: Capstan, use: (send: SendAsAdmin) => Promise<T>): Promise<T> =>
  withConnection({ ...server, token: server.adminToken }, send =>
    use((method, path, body) => send(method, path, body && JSON.stringify(body))),
  );

/** `SendAsAdmin` over a new connection. */
export const sendAsAdmin = (server: Capstan, ...request: Parameters<SendAsAdmin>): Promise<string> =>
  withAdmin(server, send => send(...request));

/** Waits until the server has printed its address, which it does once it is ready. */
async function waitUntilReady(child: ChildProcess, port: number): Promise<void> {
  let output = '';
  await new Promise<void>((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`the server did not become ready:\n${output}`)), START_MS);
    const read = (chunk: Buffer): void => {
      output = (output + chunk.toString()).slice(-20_000);
      if (!output.includes(`:${port}`)) return;
      clearTimeout(timer);
      resolve();
    };
    child.stdout?.on('data', read);
    child.stderr?.on('data', read);
    child.once('exit', code => {
      clearTimeout(timer);
      reject(new Error(`the server ended with ${code}:\n${output}`));
    });
  });
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGTERM');
  await exited;
}
