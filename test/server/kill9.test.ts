import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Agent, request } from 'undici';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { eventually } from '../support/eventually.js';

const COMMAND = resolve('dist/core/command/main.js');
/** Number of acknowledged creates after which the server is killed, and of clients that create concurrently. */
const ACKNOWLEDGED = 300;
const CLIENTS = 24;

interface Stored {
  readonly metadata: { readonly name: string; readonly uid: string; readonly resourceVersion: string };
  readonly data: { readonly n: string };
}

interface Process {
  readonly child: ChildProcess;
  readonly url: string;
  readonly token: string;
}

let directory: string;
let agent: Agent;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'capstan-kill-'));
  agent = new Agent({ connect: { rejectUnauthorized: false }, connections: CLIENTS });
});

afterEach(async () => {
  await agent.destroy();
  rmSync(directory, { recursive: true, force: true });
});

/** Starts the command. Resolves when it reports that it is ready, rejects with its output if it ends before. */
async function serve(): Promise<Process> {
  const child = spawn(process.execPath, [COMMAND, 'serve', '--secure-port=0', `--data-dir=${directory}`], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  const url = await new Promise<string>((done, fail) => {
    const read = (chunk: Buffer): void => {
      output += chunk.toString();
      const found = /listening on (https:\S+)/.exec(output)?.[1];
      if (found && output.includes('ready in')) done(found);
    };
    child.stdout.on('data', read);
    child.stderr.on('data', read);
    child.once('exit', code => fail(new Error(`the server ended with ${code}:\n${output}`)));
  });
  const token = readFileSync(join(directory, 'pki', 'admin-token.csv'), 'utf8').split(',')[0]!;
  return { child, url, token };
}

async function end(server: Process, signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
  const exited = once(server.child, 'exit');
  server.child.kill(signal);
  await exited;
}

async function call(
  server: Process,
  method: 'GET' | 'POST' | 'DELETE',
  path: string,
  body?: object,
): Promise<{ status: number; body: unknown }> {
  const headers = { authorization: `Bearer ${server.token}`, 'content-type': 'application/json' };
  const answer = await request(server.url + path, {
    method,
    dispatcher: agent,
    headers,
    body: body && JSON.stringify(body),
  });
  return { status: answer.statusCode, body: await answer.body.json() };
}

const CONFIG_MAPS = '/api/v1/namespaces/survivors/configmaps';

/** Creates objects from many clients, kills the server meanwhile, and returns all acknowledged objects. */
async function createUntilKilled(server: Process): Promise<Stored[]> {
  const acknowledged: Stored[] = [];
  let next = 0;
  let killed: Promise<void> | undefined;
  const client = async (): Promise<void> => {
    for (;;) {
      const n = next++;
      const object = {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: `survivor-${n}` },
        data: { n: String(n) },
      };
      const answer = await call(server, 'POST', CONFIG_MAPS, object).catch(() => undefined);
      if (!answer) return;
      expect(answer.status).toBe(201);
      acknowledged.push(answer.body as Stored);
      if (acknowledged.length >= ACKNOWLEDGED) killed ??= end(server, 'SIGKILL');
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, client));
  await killed;
  return acknowledged;
}

describe('kill -9', () => {
  it('loses no acknowledged write, and revisions continue above', async () => {
    const first = await serve();
    const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'survivors' } };
    expect((await call(first, 'POST', '/api/v1/namespaces', namespace)).status).toBe(201);
    const acknowledged = await createUntilKilled(first);
    expect(acknowledged.length).toBeGreaterThanOrEqual(ACKNOWLEDGED);

    const second = await serve();
    try {
      const list = (await call(second, 'GET', CONFIG_MAPS)).body as {
        items: Stored[];
        metadata: { resourceVersion: string };
      };
      const found = new Map(list.items.map(item => [item.metadata.name, item]));
      const shown = (item: Stored | undefined) =>
        item && [item.metadata.uid, item.metadata.resourceVersion, item.data.n];
      for (const item of acknowledged) expect(shown(found.get(item.metadata.name))).toEqual(shown(item));
      // At most one request of each client was in flight, which may have been committed.
      expect(list.items.filter(item => item.data?.n !== undefined).length - acknowledged.length).toBeLessThanOrEqual(
        CLIENTS,
      );
      const highest = Math.max(...acknowledged.map(item => Number(item.metadata.resourceVersion)));
      expect(Number(list.metadata.resourceVersion)).toBeGreaterThanOrEqual(highest);
      const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'afterwards' } };
      const after = (await call(second, 'POST', CONFIG_MAPS, object)).body as Stored;
      expect(Number(after.metadata.resourceVersion)).toBeGreaterThan(highest);
    } finally {
      await end(second, 'SIGTERM');
    }
  });

  it('leaves quotas that are not exceeded, and can be used up completely', async () => {
    const limit = 40;
    const core = '/api/v1/namespaces/limited';
    const names = ['a', 'b', 'c'];
    const used = async (server: Process, name: string): Promise<string | undefined> => {
      const { body } = await call(server, 'GET', `${core}/resourcequotas/${name}`);
      return (body as { status?: { used?: { configmaps?: string } } }).status?.used?.configmaps;
    };
    const count = async (server: Process): Promise<number> =>
      ((await call(server, 'GET', `${core}/configmaps`)).body as { items: unknown[] }).items.length;
    const create = async (server: Process, name: string): Promise<number | undefined> =>
      (await call(server, 'POST', `${core}/configmaps`, { metadata: { name } }).catch(() => undefined))?.status;

    const first = await serve();
    await call(first, 'POST', '/api/v1/namespaces', { metadata: { name: 'limited' } });
    for (const name of names)
      await call(first, 'POST', `${core}/resourcequotas`, {
        metadata: { name },
        spec: { hard: { configmaps: String(limit) } },
      });
    for (const name of names) await eventually(async () => (await used(first, name)) !== undefined);
    let killed: Promise<void> | undefined;
    let created = 0;
    const client = async (id: number): Promise<void> => {
      for (let i = 0; ; i++) {
        const status = await create(first, `c${id}-${i}`);
        if (status === undefined) return;
        expect([201, 403]).toContain(status);
        if (status === 201 && ++created >= limit / 2) killed ??= end(first, 'SIGKILL');
        if (i % 3 === 2) await call(first, 'DELETE', `${core}/configmaps/c${id}-${i - 1}`).catch(() => undefined);
      }
    };
    await Promise.all(Array.from({ length: CLIENTS }, (_, id) => client(id)));
    await killed;

    const second = await serve();
    try {
      expect(await count(second)).toBeLessThanOrEqual(limit);
      for (const name of names)
        await eventually(async () => (await used(second, name)) === String(await count(second)));
      const left = limit - (await count(second));
      const answers = await Promise.all(Array.from({ length: left + CLIENTS }, (_, i) => create(second, `more-${i}`)));
      expect(answers.filter(status => status === 201).length).toBe(left);
      expect(await count(second)).toBe(limit);
    } finally {
      await end(second, 'SIGTERM');
    }
  });
});
