import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test, vi } from 'vitest';
import { Api } from '../api/support.js';
import { ServerProcess } from './processes.js';
import { eventually } from '../support/eventually.js';

const fixture = (name: string): string => pathToFileURL(resolve(`dist/test/server/fixtures/${name}.js`)).href;

test.each(['exit', 'throw'])(
  'a pool thread that ends (%s) is replaced; a request that ends two threads gets 500',
  async crash => {
    const api = await Api.start({ plugins: [{ use: fixture('crashing') }] });
    try {
      const maps = `${await api.namespace('crash')}/configmaps`;
      for (const name of ['first', 'second']) {
        // Users whose requests end threads are slowed down, and no others.
        const headers = { 'impersonate-user': name, 'impersonate-group': 'system:masters' };
        const { status, body } = await api.post(maps, { metadata: { name, labels: { crash } } }, { headers });
        expect([status, body.reason]).toEqual([500, 'InternalError']);
        await api.until(async () => (await api.post(maps, { metadata: { name } })).status === 201);
      }
      expect((await api.get(`${maps}/first`)).status).toBe(200);
    } finally {
      await api.close();
    }
  },
);

test('a pool thread that runs out of memory is replaced; a request that ends two threads gets 500', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'capstan-memory-'));
  const config = join(directory, 'config.yaml');
  writeFileSync(config, `plugins: [{ use: ${JSON.stringify(fixture('crashing'))} }]\n`);
  const flags = ['--storage-backend=memory', `--config=${config}`];
  const server = await new ServerProcess(flags, ['--max-old-space-size=128']).start();
  try {
    const maps = '/api/v1/namespaces/default/configmaps';
    const create = async (labels?: object): Promise<number> =>
      (await server.call('POST', maps, { metadata: { generateName: 'memory-', labels } })).status;
    await eventually(async () => (await create()) === 201);
    expect(await create({ crash: 'memory' })).toBe(500);
    await eventually(async () => (await create()) === 201);
  } finally {
    await server.dispose();
    rmSync(directory, { recursive: true });
  }
});

test('a controller that throws at events does not affect other controllers or the server', async () => {
  const api = await Api.start({ plugins: [{ use: fixture('faultyController') }] });
  try {
    const failed = vi.fn();
    void api.server.failed.then(failed);
    const namespace = await api.namespace('faulty');
    await api.until(async () => (await api.get(`${namespace}/serviceaccounts/default`)).status === 200);
    expect(failed).not.toHaveBeenCalled();
  } finally {
    await api.close();
  }
});

test('a writer that fails ends the server with exit code 1 and the reason', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'capstan-crash-'));
  const trigger = mkdtempSync(join(directory, 'trigger-'));
  const flags = ['--storage-backend=memory', '--secure-port=0', `--data-dir=${join(directory, 'data')}`];
  const child = spawn(
    process.execPath,
    ['--import', fixture('failingWriter'), resolve('dist/core/command/main.js'), 'serve', ...flags],
    {
      env: { ...process.env, CAPSTAN_TEST_FAIL_WRITER: trigger },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  const printed: string[] = [];
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => printed.push(chunk.toString()));
  const ended = once(child, 'close');
  await eventually(() => printed.join('').includes('ready in'));
  writeFileSync(join(trigger, 'now'), '');
  const [code] = await ended;
  rmSync(directory, { recursive: true });
  expect(code).toBe(1);
  expect(printed.join('').trim().split('\n').at(-1)).toContain('the writer was made to fail');
});
