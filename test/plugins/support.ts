import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Agent, request } from 'undici';
import { addCertificates } from '../support/certificates.js';
import { MERGE } from '../support/mediaTypes.js';

/** An export of a fixture module, as a configuration names it. */
export const fixture = (name: string, exported = 'default'): string =>
  `${pathToFileURL(resolve(`dist/test/plugins/fixtures/${name}.js`)).href}#${exported}`;

/** An answer; `body` is the parsed JSON. */
export interface Answer {
  readonly status: number;
  readonly text: string;
  readonly headers: { readonly [name: string]: string | string[] | undefined };
  readonly body: {
    readonly message?: string;
    readonly reason?: string;
    readonly metadata: { readonly labels?: object; readonly resourceVersion?: string };
    readonly details?: { readonly causes?: readonly { readonly field: string; readonly message: string }[] };
  };
}

/** The JSON of a text; empty for other texts, and for the events of a watch. */
function bodyOf(text: string): Answer['body'] {
  try {
    return JSON.parse(text) as Answer['body'];
  } catch {
    return {} as Answer['body'];
  }
}

/** A log record. */
export interface LogRecord {
  readonly name: string;
  readonly level: string;
  readonly message: string;
  readonly stack?: string;
}

/** `capstan serve` with a configuration file, in its own process. */
export class ConfiguredServer {
  readonly directory = mkdtempSync(join(tmpdir(), 'capstan-plugins-'));
  readonly #agent = new Agent({ connect: { rejectUnauthorized: false } });
  #child!: ChildProcess;
  #url = '';
  token = '';
  /** The output on standard output, and on standard error. */
  output = '';
  errors = '';

  /**
   * Starts the server; `settings` are those of the configuration file. Rejects with the output if it ends before it is
   * ready.
   */
  async start(settings: object, environment: NodeJS.ProcessEnv = {}, flags: readonly string[] = []): Promise<this> {
    return await this.startWith([`--config=${this.configure(settings)}`, ...flags], environment);
  }

  /** Like `start`, only with flags. */
  async startWith(flags: readonly string[], environment: NodeJS.ProcessEnv = {}): Promise<this> {
    await addCertificates(join(this.directory, 'data'));
    this.#child = spawn(process.execPath, [resolve('dist/core/command/main.js'), 'serve', ...flags], {
      stdio: ['ignore', 'pipe', 'pipe'],
      cwd: this.directory,
      env: { ...process.env, ...environment },
    });
    this.#child.stderr!.on('data', (chunk: Buffer) => (this.errors += chunk.toString()));
    this.#url = await new Promise<string>((done, fail) => {
      this.#child.once('close', code => fail(new Error(`ended with ${code}:\n${this.output}${this.errors}`)));
      this.#child.stdout!.on('data', (chunk: Buffer) => {
        this.output += chunk.toString();
        const found = /listening on (https:\S+)/.exec(this.output)?.[1];
        if (found && this.output.includes('ready in')) done(found);
      });
    });
    this.token = readFileSync(join(this.directory, 'data/pki/admin-token.csv'), 'utf8').split(',')[0]!;
    return this;
  }

  /** Writes the configuration file with these settings, in addition to those of all tests. Returns its path. */
  configure(settings: object): string {
    const config = join(this.directory, 'config.yaml');
    const own = {
      storageBackend: 'memory',
      naming: 'kubernetes',
      securePort: 0,
      dataDir: join(this.directory, 'data'),
    };
    writeFileSync(config, JSON.stringify({ ...own, ...settings }));
    return config;
  }

  /** Records of the log. */
  get log(): LogRecord[] {
    return this.errors
      .split('\n')
      .filter(line => line.startsWith('{'))
      .map(line => JSON.parse(line) as LogRecord);
  }

  /** Stops the server with a signal and returns its exit code. */
  end(): Promise<number | null> {
    this.#child.kill('SIGTERM');
    return this.exited();
  }

  /** Kills the server. */
  kill(): void {
    this.#child.kill('SIGKILL');
  }

  /** The exit code, when the server has ended. */
  async exited(): Promise<number | null> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) await once(this.#child, 'exit');
    return this.#child.exitCode;
  }

  async dispose(): Promise<void> {
    this.#child?.kill('SIGKILL');
    await this.#agent.destroy();
    rmSync(this.directory, { recursive: true, force: true });
  }

  /** A request as the administrator, unless `headers` contain credentials. */
  async call(
    method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE',
    path: string,
    {
      body,
      headers = {},
      signal,
    }: {
      readonly body?: object;
      readonly headers?: { readonly [name: string]: string };
      readonly signal?: AbortSignal;
    } = {},
  ): Promise<Answer> {
    const answer = await request(this.#url + path, {
      method,
      dispatcher: this.#agent,
      headers: {
        authorization: `Bearer ${this.token}`,
        'content-type': method === 'PATCH' ? MERGE : 'application/json',
        ...headers,
      },
      body: body && JSON.stringify(body),
      signal,
    });
    const text = await answer.body.text();
    return {
      status: answer.statusCode,
      headers: answer.headers,
      text,
      body: bodyOf(text),
    };
  }

  /** A GET whose answer is read piece by piece. */
  stream(path: string, signal?: AbortSignal): { text: string; isOpen: boolean } {
    const found = { text: '', isOpen: true };
    const take = async (): Promise<void> => {
      const headers = { authorization: `Bearer ${this.token}` };
      const { body } = await request(this.#url + path, { dispatcher: this.#agent, headers, signal });
      for await (const piece of body) found.text += String(piece);
    };
    const end = (): void => void (found.isOpen = false);
    take().then(end, end);
    return found;
  }

  /** The value of a counter with these labels; 0 if there is none. */
  async counter(name: string, labels: { readonly [label: string]: string }): Promise<number> {
    const { text } = await this.call('GET', '/metrics');
    const pairs = Object.entries(labels).map(([label, value]) => `${label}="${value}"`);
    const series = pairs.length > 0 ? `${name}{${pairs.join(',')}} ` : `${name} `;
    const line = text.split('\n').find(one => one.startsWith(series));
    return line ? Number(line.slice(series.length)) : 0;
  }
}
