import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  closeSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { createRequire } from 'node:module';
import { Agent, request } from 'undici';

/**
 * The time limit of tests and hooks that run npm, the compiler and servers one after another, which takes minutes on a
 * busy machine.
 */
export const COMMANDS_MS = 600_000;

const execute = promisify(execFile);

/** The environment of npm as a user has it, but quiet, and with cached downloads if possible. */
const NPM = {
  ...process.env,
  npm_config_prefer_offline: 'true',
  npm_config_audit: 'false',
  npm_config_fund: 'false',
  npm_config_update_notifier: 'false',
};

/** Runs a program. Resolves with its standard output. Rejects with its whole output if it fails. */
export const run = (directory: string, program: string, ...args: readonly string[]): Promise<string> =>
  runWith({}, directory, program, ...args);

/** Like `run`, with additional environment variables. */
export async function runWith(
  variables: NodeJS.ProcessEnv,
  directory: string,
  program: string,
  ...args: readonly string[]
): Promise<string> {
  try {
    const env = { ...NPM, ...variables };
    const { stdout } = await execute(program, args, { cwd: directory, env, maxBuffer: 1 << 24 });
    return stdout;
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string };
    throw new Error(`${program} ${args.join(' ')} in ${directory}:\n${stdout}\n${stderr}`);
  }
}

/** A new folder; `remove` deletes it. */
export function newFolder(): { readonly path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), 'capstan-packages-'));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

/** Packs a package into a folder, as it is published. Resolves with the path of the tarball. */
export async function pack(directory: string, into: string, ...options: readonly string[]): Promise<string> {
  return (await packAll(directory, into, '.', ...options))[0]!;
}

/** Packs packages in folders of `directory`. Resolves with the paths of the tarballs, in the same order. */
export async function packAll(directory: string, into: string, ...args: readonly string[]): Promise<string[]> {
  const output = await run(directory, 'npm', 'pack', '--silent', '--pack-destination', into, ...args);
  return output
    .trim()
    .split('\n')
    .filter(line => line.endsWith('.tgz'))
    .map(name => join(into, name));
}

/** The time at which the newest file of the package, or the last build, was written. */
function changed(): number {
  const { files } = manifest();
  const folders = ['docs', 'examples'].flatMap(folder =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' }).map(name => join(folder, name)),
  );
  const pages = files.filter(name => name.endsWith('.md'));
  return Math.max(...['package.json', 'dist/.built', ...pages, ...folders].map(path => statSync(path).mtimeMs));
}

const manifest = () =>
  JSON.parse(readFileSync('package.json', 'utf8')) as {
    readonly version: string;
    readonly files: readonly string[];
    readonly devDependencies: Readonly<Record<string, string>>;
  };

/** The part of `fs-native-extensions` that is used here. It comes without types. */
interface Locks {
  waitForLock(fd: number): Promise<void>;
}
const { waitForLock } = createRequire(import.meta.url)('fs-native-extensions') as Locks;

/**
 * Creates a path below `dist` from the files that `make` writes into a new folder, unless it exists and `isCurrent`:
 * once, even if tests in several processes need it. The lock ends with the process that holds it.
 */
async function kept(
  path: string,
  make: (folder: string) => Promise<string>,
  isCurrent: () => boolean = () => true,
): Promise<string> {
  mkdirSync(dirname(path), { recursive: true });
  const lock = openSync(`${path}.lock`, 'w');
  try {
    await waitForLock(lock);
    if (existsSync(path) && isCurrent()) return path;
    const folder = mkdtempSync(resolve('dist/making-'));
    const made = await make(folder);
    rmSync(path, { recursive: true, force: true });
    renameSync(made, path);
    rmSync(folder, { recursive: true, force: true });
    return path;
  } finally {
    closeSync(lock);
  }
}

/** Packs the built Capstan, unless that has been done since the last build. Resolves with the path of the tarball. */
export async function packCapstan(): Promise<string> {
  const path = resolve(`dist/packed/capstan-${manifest().version}.tgz`);
  const makeIt = (folder: string) => pack(resolve('.'), folder, '--ignore-scripts');
  return await kept(path, makeIt, () => statSync(path).mtimeMs > changed());
}

/** Copies the packed Capstan into a folder. Resolves with the name of the tarball. */
export async function copyCapstan(folder: string): Promise<string> {
  const tarball = await packCapstan();
  cpSync(tarball, join(folder, basename(tarball)));
  return basename(tarball);
}

/** The tools with which packages are developed and tested. */
const TOOLS = ['typescript', '@types/node', 'zod'];

/**
 * A folder in which npm has installed Capstan and the development tools: once, since it takes ten seconds of CPU time.
 */
async function installedFolder(): Promise<string> {
  const tarball = await packCapstan();
  const path = resolve('dist/packed/installed');
  const install = async (into: string): Promise<string> => {
    const made = join(into, 'installed');
    mkdirSync(made);
    write(made, 'package.json', '{}');
    await run(made, 'npm', 'install', `./${await copyCapstan(made)}`, ...toolVersions(...TOOLS));
    return made;
  };
  return await kept(path, install, () => statSync(path).mtimeMs > statSync(tarball).mtimeMs);
}

/** The file of npm in `node_modules` that lists the packages there. */
const PRESENT = 'node_modules/.package-lock.json';

/**
 * A command that copies the packages of such a folder into the current one. Files are hard-linked, unless the
 * folder is on another disk. npm replaces files, except its own.
 */
const linkPackages = (path: string): string =>
  `{ cp -al '${path}/node_modules' . 2>/dev/null || cp -a '${path}/node_modules' .; } && ` +
  `rm ${PRESENT} && cp '${path}/${PRESENT}' ${PRESENT}`;

/**
 * Installs Capstan and the development tools in a folder, which must be empty: a copy of the packages that npm has
 * installed.
 */
export async function installCapstan(folder: string): Promise<void> {
  const path = await installedFolder();
  await run(folder, 'bash', '-c', linkPackages(path));
  const names = ['package.json', 'package-lock.json', basename(await packCapstan())];
  for (const name of names) cpSync(join(path, name), join(folder, name), { preserveTimestamps: true });
}

/** Commands in which `npm install`, in the folder of a package, finds most packages there. */
export async function withPackages(commands: string): Promise<string> {
  return commands.replace(/^npm install$/gm, `${linkPackages(await installedFolder())} && npm install`);
}

/**
 * The release of pnpm that the tests use. They install it themselves, like everything that they get from the
 * registry: as a development dependency of this project, everyone who builds it would download its 70 MB.
 */
const PNPM = 'pnpm@12.21.0';

/** Installs pnpm, unless it is installed. Resolves with environment variables that make it available. */
export async function installPnpm(): Promise<NodeJS.ProcessEnv> {
  const path = await kept(resolve(`dist/packed/${PNPM}`), async folder => {
    await run(folder, 'npm', 'install', '--prefix', folder, PNPM);
    return folder;
  });
  return { PATH: `${join(path, 'node_modules/.bin')}:${process.env['PATH']}` };
}

/** Writes a package of one module in JavaScript, and packs it. `manifest` is added to its package.json. */
export async function packModule(
  { name, source, manifest = {} }: { readonly name: string; readonly source: string; readonly manifest?: object },
  into: string,
): Promise<{ readonly folder: string; readonly tarball: string }> {
  const folder = join(into, name);
  mkdirSync(folder, { recursive: true });
  const own = { name, version: '1.0.0', type: 'module', exports: './index.js' };
  write(folder, 'package.json', JSON.stringify({ ...own, ...manifest }));
  write(folder, 'index.js', source);
  return { folder, tarball: await pack(folder, into) };
}

/** Versions of development dependencies of this project, for `npm install`. */
function toolVersions(...names: readonly string[]): string[] {
  const { devDependencies } = manifest();
  return names.map(name => `${name}@${devDependencies[name]}`);
}

/** Copies the sources of the example packages. */
export function copyExamples(into: string): string[] {
  const names = readdirSync('examples/packages');
  for (const name of names)
    cpSync(join('examples/packages', name), join(into, name), {
      recursive: true,
      filter: path => !/\/(dist|node_modules)$/.test(path),
    });
  return names;
}

/** A free port of the loopback address. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return port;
}

/**
 * Ends the processes of a command when its standard input ends, which happens when its first process or the test runner
 * has ended in any way. A command has its own process group, which signals to the runner or to its group do not reach.
 */
const END_GROUP = '{ cat; kill -TERM 0; } <&0 >/dev/null 2>&1 &';

/** A server that was started by a command, and ends with the tests. */
export class StartedCommand {
  output = '';
  readonly #child: ChildProcess;
  #wake: () => void = () => undefined;

  constructor(directory: string, command: string, variables: NodeJS.ProcessEnv = {}) {
    const env = { ...NPM, ...variables };
    this.#child = spawn('bash', ['-c', `${END_GROUP} exec ${command} </dev/null`], {
      cwd: directory,
      env,
      detached: true,
    });
    for (const stream of [this.#child.stdout!, this.#child.stderr!])
      stream.on('data', (chunk: Buffer) => {
        this.output += chunk.toString();
        this.#wake();
      });
    this.#child.once('close', () => this.#wake());
  }

  /** The exit code or the signal that ended it; null while it runs. */
  get #end(): number | string | null {
    return this.#child.exitCode ?? this.#child.signalCode;
  }

  /** Resolves when it has written a text, or when a condition, which is evaluated after each output, is true. */
  async until(wanted: string | (() => boolean)): Promise<void> {
    const isThere = typeof wanted === 'string' ? () => this.output.includes(wanted) : wanted;
    while (!isThere()) {
      if (this.#end !== null) throw new Error(`ended with ${this.#end}:\n${this.output}`);
      await new Promise<void>(resolve => {
        this.#wake = resolve;
      });
    }
  }

  /** Ends it as Ctrl-C in a terminal does. */
  async end(): Promise<void> {
    if (this.#end !== null) return;
    const ended = once(this.#child, 'close');
    // Signals all processes of the command, since npx starts another one.
    process.kill(-this.#child.pid!, 'SIGINT');
    await ended;
  }
}

/** An answer of a server; `body` is the parsed JSON, or empty. */
export interface Answer {
  readonly status: number;
  readonly body: { readonly message?: string; readonly spec?: { readonly containers: readonly object[] } };
}

/** `capstan serve` from a folder where packages are installed, with a store in memory and its files in `folder`. */
export class InstalledServer {
  readonly #agent = new Agent({ connect: { rejectUnauthorized: false } });
  readonly #command: StartedCommand;

  /** `command` is that of Capstan, and is started in `directory`; `plugins` are YAML or JSON. */
  constructor(
    readonly folder: string,
    command: string,
    plugins: string,
    {
      directory = folder,
      variables = {},
    }: { readonly directory?: string; readonly variables?: NodeJS.ProcessEnv } = {},
  ) {
    write(folder, 'config.yaml', `securePort: 0\nstorageBackend: memory\nplugins: ${plugins}\n`);
    const config = join(folder, 'config.yaml');
    this.#command = new StartedCommand(
      directory,
      `${command} serve --config=${config} --data-dir=${join(folder, 'data')}`,
      variables,
    );
  }

  /** Resolves when the server is ready; rejects with its output if it ends before. */
  async ready(): Promise<this> {
    await this.#command.until('ready in');
    return this;
  }

  /** The whole output of the server so far. */
  get output(): string {
    return this.#command.output;
  }

  /** A request, as the administrator unless `token` is another one. */
  async call(method: 'GET' | 'POST', path: string, body?: object, token = this.#adminToken): Promise<Answer> {
    const url = /listening on (https:\S+)/.exec(this.output)?.[1];
    const answer = await request(url + path, {
      method,
      dispatcher: this.#agent,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: body && JSON.stringify(body),
    });
    const text = await answer.body.text();
    return { status: answer.statusCode, body: (text.startsWith('{') ? JSON.parse(text) : {}) as Answer['body'] };
  }

  async end(): Promise<void> {
    await this.#command.end();
    await this.#agent.destroy();
  }

  get #adminToken(): string {
    return readFileSync(join(this.folder, 'data/pki/admin-token.csv'), 'utf8').split(',')[0]!;
  }
}

/** Writes a text file. */
export const write = (directory: string, name: string, text: string): void =>
  writeFileSync(join(directory, name), text);
