import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { ProxyCredentials } from '../../core/services/aggregation/proxyCredentials.js';
import { authority } from '../authn/certificates.js';

const folder = mkdtempSync(join(tmpdir(), 'capstan-proxy-credentials-'));
const files = { cert: join(folder, 'proxy.crt'), key: join(folder, 'proxy.key') };
beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }));
afterEach(() => {
  vi.useRealTimers();
  rmSync(folder, { recursive: true, force: true });
});

test('while the certificate for other servers is replaced, the previous one is used', async () => {
  const ca = await authority('ca');
  const [first, second] = [await ca.issue('first'), await ca.issue('second')];
  const credentials = new ProxyCredentials(files);
  await expect(credentials.current()).rejects.toThrow('ENOENT');
  writeFileSync(files.cert, first.certificate);
  writeFileSync(files.key, first.key.slice(0, 40));
  await expect(credentials.current()).rejects.toThrow(`${files.key} must be a private key`);
  writeFileSync(files.key, first.key);
  expect(await credentials.current()).toEqual(first);
  const later = () => {
    vi.advanceTimersByTime(31_000);
    return credentials.current();
  };
  writeFileSync(files.cert, second.certificate.slice(0, 100));
  expect(await later()).toEqual(first);
  writeFileSync(files.cert, second.certificate);
  expect(await later()).toEqual(first);
  writeFileSync(files.key, second.key);
  expect(await later()).toEqual(second);
});
