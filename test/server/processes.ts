import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Agent, request } from 'undici';
import { addCertificates } from '../support/certificates.js';

const COMMAND = resolve('dist/core/command/main.js');

/** The members of objects that the tests use. */
export interface Seen {
  readonly kind?: string;
  readonly code?: number;
  readonly reason?: string;
  readonly message?: string;
  readonly metadata: {
    readonly name: string;
    readonly resourceVersion: string;
    readonly continue?: string;
    readonly uid?: string;
  };
  readonly data?: Record<string, string>;
  readonly spec?: Record<string, unknown>;
  readonly items?: readonly Seen[];
}

export interface Answer {
  readonly status: number;
  readonly body: Seen;
}

/** A watch event, as read from the stream. */
export interface WatchEvent {
  readonly type: string;
  readonly object: Seen;
}

/** A watch with functions that wait for events. */
export interface Watching {
  readonly events: WatchEvent[];
  /** Resolves once the condition holds for the events. */
  until(holds: (events: readonly WatchEvent[]) => boolean): Promise<void>;
  close(): void;
}

/** The built server in its own process, with its own data directory. */
export class ServerProcess {
  #agent = new Agent({ connect: { rejectUnauthorized: false }, connections: 64, bodyTimeout: 0, headersTimeout: 0 });
  readonly directory = mkdtempSync(join(tmpdir(), 'capstan-process-'));
  #child: ChildProcess | undefined;
  #url = '';
  #token = '';
  output = '';

  constructor(
    readonly flags: readonly string[],
    readonly nodeFlags: readonly string[] = [],
    /** A program that takes the arguments of `capstan serve`, and prints the same lines. */
    readonly program = COMMAND,
  ) {}

  /** The URL of the server; '' until it has started. */
  get url(): string {
    return this.#url;
  }

  /** The id of the process. */
  get pid(): number | undefined {
    return this.#child?.pid;
  }

  async start(): Promise<this> {
    const args = [
      ...this.nodeFlags,
      this.program,
      'serve',
      '--naming=kubernetes',
      '--secure-port=0',
      '-v=1',
      `--data-dir=${this.directory}`,
      ...this.flags,
    ];
    await addCertificates(this.directory);
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    this.#child = child;
    this.output = '';
    this.#url = await new Promise<string>((done, fail) => {
      const read = (chunk: Buffer): void => {
        this.output += chunk.toString();
        const found = /listening on (https:\S+)/.exec(this.output)?.[1];
        if (found && this.output.includes('ready in')) done(found);
      };
      child.stdout!.on('data', read);
      child.stderr!.on('data', read);
      child.once('exit', code => fail(new Error(`the server ended with ${code}:\n${this.output}`)));
    });
    this.#token = readFileSync(join(this.directory, 'pki', 'admin-token.csv'), 'utf8').split(',')[0]!;
    return this;
  }

  /** Stops the process and resolves with its exit code. */
  async end(signal: 'SIGKILL' | 'SIGTERM' = 'SIGTERM'): Promise<number | null> {
    this.#child?.kill(signal);
    return await this.ended();
  }

  /** Resolves with the exit code once the process has ended. */
  async ended(): Promise<number | null> {
    const child = this.#child;
    if (child && child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    return child?.exitCode ?? null;
  }

  async dispose(): Promise<void> {
    await this.end('SIGKILL');
    await this.#agent.destroy();
    rmSync(this.directory, { recursive: true, force: true });
  }

  async call(method: 'GET' | 'POST' | 'PUT' | 'DELETE', path: string, body?: object): Promise<Answer> {
    const { statusCode, text } = await this.text(method, path, body);
    return { status: statusCode, body: JSON.parse(text) as Seen };
  }

  async text(
    method: 'GET' | 'POST' | 'PUT' | 'DELETE',
    path: string,
    body?: object,
  ): Promise<{ statusCode: number; text: string }> {
    const headers = { authorization: `Bearer ${this.#token}`, 'content-type': 'application/json' };
    const answer = await request(this.#url + path, {
      method,
      dispatcher: this.#agent,
      headers,
      body: body && JSON.stringify(body),
    });
    return { statusCode: answer.statusCode, text: await answer.body.text() };
  }

  /** Opens a watch. Resolves when the server has accepted it. */
  async watch(path: string): Promise<Watching> {
    const stop = new AbortController();
    const headers = { authorization: `Bearer ${this.#token}` };
    const answer = await request(this.#url + path, { dispatcher: this.#agent, headers, signal: stop.signal });
    if (answer.statusCode !== 200) throw new Error(`watch: ${answer.statusCode} ${await answer.body.text()}`);
    const events: WatchEvent[] = [];
    const waiting = new Set<() => void>();
    let rest = '';
    answer.body.on('data', (chunk: Buffer) => {
      const lines = (rest + chunk.toString()).split('\n');
      rest = lines.pop()!;
      for (const line of lines) if (line.trim() !== '') events.push(JSON.parse(line) as WatchEvent);
      for (const look of waiting) look();
    });
    answer.body.on('error', () => {});
    return {
      events,
      until: holds =>
        new Promise(resolve => {
          const look = (): void => {
            if (!holds(events)) return;
            waiting.delete(look);
            resolve();
          };
          waiting.add(look);
          look();
        }),
      close: () => stop.abort(),
    };
  }
}
