import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect } from 'vitest';
import { RawClient } from '../../conformance/rawClient.js';
import { addCertificates } from '../../support/certificates.js';
import type { Served } from '../fuzz/bodies.js';

/** A request as it is sent on the connection. */
export interface Sent {
  readonly method: string;
  readonly path: string;
  readonly body?: string;
  readonly headers?: readonly string[];
}

/** Concurrent connections. */
const CONNECTIONS = 8;

/** True if an answer is complete: all announced bytes have arrived or, without a Content-Length, any bytes. */
function isWhole(text: string): boolean {
  const head = text.indexOf('\r\n\r\n');
  if (head < 0) return false;
  const rest = text.length - head - 4;
  const length = /content-length: (\d+)/i.exec(text.slice(0, head))?.[1];
  return length === undefined ? rest > 0 : rest >= Number(length);
}

/**
 * A server in whose threads every look-up of `outside` on a prototype writes its stack to a file (see
 * fixtures/prototype.ts).
 */
export class TrappedServer {
  readonly #directory = mkdtempSync(join(tmpdir(), 'capstan-prototype-'));
  readonly #stacks = join(this.#directory, 'stacks');
  #child!: ChildProcess;
  #port = 0;
  token = '';

  async start(): Promise<this> {
    writeFileSync(this.#stacks, '');
    const trap = pathToFileURL(resolve('dist/test/server/fixtures/prototype.js')).href;
    const flags = ['--naming=kubernetes', '--storage-backend=memory', '--secure-port=0', '--http-port=0'];
    const program = ['--import', trap, resolve('dist/core/command/main.js'), 'serve'];
    await addCertificates(join(this.#directory, 'data'));
    this.#child = spawn(process.execPath, [...program, `--data-dir=${this.#directory}/data`, ...flags], {
      env: { ...process.env, CAPSTAN_TEST_PROTOTYPE: this.#stacks },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let printed = '';
    this.#port = await new Promise<number>((done, fail) => {
      this.#child.once('exit', code => fail(new Error(`the server ended with ${code}:\n${printed}`)));
      this.#child.stdout!.on('data', (chunk: Buffer) => {
        printed += chunk.toString();
        const found = /http:\/\/127\.0\.0\.1:(\d+)/.exec(printed)?.[1];
        if (found && printed.includes('ready in')) done(Number(found));
      });
    });
    this.token = readFileSync(`${this.#directory}/data/pki/admin-token.csv`, 'utf8').split(',')[0]!;
    return this;
  }

  async close(): Promise<void> {
    this.#child.kill('SIGKILL');
    if (this.#child.exitCode === null) await once(this.#child, 'exit');
    rmSync(this.#directory, { recursive: true });
  }

  /** The whole answer as text. Requests without an `authorization` header are sent as the administrator. */
  async send({ method, path, body, headers = [] }: Sent): Promise<string> {
    const client = await RawClient.open({ port: this.#port });
    const lines = [`${method} ${path} HTTP/1.1`, 'host: x', 'connection: close', ...headers];
    if (!headers.some(header => header.startsWith('authorization'))) lines.push(`authorization: Bearer ${this.token}`);
    if (body !== undefined) lines.push(`content-length: ${Buffer.byteLength(body)}`);
    client.send(`${lines.join('\r\n')}\r\n\r\n${body ?? ''}`);
    const text = await client.until(isWhole);
    client.socket.destroy();
    return text;
  }

  async json<T>(path: string): Promise<T> {
    return JSON.parse((await this.send({ method: 'GET', path })).split('\r\n\r\n')[1]!) as T;
  }

  /** Creates an object; fails unless it is accepted. */
  async make(path: string, object: object): Promise<void> {
    const headers = ['content-type: application/json'];
    const answer = await this.send({ method: 'POST', path, body: JSON.stringify(object), headers });
    expect(answer, `POST ${path}`).toMatch(/^HTTP\/1\.1 201/);
  }

  /** Sends the requests. Fails if one is answered with 500, or if one of them caused a look-up on a prototype. */
  async expectNoLookups(requests: Iterable<Sent>): Promise<void> {
    const queue = requests[Symbol.iterator]();
    const sender = async (): Promise<void> => {
      for (let next = queue.next(); !next.done; next = queue.next()) {
        const answer = await this.send(next.value);
        expect.soft(answer, JSON.stringify(next.value)).not.toMatch(/^HTTP\/1\.1 500/);
      }
    };
    await Promise.all(Array.from({ length: CONNECTIONS }, sender));
    const stacks = readFileSync(this.#stacks, 'utf8').split('\n\n');
    writeFileSync(this.#stacks, '');
    expect.soft([...new Set(stacks)].filter(stack => stack !== '').slice(0, 20)).toEqual([]);
  }

  /** Every resource and subresource that discovery shows. */
  async served(): Promise<Served[]> {
    const found: Served[] = [];
    const { groups } = await this.json<{ groups: { versions: { groupVersion: string }[] }[] }>('/apis');
    for (const path of ['/api/v1', ...groups.flatMap(group => group.versions.map(v => `/apis/${v.groupVersion}`))]) {
      const { resources } = await this.json<{ resources: Omit<Served, 'path'>[] }>(path);
      found.push(...resources.map(resource => ({ ...resource, path })));
    }
    return found;
  }
}
