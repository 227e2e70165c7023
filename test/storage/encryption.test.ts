import { mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, it, test } from 'vitest';
import type { RunningServer } from '../../core/index.js';
import { namingOf } from '../../core/naming.js';
import { aesCbc, aesGcm, type Cipher, secretBox } from '../../core/services/encryption/ciphers.js';
import { type EncryptionRule, readEncryptionFile } from '../../core/services/encryption/file.js';
import { EncryptedValues } from '../../core/services/encryption/values.js';
import { PLAIN_VALUES } from '../../plugins/storage/values.js';
import { snapshotCommand } from '../../core/command/subcommands/snapshot.js';
import { Captured } from '../command/server.js';
import { startServer } from '../server/library.js';
import { eventually } from '../support/eventually.js';

const naming = namingOf('kubernetes');
const SECRET = Buffer.alloc(32, 7);

const ciphers: readonly (readonly [string, Cipher, Cipher])[] = [
  ['aesgcm', aesGcm(SECRET), aesGcm(Buffer.alloc(32, 8))],
  ['aescbc', aesCbc(SECRET), aesCbc(Buffer.alloc(32, 8))],
  ['secretbox', secretBox(SECRET), secretBox(Buffer.alloc(32, 8))],
];

describe.each(ciphers)('%s', (_, cipher, other) => {
  it('decrypts every value only with its own name and key', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), fc.string(), (value, name) => {
        const bytes = cipher.encrypt(name, value);
        expect(Buffer.from(cipher.decrypt(name, bytes)).equals(value)).toBe(true);
        expect(() => cipher.decrypt(`${name}x`, bytes)).toThrow();
        expect(() => other.decrypt(name, bytes)).toThrow();
      }),
      { numRuns: 50 },
    );
  });

  it('detects every changed byte, and truncation', () => {
    const bytes = cipher.encrypt('a', Buffer.from('value'));
    for (let i = 0; i < bytes.length; i++) {
      const changed = Buffer.from(bytes);
      changed[i]! ^= 1;
      expect(() => cipher.decrypt('a', changed), `byte ${i}`).toThrow();
      expect(() => cipher.decrypt('a', bytes.subarray(0, i)), `${i} bytes`).toThrow();
    }
  });

  it('encrypts the same value differently each time', () => {
    const [one, two] = [cipher.encrypt('a', Buffer.from('x')), cipher.encrypt('a', Buffer.from('x'))];
    expect(one.equals(two)).toBe(false);
  });
});

const key = (name: string, byte = 7): object => ({ name, secret: Buffer.alloc(32, byte).toString('base64') });
const fileOf = (...resources: object[]): string =>
  JSON.stringify({ apiVersion: 'apiserver.config.k8s.io/v1', kind: 'EncryptionConfiguration', resources });
const rulesOf = (...resources: object[]) => readEncryptionFile(Buffer.from(fileOf(...resources)), 'enc.yaml', naming);
/** The rules of a file without key management plugins. */
const cipherRulesOf = (...resources: object[]) => rulesOf(...resources) as readonly EncryptionRule[];

/** A provider with a key management plugin. */
const kmsOf = (endpoint: string, more: object = {}): object => ({ apiVersion: 'v2', name: 'k', endpoint, ...more });

describe('the encryption file', () => {
  it.each([
    [[], 'resources: must have at least one entry'],
    [[{ providers: [{ identity: {} }] }], 'resources[0].resources: must name at least one resource'],
    [[{ resources: ['secrets'] }], 'resources[0].providers: must have at least one provider'],
    [[{ resources: ['*'], providers: [{ identity: {} }] }], 'resources[0].resources[0]: must be a resource'],
    [
      [
        { resources: ['secrets'], providers: [{ identity: {} }] },
        { resources: ['secrets'], providers: [{ identity: {} }] },
      ],
      'resources[1].resources[0]: is named twice',
    ],
    [[{ resources: ['secrets'], providers: [{}] }], 'resources[0].providers[0]: must have exactly one of'],
    [
      [{ resources: ['secrets'], providers: [{ identity: {}, aescbc: { keys: [key('a')] } }] }],
      'resources[0].providers[0]: must have exactly one of',
    ],
    [[{ resources: ['secrets'], providers: [{ rot13: {} }] }], 'resources[0].providers[0].rot13: unknown field'],
    [
      [{ resources: ['secrets'], providers: [{ kms: { name: 'k', endpoint: 'unix:///run/k.sock' } }] }],
      'resources[0].providers[0].kms.apiVersion: must be v2; plugins for v1 are not supported',
    ],
    [
      [{ resources: ['secrets'], providers: [{ kms: { apiVersion: 'v2', name: 'a:b', endpoint: 'tcp://a' } }] }],
      'kms.name: must be a name without colons and blanks; resources[0].providers[0].kms.endpoint: must be a socket',
    ],
    [
      [{ resources: ['secrets'], providers: [{ kms: kmsOf('unix:///run/k.sock', { timeout: '0s' }) }] }],
      'kms.timeout: must be a positive duration',
    ],
    [
      [
        { resources: ['secrets'], providers: [{ kms: kmsOf('unix:///run/k.sock') }] },
        { resources: ['configmaps'], providers: [{ kms: kmsOf('unix:///run/other.sock') }] },
      ],
      'the KMS plugin k has different endpoints or timeouts',
    ],
    [[{ resources: ['secrets'], providers: [{ aesgcm: {} }] }], 'aesgcm.keys: must have at least one key'],
    [
      [{ resources: ['secrets'], providers: [{ aesgcm: { keys: [key('a'), key('a')] } }] }],
      'aesgcm.keys[1].name: is given twice',
    ],
    [
      [{ resources: ['secrets'], providers: [{ secretbox: { keys: [{ name: 'a:b', secret: 'c2hvcnQ=' }] } }] }],
      'secretbox.keys[0].name: must be a name without colons',
    ],
  ])('is refused with the invalid field: %j', (resources, message) => {
    expect(() => rulesOf(...resources)).toThrow(message);
    expect(() => rulesOf(...resources)).toThrow('enc.yaml: ');
  });

  it('never shows a secret in an error', () => {
    const secret = Buffer.from('this is too short').toString('base64');
    const providers = [{ aescbc: { keys: [{ name: 'a', secret }] } }];
    expect(() => rulesOf({ resources: ['secrets'], providers })).toThrow('must be 16, 24, 32 bytes in base64');
    expect(() => rulesOf({ resources: ['secrets'], providers })).not.toThrow(secret);
  });
});

describe('values', () => {
  const NAME = 'core/secrets/default/a';
  const record = (text: string): Buffer => Buffer.from(`header${text}`);
  const stored = (values: EncryptedValues, name = NAME): Buffer => values.encode(name, record('plain'), 6);
  const read = (values: Pick<EncryptedValues, 'decode'>, bytes: Buffer, name = NAME): string =>
    Buffer.from(values.decode(name, bytes, 6)).toString();
  const of = (...resources: object[]) => new EncryptedValues(cipherRulesOf(...resources), naming);

  it.each([
    ['secrets', 'core/secrets/default/a', true],
    ['secrets', 'core/configmaps/default/a', false],
    ['*.', 'core/configmaps/default/a', true],
    ['*.', 'apps/deployments/default/a', false],
    ['deployments.apps', 'apps/deployments/default/a', true],
    ['*.apps', 'apps/deployments/default/a', true],
    ['roles.rbac.authorization.k8s.io', 'rbac.authorization.orchestrator.io/roles/default/a', true],
    ['pandas.example.com', 'custom:example.com/pandas/default/a', true],
    ['*.*', 'custom:example.com/pandas/default/a', true],
  ])('of a rule for %s include the key %s: %s', (resource, name, isEncrypted) => {
    const values = of({ resources: [resource], providers: [{ aesgcm: { keys: [key('a')] } }] });
    expect(stored(values, name).toString('latin1').startsWith('headerenc:aesgcm:v1:a:')).toBe(isEncrypted);
    expect(read(values, stored(values, name), name)).toBe('plain');
  });

  it('follow the first rule that names their resource', () => {
    const values = of(
      { resources: ['secrets'], providers: [{ identity: {} }] },
      { resources: ['*.*'], providers: [{ aescbc: { keys: [key('a')] } }] },
    );
    expect(stored(values)).toEqual(record('plain'));
  });

  it('are written with the first key, and read with each', () => {
    const old = of({ resources: ['secrets'], providers: [{ aescbc: { keys: [key('one')] } }] });
    const next = of({
      resources: ['secrets'],
      providers: [{ secretbox: { keys: [key('two', 9)] } }, { aescbc: { keys: [key('one')] } }],
    });
    expect(read(next, stored(old))).toBe('plain');
    expect(stored(next).toString('latin1')).toContain('enc:secretbox:v1:two:');
    expect(() => read(old, stored(next))).toThrow('was encrypted with a key that is not configured');
  });

  it('that are plain are read only if identity is a provider', () => {
    const providers = [{ aesgcm: { keys: [key('a')] } }];
    expect(() => read(of({ resources: ['secrets'], providers }), record('plain'))).toThrow('no provider identity');
    const both = of({ resources: ['secrets'], providers: [...providers, { identity: {} }] });
    expect(read(both, record('plain'))).toBe('plain');
  });

  it('cannot be moved to another key, or read without the file', () => {
    const values = of({ resources: ['secrets'], providers: [{ aesgcm: { keys: [key('a')] } }] });
    expect(() => read(values, stored(values), 'core/secrets/default/b')).toThrow(
      'cannot be decrypted with the key "a"',
    );
    expect(() => read(PLAIN_VALUES, stored(values))).toThrow('--encryption-provider-config');
  });
});

describe('a server', () => {
  const folder = mkdtempSync(join(tmpdir(), 'capstan-encryption-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'encryption.yaml');
  const dataDir = join(folder, 'data');
  const TEXT = 'this-text-is-only-for-some-eyes';
  const FORMS = [TEXT, Buffer.from(TEXT).toString('base64')];
  const configure = (...keys: object[]): void => {
    writeFileSync(
      `${file}.new`,
      fileOf({ resources: ['secrets'], providers: [{ aesgcm: { keys } }, { identity: {} }] }),
    );
    renameSync(`${file}.new`, file);
  };
  const start = (directory = dataDir): Promise<RunningServer> =>
    startServer({
      storage: 'rocksdb',
      dataDir: directory,
      port: 0,
      naming: 'kubernetes',
      encryptionProviderConfig: file,
    });
  const secrets = (server: RunningServer) => server.client.resource('secrets');
  const secret = (name: string) => ({ metadata: { namespace: 'default', name }, stringData: { password: TEXT } });

  /** The files below a folder that contain the text in one of its encodings. */
  const filesWithText = (path: string): string[] => FORMS.flatMap(form => filesHaving(path, form));

  test('in memory refuses the file', async () => {
    configure(key('one'));
    await expect(startServer({ storage: 'memory', port: 0, encryptionProviderConfig: file })).rejects.toThrow(
      '--encryption-provider-config: is for stores on disk and etcd',
    );
  });

  test('leaves no plain text in any of its files or in snapshots, and reads all values after rotations', async () => {
    configure(key('one'));
    let server = await start();
    try {
      await eventually(() => server.client.resource('namespaces').get({ name: 'default' }));
      await secrets(server).create(secret('a'));
      await secrets(server).patch({ namespace: 'default', name: 'a' }, { metadata: { labels: { a: 'b' } } });
      expect(filesWithText(dataDir)).toEqual([]);
      const snapshot = await server.request('GET', '/store/snapshot');
      expect(snapshot.status).toBe(200);
      expect(snapshot.text).toContain('enc:aesgcm:v1:one:');
      expect(FORMS.filter(form => snapshot.text.includes(form))).toEqual([]);
      // In a rotation, the next key is accepted for reads before it is used for writes.
      configure(key('two', 9), key('one'));
      await eventually(async () => {
        const name = `b${Math.random()}`.replace('.', '');
        await secrets(server).create(secret(name));
        return filesHaving(dataDir, 'enc:aesgcm:v1:two:').length > 0;
      });
      await server.close();
      expect(filesWithText(dataDir)).toEqual([]);
      server = await start();
      const read = await secrets(server).get({ namespace: 'default', name: 'a' });
      expect(read).toMatchObject({ data: { password: FORMS[1] } });
      // In a restored snapshot, everything is encrypted with the first key.
      const saved = join(folder, 'snapshot');
      expect(await snapshotCommand(['save', saved, `--data-dir=${dataDir}`], new Captured())).toBe(0);
      await server.close();
      const restored = join(folder, 'restored');
      expect(await snapshotCommand(['restore', saved, `--data-dir=${restored}`], new Captured())).toBe(0);
      expect(filesWithText(folder)).toEqual([]);
      expect([...filesHaving(restored, 'enc:aesgcm:v1:one:'), ...filesHaving(restored, TEXT)]).toEqual([]);
      configure(key('two', 9));
      server = await start(restored);
      expect(await secrets(server).get({ namespace: 'default', name: 'a' })).toEqual(read);
    } finally {
      await server.close();
    }
  });
});

/** The files below a folder that contain a text. */
const filesHaving = (path: string, text: string): string[] =>
  readdirSync(path, { recursive: true, encoding: 'utf8' })
    .map(name => join(path, name))
    .filter(name => statSync(name).isFile() && readFileSync(name).includes(text));
