import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test, vi } from 'vitest';
import { Api } from '../api/support.js';
import { startServer } from '../server/library.js';
import { fixture } from './support.js';

/* Sentences of docs/guides/plugins.md about post-start hooks. */

const directory = mkdtempSync(join(tmpdir(), 'capstan-hooks-'));
afterAll(() => rmSync(directory, { recursive: true }));
const [begun, file] = [join(directory, 'begun'), join(directory, 'file')];
const after = `${file}.after`;
const plugins = [{ use: fixture('startHooks'), config: { begun, file } }];
const until = (holds: () => boolean): Promise<unknown> => vi.waitUntil(holds, { timeout: 100_000 });

test('a server with a new store does not listen before the controllers of its hooks have started', async () => {
  let isListening = false;
  const started = Api.start({ storage: 'rocksdb', dataDir: join(directory, 'data'), plugins }).then(api => {
    isListening = true;
    return api;
  });
  await until(() => existsSync(begun));
  expect(isListening).toBe(false);
  writeFileSync(file, '');
  const api = await started;
  try {
    expect((await api.get('/readyz/poststarthook/test/slow')).text).toBe('ok');
    expect((await api.get('/readyz?verbose')).text).toContain(
      '[+]poststarthook/start-controllers ok\n[+]poststarthook/rbac/bootstrap-roles ok\n[+]poststarthook/test/slow ok\n',
    );
    // A controller that starts after the hook on a new store.
    await until(() => existsSync(after));
    expect(readFileSync(after, 'utf8')).toBe('late');
  } finally {
    await api.close();
  }
});

test('a server with a used store listens and is live in its grace period, but is not ready before they have started [R323]', async () => {
  rmSync(file);
  rmSync(begun);
  const settings = { storage: 'rocksdb', dataDir: join(directory, 'data'), plugins } as const;
  const api = await Api.start({ ...settings, livezGracePeriod: 3_600_000 });
  try {
    await until(() => existsSync(begun));
    expect((await api.get('/livez')).status).toBe(200);
    const hook = () => api.get('/readyz/poststarthook/test/slow');
    expect([(await hook()).status, (await api.get('/readyz')).status]).toEqual([500, 500]);
    writeFileSync(file, '');
    await api.until(async () => (await hook()).status === 200);
  } finally {
    await api.close();
  }
});

test('a hook whose controller does not run fails the start', async () => {
  const start = startServer({
    storage: 'memory',
    port: 0,
    plugins: [{ use: fixture('startHooks', 'waitsForNobody') }],
  });
  await expect(start).rejects.toThrow(
    'plugins: test/waits-for-nobody: the post-start hook test/nobody waits for the controller nobody, which does not run',
  );
});

test.each(['throws', 'rejects', 'a number', 'no list', 'a million controllers'])(
  'an invalid hook, %s, fails the start with the name of its plugin',
  async config => {
    const start = startServer({
      storage: 'memory',
      port: 0,
      plugins: [{ use: fixture('startHooks', 'lies'), config }],
    });
    await expect(start).rejects.toThrow(/test\/lying-hook/);
  },
);

test('two hooks with the same name fail the start', async () => {
  const start = startServer({ storage: 'memory', port: 0, plugins: [{ use: fixture('startHooks', 'takenName') }] });
  await expect(start).rejects.toThrow(
    'plugins: test/taken-name: the plugin controllers/rbac-bootstrap has the post-start hook rbac/bootstrap-roles already',
  );
});
