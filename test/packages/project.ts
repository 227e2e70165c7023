import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';

const execute = promisify(execFile);

/** As a user's npm, but quiet, and with what was downloaded before where it can be. */
const NPM = {
  ...process.env,
  npm_config_prefer_offline: 'true',
  npm_config_audit: 'false',
  npm_config_fund: 'false',
  npm_config_update_notifier: 'false',
};

/** Runs a program and gives its standard output. Rejects with all that it wrote if it fails. */
export async function run(directory: string, program: string, ...args: readonly string[]): Promise<string> {
  try {
    const { stdout } = await execute(program, args, { cwd: directory, env: NPM, maxBuffer: 1 << 24 });
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

/** Packs a package into a folder, as it is published, and gives the path of the tarball. */
export async function pack(directory: string, into: string): Promise<string> {
  const output = await run(directory, 'npm', 'pack', '--pack-destination', into);
  return join(into, output.trim().split('\n').at(-1)!);
}

/** Packs Capstan as it is built. */
export const packCapstan = (into: string): Promise<string> => pack(resolve('.'), into);

/** Versions of development dependencies of this project, for `npm install`. */
export function toolVersions(...names: readonly string[]): string[] {
  const { devDependencies } = JSON.parse(readFileSync('package.json', 'utf8')) as {
    devDependencies: Readonly<Record<string, string>>;
  };
  return names.map(name => `${name}@${devDependencies[name]}`);
}

/** Copies the example packages, without what was built. */
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

/** A server that was started by a command; `until` it has written a text. */
export class StartedCommand {
  output = '';
  readonly #child: ChildProcess;
  #wake: () => void = () => undefined;

  constructor(directory: string, command: string) {
    this.#child = spawn('bash', ['-c', `exec ${command}`], { cwd: directory, env: NPM, detached: true });
    for (const stream of [this.#child.stdout!, this.#child.stderr!])
      stream.on('data', (chunk: Buffer) => {
        this.output += chunk.toString();
        this.#wake();
      });
    this.#child.once('close', () => this.#wake());
  }

  async until(text: string): Promise<void> {
    while (!this.output.includes(text)) {
      if (this.#child.exitCode !== null) throw new Error(`ended with ${this.#child.exitCode}:\n${this.output}`);
      await new Promise<void>(resolve => {
        this.#wake = resolve;
      });
    }
  }

  /** Ends it as a terminal does. */
  async end(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const ended = once(this.#child, 'close');
    // All processes of the command, as npx starts another one.
    process.kill(-this.#child.pid!, 'SIGINT');
    await ended;
  }
}

/** Writes a text file. */
export const write = (directory: string, name: string, text: string): void =>
  writeFileSync(join(directory, name), text);
