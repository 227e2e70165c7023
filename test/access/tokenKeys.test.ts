import { generateKeyPairSync } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { serviceAccountConfig } from '../../core/server/serviceAccounts.js';
import { DEFAULTS } from '../../core/server/settings.js';
import type { ServiceAccountConfig } from '../../plugins/authn/serviceAccount/config.js';
import { tokenKeys } from '../../plugins/authn/serviceAccount/tokenKeys.js';
import { Api } from '../api/support.js';
import { textOf } from '../support/values.js';

describe("the server's own key for tokens", () => {
  let directory: string;
  let file: string;
  const configOf = (change: Partial<ServiceAccountConfig> = {}): ServiceAccountConfig => ({
    issuers: ['https://issuer.example.com'],
    audiences: ['api'],
    keyFiles: [file],
    signingKeyFile: file,
    makesKey: true,
    extend: true,
    lookup: true,
    host: 'localhost',
    ...change,
  });

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'capstan-keys-'));
    file = join(directory, 'own', 'service-account.key');
    mkdirSync(join(directory, 'own'));
  });
  afterEach(() => rmSync(directory, { recursive: true, force: true }));

  it('is created when it is first needed, and kept', async () => {
    const keys = tokenKeys(configOf());
    expect(existsSync(file)).toBe(false);
    const { signing, verifying } = await keys();
    expect(signing.alg).toBe('RS256');
    expect(verifying.map(({ kid }) => kid)).toEqual([signing.kid]);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const later = await tokenKeys(configOf())();
    expect(later.signing.kid).toBe(signing.kid);
  });

  it('is the same for all threads that create it at the same time, and no temporary files remain', async () => {
    const threads = Array.from({ length: 4 }, () => tokenKeys(configOf()));
    const kids = (await Promise.all(threads.map(keys => keys()))).map(({ signing }) => signing.kid);
    expect(new Set(kids).size).toBe(1);
    expect((await tokenKeys(configOf())()).signing.kid).toBe(kids[0]);
    expect(readdirSync(join(directory, 'own'))).toEqual(['service-account.key']);
  });

  it('is created later if it cannot be written the first time', async () => {
    const keys = tokenKeys(configOf());
    rmSync(join(directory, 'own'), { recursive: true });
    await expect(keys()).rejects.toThrow('ENOENT');
    mkdirSync(join(directory, 'own'));
    expect((await keys()).verifying).toHaveLength(1);
  });

  it('is not created if a signing key is configured, and a configured key that is missing is an error', () => {
    expect(() => tokenKeys(configOf({ makesKey: false }))).toThrow(`${file}: cannot read the key file`);
    expect(existsSync(file)).toBe(false);
  });

  it('does not hide other keys that are unusable at the start', () => {
    const other = join(directory, 'other.pem');
    writeFileSync(other, 'junk');
    expect(() => tokenKeys(configOf({ keyFiles: [file, other] }))).toThrow(`${other}: holds no RSA or ECDSA key`);
  });

  it('verifies tokens together with other keys, RSA or ECDSA, private or public, each of which counts once [A191]', async () => {
    const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const other = join(directory, 'other.pem');
    writeFileSync(other, publicKey.export({ type: 'spki', format: 'pem' }));
    const { verifying } = await tokenKeys(configOf({ keyFiles: [file, other, other] }))();
    expect(verifying.map(({ alg }) => alg)).toEqual(['RS256', 'ES256']);
  });
});

describe('the key files of a server', () => {
  const keyFilesOf = (settings: object) =>
    serviceAccountConfig({ ...DEFAULTS, naming: 'kubernetes', ...settings }, 'own.key', 'localhost').keyFiles;

  it('are that of its certificate and its own key file, unless others are configured [A193]', () => {
    const serving = { tlsCertFile: 'tls.crt', tlsPrivateKeyFile: 'tls.key' };
    expect(keyFilesOf({})).toEqual(['own.key']);
    expect(keyFilesOf(serving)).toEqual(['own.key', 'tls.key']);
    expect(keyFilesOf({ ...serving, serviceAccountKeyFile: ['a.pem', 'b.pem'] })).toEqual([
      'own.key',
      'a.pem',
      'b.pem',
    ]);
  });
});

describe('a new server', () => {
  it('has a key for tokens once it publishes or uses one, and not before', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'capstan-keys-'));
    const file = join(directory, 'pki', 'service-account.key');
    const api = await Api.start({ dataDir: directory, storage: 'memory' });
    try {
      expect(existsSync(file)).toBe(false);
      const [published] = (await api.get('/openid/v1/jwks')).body.keys as unknown as { kid: string }[];
      expect(existsSync(file)).toBe(true);
      const account = '/api/v1/namespaces/default/serviceaccounts/default';
      await api.until(async () => (await api.get(account)).status === 200);
      const token = textOf((await api.post(`${account}/token`, { spec: {} })).body.status!.token);
      const header = JSON.parse(Buffer.from(token.split('.')[0]!, 'base64url').toString()) as { kid: string };
      expect(header.kid).toBe(published!.kid);
      expect((await api.get(account, { token })).status).toBe(403);
    } finally {
      await api.close();
      rmSync(directory, { recursive: true, force: true });
    }
  });
});
