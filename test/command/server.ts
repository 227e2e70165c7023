import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Agent, request } from 'undici';
import type { Io } from '../../core/command/serve.js';
import { addCertificates } from '../support/certificates.js';

/** The program `capstan`. */
export const COMMAND = resolve('dist/core/command/main.js');

/** The output and exit code of a command. */
export class Captured implements Io {
  readonly lines: string[] = [];
  readonly errors: string[] = [];
  out(line: string): void {
    this.lines.push(line);
  }
  err(line: string): void {
    this.errors.push(line);
  }
}

/** A server in its own process. */
export class ServerProcess {
  output = '';

  private constructor(
    readonly child: ChildProcess,
    readonly dataDir: string,
    readonly agent: Agent,
  ) {}

  /**
   * Starts a server, run by `prefix` (a program with its arguments). Rejects with its output if it ends before it is
   * ready.
   */
  static async start(
    dataDir: string,
    flags: readonly string[] = [],
    prefix: readonly string[] = [],
  ): Promise<ServerProcess> {
    const words = [...prefix, process.execPath, COMMAND, 'serve', '--secure-port=0', `--data-dir=${dataDir}`, ...flags];
    await addCertificates(dataDir, flags.includes('--naming=kubernetes') ? 'kubernetes' : 'neutral');
    const child = spawn(words[0]!, words.slice(1), { stdio: ['ignore', 'pipe', 'pipe'] });
    const agent = new Agent({ connect: { rejectUnauthorized: false } });
    const server = new ServerProcess(child, dataDir, agent);
    await new Promise<void>((done, fail) => {
      const read = (chunk: Buffer): void => {
        server.output += chunk.toString();
        if (server.output.includes('ready in')) done();
      };
      child.stdout.on('data', read);
      child.stderr.on('data', read);
      child.once('close', code => fail(new Error(`the server ended with ${code}:\n${server.output}`)));
    });
    return server;
  }

  get url(): string {
    return /listening on (https:\S+)/.exec(this.output)![1]!;
  }

  /** A request as the administrator. */
  async call<T>(
    method: 'GET' | 'POST' | 'PUT' | 'DELETE',
    path: string,
    body?: object,
  ): Promise<{ status: number; body: T }> {
    const token = readFileSync(join(this.dataDir, 'pki', 'admin-token.csv'), 'utf8').split(',')[0]!;
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const answer = await request(this.url + path, {
      method,
      dispatcher: this.agent,
      headers,
      body: body && JSON.stringify(body),
    });
    return { status: answer.statusCode, body: (await answer.body.json()) as T };
  }

  /** Creates a namespace. Retries, because the namespaces of the server itself may not exist yet. */
  async namespace(name: string): Promise<void> {
    const body = { apiVersion: 'v1', kind: 'Namespace', metadata: { name } };
    const { status } = await this.call('POST', '/api/v1/namespaces', body);
    if (status !== 201) throw new Error(`POST of a namespace: ${status}`);
  }

  /** Stops the server and resolves with its exit code. */
  async end(signal: 'SIGTERM' | 'SIGKILL' = 'SIGTERM'): Promise<number | null> {
    const closed =
      this.child.exitCode === null && this.child.signalCode === null ? once(this.child, 'exit') : undefined;
    this.child.kill(signal);
    await closed;
    await this.agent.destroy();
    return this.child.exitCode;
  }
}
