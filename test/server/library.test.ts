import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Agent, request } from 'undici';
import { afterAll, describe, expect, it } from 'vitest';
import type { RunningServer } from '../../core/index.js';
import { LISTENER_NAMES } from '../listener/names.js';
import { startServer } from './library.js';
import { eventually } from '../support/eventually.js';

const agent = new Agent({ connect: { rejectUnauthorized: false } });
const memory = { storage: 'memory', port: 0 } as const;

async function call(server: RunningServer, method: 'GET' | 'POST', path: string, body?: object) {
  const headers = { authorization: `Bearer ${server.token}`, 'content-type': 'application/json' };
  const answer = await request(server.url + path, {
    method,
    dispatcher: agent,
    headers,
    body: body && JSON.stringify(body),
  });
  return {
    status: answer.statusCode,
    body: (await answer.body.json()) as { items?: { metadata: { name: string } }[] },
  };
}

/** The number of threads of this process according to the kernel. */
const threads = (): number => readdirSync('/proc/self/task').length;

afterAll(() => agent.close());

describe('the library', () => {
  it('loads plugins of the writer after those of the main thread, in which native libraries must be loaded first', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'capstan-order-'));
    const use = pathToFileURL(resolve('dist/test/server/fixtures/ordered.js')).href;
    const server = await startServer({ ...memory, plugins: [{ use, config: { file: join(directory, 'front') } }] });
    await server.close();
    rmSync(directory, { recursive: true });
  });

  it('runs two independent servers in one process', async () => {
    const [one, two] = await Promise.all([startServer(memory), startServer({ ...memory, naming: 'kubernetes' })]);
    try {
      expect(one.url).not.toBe(two.url);
      const made = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'only-here' } };
      await call(one, 'POST', '/api/v1/namespaces', {
        apiVersion: 'v1',
        kind: 'Namespace',
        metadata: { name: 'shared' },
      });
      await call(two, 'POST', '/api/v1/namespaces', {
        apiVersion: 'v1',
        kind: 'Namespace',
        metadata: { name: 'shared' },
      });
      expect((await call(one, 'POST', '/api/v1/namespaces/shared/configmaps', made)).status).toBe(201);
      expect((await call(one, 'GET', '/api/v1/namespaces/shared/configmaps/only-here')).status).toBe(200);
      expect((await call(two, 'GET', '/api/v1/namespaces/shared/configmaps/only-here')).status).toBe(404);
      const stranger = { ...two, token: one.token } as RunningServer;
      expect((await call(stranger, 'GET', '/api/v1/namespaces')).status).toBe(401);
    } finally {
      await Promise.all([one.close(), two.close()]);
    }
  });

  it('names the flag whose port is in use', async () => {
    const server = await startServer(memory);
    try {
      const port = Number(new URL(server.url).port);
      await expect(startServer({ ...memory, port })).rejects.toThrow(/in use.* choose another --secure-port/);
      await expect(startServer({ ...memory, httpPort: port })).rejects.toThrow(/in use.* choose another --http-port$/);
    } finally {
      await server.close();
    }
  });

  it.skipIf(process.platform !== 'linux').each([
    ['/proc/capstan/data', 'cannot make the directory /proc/capstan/data (ENOENT)'],
    ['/etc/passwd/data', 'cannot make the directory /etc/passwd/data (ENOTDIR)'],
    ['/etc/passwd', '/etc/passwd is not a directory'],
  ])('refuses the data directory %s, which cannot be created', async (dataDir, message) => {
    await expect(startServer({ ...memory, dataDir })).rejects.toThrow(`--data-dir: ${message}`);
  });

  it.skipIf(process.platform !== 'linux')('leaves no thread behind after close()', async () => {
    // The first server of a process starts the process-wide threads of native libraries, which remain and are counted
    // before.
    await (await startServer(memory)).close();
    const before = threads();
    const servers = await Promise.all([startServer(memory), startServer(memory)]);
    expect(threads()).toBeGreaterThan(before);
    await Promise.all(servers.map(server => server.close()));
    // A thread that has ended is listed until the system has removed it.
    await eventually(threads, count => count === before);
  });

  it('accepts no connections on any port while requests in flight are completed', async () => {
    const server = await startServer({ ...memory, httpPort: 0 });
    const { port } = new URL(server.httpUrl!);
    const busy = connect(Number(port), '127.0.0.1');
    let answer = '';
    busy.on('data', part => (answer += part.toString()));
    const ended = new Promise(done => busy.once('close', done));
    busy.write(`POST /api/v1/namespaces HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${server.token}\r\n`);
    busy.write('content-type: application/json\r\ncontent-length: 28\r\n\r\n{"metadata":{"na');
    await eventually(async () => {
      const metrics = await request(`${server.url}/metrics`, {
        dispatcher: agent,
        headers: { authorization: `Bearer ${server.token}` },
      });
      return (await metrics.body.text()).includes('inflight_requests{request_kind="mutating"} 1');
    });
    const closed = server.close();
    const late = new Agent({ connect: { rejectUnauthorized: false } });
    for (const url of [server.url, server.httpUrl!])
      await expect(request(`${url}/livez`, { dispatcher: late })).rejects.toThrow();
    await late.close();
    busy.write('me":"busy"}}');
    await ended;
    expect(answer).toMatch(/^HTTP\/1.1 201 /);
    await closed;
  });

  it('closes once, whatever the number of calls', async () => {
    const server = await startServer(memory);
    const first = server.close();
    expect(server.close()).toBe(first);
    await first;
    await expect(request(`${server.url}/livez`, { dispatcher: agent })).rejects.toThrow();
  });

  it.each([undefined, 'front', 'pool', 'control'])(
    'releases the plugins of every thread, even if a release fails (%s)',
    async failing => {
      const directory = mkdtempSync(join(tmpdir(), 'capstan-releasing-'));
      const file = join(directory, 'released');
      const use = pathToFileURL(resolve('dist/test/server/fixtures/releasing.js')).href;
      const before = threads();
      const server = await startServer({ ...memory, plugins: [{ use, config: { file, failing } }] });
      const isReady = async (): Promise<boolean> => {
        const answer = await request(`${server.url}/readyz`, { dispatcher: agent });
        await answer.body.dump();
        return answer.statusCode === 200;
      };
      await eventually(isReady);
      await server.close();
      const released = new Set(readFileSync(file, 'utf8').trim().split('\n'));
      rmSync(directory, { recursive: true });
      expect(released).toEqual(new Set(['front', 'pool', 'control']));
      if (process.platform === 'linux') expect(threads()).toBeLessThanOrEqual(before);
    },
  );

  it('leaves no timer or socket: a program ends on its own after close()', async () => {
    const library = pathToFileURL(resolve('dist/core/index.js')).href;
    const program = `const { startServer } = await import(${JSON.stringify(library)});
      const server = await startServer({ storage: 'memory', port: 0, listener: '${LISTENER_NAMES[0]}' });
      await server.close();
      console.log('closed');`;
    const directory = mkdtempSync(join(tmpdir(), 'capstan-program-'));
    const file = join(directory, 'program.mjs');
    writeFileSync(file, program);
    const run = new Promise<string>((done, fail) => {
      execFile(process.execPath, [file], { timeout: 100_000 }, (error, out, err) =>
        error ? fail(new Error(`${error.message}\n${err}`)) : done(out + err),
      );
    });
    const printed = await run.finally(() => rmSync(directory, { recursive: true }));
    expect(printed.trim()).toBe('closed');
  });
});
