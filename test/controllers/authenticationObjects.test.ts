import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { ConfigMap } from '../../kinds/v1.js';
import { issue } from '../../core/services/pki/certificate.js';
import { authenticationObjects } from '../../plugins/controllers/accounts/authenticationObjects.js';
import { FakeServer } from './fakeHost.js';
import { startControllers, waitForIdle } from './settle.js';

const MINUTE_MS = 60_000;
let server: FakeServer;
let folder: string;
beforeEach(() => {
  server = new FakeServer();
  folder = mkdtempSync(join(tmpdir(), 'capstan-published-'));
});
afterEach(() => {
  server.close();
  rmSync(folder, { recursive: true });
});

const published = (): ConfigMap['data'] =>
  [...server.objects.values()]
    .map(object => object as ConfigMap)
    .find(({ metadata }) => metadata.name === 'extension-apiserver-authentication')?.data;

async function newCa(commonName: string): Promise<string> {
  const period = { notBefore: Date.now(), notAfter: Date.now() + MINUTE_MS };
  return (await issue({ subject: { commonName }, use: 'ca', ...period })).certificate;
}

test('changed CAs of clients are published within a minute, and files that cannot be used change nothing', async () => {
  const [former, later] = [await newCa('former'), await newCa('later')];
  const file = join(folder, 'clients.crt');
  writeFileSync(file, former);
  server.create('v1', 'Namespace', { name: 'kube-system' });
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] });
  try {
    const config = { clientCa: former, proxies: { other: '[]' }, files: { 'client-ca-file': file } };
    await startControllers(server, authenticationObjects, config);
    await waitForIdle(server);
    expect(published()).toEqual({ 'client-ca-file': former, other: '[]' });
    for (const [text, expected] of [
      [later, later],
      ['no certificate', later],
      [former, former],
    ]) {
      writeFileSync(file, text!);
      await vi.advanceTimersByTimeAsync(MINUTE_MS);
      await waitForIdle(server);
      expect(published()).toEqual({ 'client-ca-file': expected, other: '[]' });
    }
  } finally {
    vi.useRealTimers();
  }
});
