import { mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { type Log, StoreError, Unavailable } from '../../core/api/index.js';
import type { RunningServer } from '../../core/index.js';
import { KMS_REASON_CHARACTERS } from '../../core/limits.js';
import { namingOf } from '../../core/naming.js';
import { encryptedValues } from '../../core/services/encryption/index.js';
import type { EncryptionRule, GivenCipher } from '../../core/services/encryption/file.js';
import { KmsCipher } from '../../core/services/encryption/kms/cipher.js';
import { KmsCiphers } from '../../core/services/encryption/kms/ciphers.js';
import { KmsHealth } from '../../core/services/encryption/kms/health.js';
import { SEALED_SEED, SEALED_VALUE } from '../../core/services/encryption/kms/protocol.js';
import { startServer } from '../server/library.js';
import { eventually, eventuallyPasses } from '../support/eventually.js';
import { partly } from '../support/values.js';
import { type Etcd, etcdWanted, startEtcd } from './etcd.js';
import { TestKmsPlugin } from './kmsPlugin.js';

const folder = mkdtempSync(join(tmpdir(), 'capstan-kms-'));
afterAll(() => rmSync(folder, { recursive: true }));
let sockets = 0;

const newPlugin = (): TestKmsPlugin => new TestKmsPlugin(join(folder, `${++sockets}.sock`));

async function plugin(): Promise<TestKmsPlugin> {
  const started = await newPlugin().start();
  onTestFinished(() => started.stop());
  return started;
}

const VALUE = Buffer.from('{"kind":"Secret"}');
const silent = partly<Log>({ info: () => undefined, error: () => undefined });
const ignore = (): void => undefined;

/** A cipher; each server has its own. */
function cipherOf({ endpoint }: TestKmsPlugin, timeoutMs = 3000, calls: string[] = []): KmsCipher {
  const cipher = new KmsCipher({ name: 'k', endpoint, timeoutMs }, silent, (method, code) =>
    calls.push(`${method} ${code}`),
  );
  onTestFinished(() => cipher.close());
  return cipher;
}

const started = async (...parameters: Parameters<typeof cipherOf>): Promise<KmsCipher> => {
  const cipher = cipherOf(...parameters);
  await cipher.start();
  return cipher;
};

const read = async (cipher: KmsCipher, bytes: Uint8Array, name = 'a'): Promise<string> => {
  await cipher.prepare(bytes);
  return Buffer.from(cipher.decrypt(name, bytes)).toString();
};

/** The rules of a file whose Secrets are encrypted by a plugin. */
const rulesOf = ({ endpoint }: { readonly endpoint: string }, timeoutMs = 3000): EncryptionRule<GivenCipher>[] => [
  {
    resources: ['secrets.'],
    keys: [{ provider: 'kms', version: 'v2', name: 'k', cipher: { name: 'k', endpoint, timeoutMs } }],
  },
];

const keyIn = (bytes: Uint8Array): string => SEALED_SEED.decode(SEALED_VALUE.decode(bytes).seed).key_id;

describe('values under a key management plugin', () => {
  it('can be read by other servers, only with their own name', async () => {
    const kms = await plugin();
    const bytes = (await started(kms)).encrypt('a', VALUE);
    const other = cipherOf(kms);
    expect(await read(other, bytes)).toBe(VALUE.toString());
    expect(() => other.decrypt('b', bytes)).toThrow();
    for (const at of [bytes.length - 1, bytes.length - 20]) {
      const changed = Buffer.from(bytes);
      changed[at]! ^= 1;
      expect(() => other.decrypt('a', changed)).toThrow();
    }
    expect(bytes.includes(VALUE)).toBe(false);
  });

  it('need one plugin call for each seed, and none for each value', async () => {
    const kms = await plugin();
    const cipher = await started(kms);
    const values = Array.from({ length: 50 }, (_, i) => cipher.encrypt(`v${i}`, VALUE));
    const other = cipherOf(kms);
    await Promise.all(values.map(bytes => other.prepare(bytes)));
    for (const [i, bytes] of values.entries()) expect(await read(other, bytes, `v${i}`)).toBe(VALUE.toString());
    expect(kms.calls.filter(name => name !== 'Status')).toEqual(['Encrypt', 'Decrypt']);
  });

  it('are written with the current key of the plugin, and read with former keys', async () => {
    const kms = await plugin();
    const cipher = await started(kms);
    const before = cipher.encrypt('a', VALUE);
    await cipher.refresh();
    expect(keyIn(cipher.encrypt('a', VALUE))).toBe('key-1');
    kms.rotate();
    await cipher.refresh();
    const after = cipher.encrypt('a', VALUE);
    expect([keyIn(before), keyIn(after)]).toEqual(['key-1', 'key-2']);
    const other = cipherOf(kms);
    expect([await read(other, before), await read(other, after)]).toEqual([VALUE.toString(), VALUE.toString()]);
  });

  it('are written and read while the plugin is unavailable, except for values with unknown seeds', async () => {
    const kms = await plugin();
    const [cipher, other] = [await started(kms, 300), await started(kms, 300)];
    const unknown = other.encrypt('a', VALUE);
    kms.stop();
    kms.rotate();
    await cipher.refresh();
    expect(await read(cipher, cipher.encrypt('a', VALUE))).toBe(VALUE.toString());
    await expect(cipher.prepare(unknown)).rejects.toBeInstanceOf(Unavailable);
    await kms.start();
    // The time limit of a call includes that of the connection, which is retried after up to a second.
    await eventuallyPasses(async () => expect(await read(cipher, unknown)).toBe(VALUE.toString()));
    await eventuallyPasses(async () => {
      await cipher.refresh();
      expect(keyIn(cipher.encrypt('a', VALUE))).toBe('key-2');
    });
  });

  it('wait for a slow plugin up to its time limit', async () => {
    const kms = await plugin();
    const calls: string[] = [];
    const bytes = (await started(kms)).encrypt('a', VALUE);
    const other = cipherOf(kms, 250, calls);
    kms.delayMs = 60_000;
    await expect(other.prepare(bytes)).rejects.toThrow('the KMS plugin k at unix://');
    expect(calls).toEqual(['/v2.KeyManagementService/Decrypt DEADLINE_EXCEEDED']);
    kms.delayMs = 20;
    await eventuallyPasses(async () => expect(await read(other, bytes)).toBe(VALUE.toString()));
  });

  it('whose key the plugin no longer has are refused with its reason, and can be read once it has the key again', async () => {
    const kms = await plugin();
    const bytes = (await started(kms)).encrypt('a', VALUE);
    const other = cipherOf(kms);
    const key = kms.keys.get('key-1')!;
    kms.keys.delete('key-1');
    await other.prepare(bytes);
    expect(() => other.decrypt('a', bytes)).toThrow(StoreError);
    expect(() => other.decrypt('a', bytes)).toThrow('there is no key key-1');
    // The seed is requested again when a value is read, but not several times for each value.
    kms.calls.length = 0;
    await other.prepare(bytes);
    expect(kms.calls).toEqual(['Decrypt']);
    kms.keys.set('key-1', key);
    expect(await read(other, bytes)).toBe(VALUE.toString());
  });

  it.each([
    [{ healthz: 'the backend is away' }, 'is not healthy: the backend is away'],
    [{ version: 'v1beta1' }, 'speaks version "v1beta1" of the protocol: it must be v2'],
    [{ current: '' }, 'has no key'],
  ])('are not written with a plugin that reports %j', async (state, message) => {
    const kms = Object.assign(await plugin(), state);
    await expect(started(kms)).rejects.toThrow(message);
    const health = new KmsHealth(async () => rulesOf(kms));
    onTestFinished(() => health.close());
    await expect(health.check()).rejects.toThrow(message);
  });

  it('are refused with a reason of limited length', async () => {
    const kms = await plugin();
    const reason = 'x'.repeat(2 * KMS_REASON_CHARACTERS);
    kms.healthz = reason;
    const shown = new RegExp(`[^x]x{${KMS_REASON_CHARACTERS}}$`);
    await expect(started(kms)).rejects.toThrow(shown);
    kms.healthz = 'ok';
    const bytes = (await started(kms)).encrypt('a', VALUE);
    kms.keys.delete('key-1');
    kms.refusal = reason;
    const other = cipherOf(kms);
    await other.prepare(bytes);
    expect(() => other.decrypt('a', bytes)).toThrow(shown);
  });

  it('are no longer awaited when the store closes', async () => {
    const ciphers = new KmsCiphers(silent, ignore);
    const resolved = ciphers.resolve(rulesOf(newPlugin(), 300));
    ciphers.close();
    await expect(resolved).rejects.toBeInstanceOf(StoreError);
    const later = new KmsCiphers(silent, ignore);
    const waiting = later.resolve(rulesOf(newPlugin(), 300));
    setTimeout(() => later.close(), 50);
    await expect(waiting).rejects.toBeInstanceOf(StoreError);
  });
});

describe('a file that names key management plugins', () => {
  it('is used once its plugin answers, although the file has not changed since', async () => {
    const [former, next] = [await plugin(), await plugin()];
    const errors: string[] = [];
    const releases: (() => void)[] = [];
    onTestFinished(() => {
      for (const release of releases) release();
    });
    const values = await encryptedValues(fileOf('later', former), {
      log: partly<Log>({ info: ignore, error: (_fields: object, message: string) => errors.push(message) }),
      naming: namingOf('kubernetes'),
      now: Date.now,
      observe: ignore,
      onClose: release => releases.push(release),
    });
    const stored = () => values.encode('core/secrets/a/b', Buffer.from(VALUE), 0).toString('latin1');
    next.healthz = 'it is starting';
    fileOf('later', next, former);
    await eventually(() => errors.some(message => message.includes('it is starting')));
    expect(stored()).toContain(`enc:kms:v2:${nameOf(former)}:`);
    next.healthz = 'ok';
    await eventually(() => stored().includes(`enc:kms:v2:${nameOf(next)}:`));
  });

  it('has its plugins checked while it cannot be read, since they remain in use', async () => {
    const kms = Object.assign(await plugin(), { healthz: 'away' });
    let isBad = false;
    const health = new KmsHealth(async () => {
      if (isBad) throw new Error('the file is bad');
      return rulesOf(kms);
    });
    onTestFinished(() => health.close());
    await expect(health.check()).rejects.toThrow('away');
    isBad = true;
    kms.healthz = 'ok';
    await eventuallyPasses(() => health.check());
  });
});

const TEXT = 'only-for-some-eyes';
const FORMS = [TEXT, Buffer.from(TEXT).toString('base64')];

/** The name of a plugin in encryption files. */
const nameOf = ({ socket }: TestKmsPlugin): string => `k${socket.replaceAll(/\D/g, '')}`;

/** Writes an encryption file whose Secrets are encrypted by plugins, and returns its path. */
function fileOf(name: string, ...plugins: readonly TestKmsPlugin[]): string {
  const file = join(folder, `${name}.json`);
  const providers = plugins.map(one => ({
    kms: { apiVersion: 'v2', name: nameOf(one), endpoint: one.endpoint, timeout: '1s' },
  }));
  const configuration = {
    apiVersion: 'apiserver.config.k8s.io/v1',
    kind: 'EncryptionConfiguration',
    resources: [{ resources: ['secrets'], providers: [...providers, { identity: {} }] }],
  };
  writeFileSync(`${file}.new`, JSON.stringify(configuration));
  renameSync(`${file}.new`, file);
  return file;
}

const secrets = (server: RunningServer) => server.client.resource('secrets');
const secret = (name: string) => ({ metadata: { namespace: 'default', name }, stringData: { password: TEXT } });

const ready = async (settings: Parameters<typeof startServer>[0]): Promise<RunningServer> => {
  const server = await startServer({ port: 0, naming: 'kubernetes', ...settings });
  onTestFinished(() => server.close());
  await eventually(() => server.client.resource('namespaces').get({ name: 'default' }));
  return server;
};

const filesHaving = (path: string, text: string): string[] =>
  readdirSync(path, { recursive: true, encoding: 'utf8' })
    .map(name => join(path, name))
    .filter(name => statSync(name).isFile() && readFileSync(name).includes(text));

describe('a server with a key management plugin', () => {
  it('leaves no plain text, waits for the plugin at its start, and reports when it is unavailable', async () => {
    const kms = await plugin();
    const dataDir = join(folder, 'data');
    const settings = { storage: 'rocksdb', dataDir, encryptionProviderConfig: fileOf('one', kms) } as const;
    const first = await ready(settings);
    await secrets(first).create(secret('a'));
    const snapshot = await first.request('GET', '/store/snapshot');
    expect([snapshot.status, FORMS.some(form => snapshot.text.includes(form))]).toEqual([200, false]);
    await first.close();
    expect(FORMS.flatMap(form => filesHaving(dataDir, form))).toEqual([]);
    expect(filesHaving(dataDir, 'enc:kms:v2:k').length).toBeGreaterThan(0);

    kms.stop();
    const starting = ready(settings);
    await kms.start();
    const server = await starting;
    expect(await secrets(server).get({ namespace: 'default', name: 'a' })).toMatchObject({
      data: { password: FORMS[1] },
    });
    const health = async () => (await server.request('GET', '/healthz/kms-providers')).status;
    expect(await health()).toBe(200);
    kms.stop();
    await eventually(health, status => status === 500);
    await secrets(server).create(secret('b'));
    await kms.start();
    await eventually(health, status => status === 200);

    // The next plugin takes over when the file names it first.
    const next = await plugin();
    fileOf('one', next, kms);
    await eventually(async () => {
      await secrets(server).create(secret(`c${Math.random()}`.replace('.', '')));
      return filesHaving(dataDir, `enc:kms:v2:${nameOf(next)}:`).length > 0;
    });
    const metrics = await eventually(
      async () => (await server.request('GET', '/metrics')).text,
      text => text.includes('apiserver_encryption_config_controller_automatic_reloads_total{'),
    );
    expect(metrics).toMatch(/automatic_reloads_total\{[^}]*status="success"[^}]*\} 1/);
    expect(metrics).toMatch(
      /apiserver_envelope_encryption_kms_operations_latency_seconds_count\{[^}]*method_name="\/v2.KeyManagementService\/Encrypt"/,
    );
  });

  describe.skipIf(!etcdWanted)('over etcd (skipped without the program `etcd`)', () => {
    it('reads values that other servers have encrypted with their own seeds', async () => {
      const etcd: Etcd = await startEtcd();
      onTestFinished(() => etcd.stop());
      const kms = await plugin();
      const settings = {
        storage: 'etcd',
        etcdServers: [etcd.url],
        etcdPrefix: '/kms',
        encryptionProviderConfig: fileOf('etcd', kms),
      } as const;
      const [a, b] = await Promise.all([ready(settings), ready(settings)]);
      await secrets(a).create(secret('a'));
      await secrets(b).create(secret('b'));
      for (const server of [a, b])
        for (const name of ['a', 'b'])
          expect(await secrets(server).get({ namespace: 'default', name })).toMatchObject({
            data: { password: FORMS[1] },
          });
    });
  });
});
