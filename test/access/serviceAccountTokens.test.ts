import { createPublicKey, generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { decodeJwt, type JWTPayload, SignJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Api } from '../api/support.js';
import { MERGE } from '../support/mediaTypes.js';
import { textOf } from '../support/values.js';

/** A server with its own data directory, whose key the tests use to forge tokens. */
let api: Api;
let directory: string;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'capstan-tokens-'));
  api = await Api.start({ dataDir: directory, storage: 'memory' });
  // The first request for a token makes the key of the server, which takes up to a second of CPU time.
  await api.until(async () => (await requestToken('default')).status === 201);
});
afterAll(async () => {
  await api?.close();
  rmSync(directory, { recursive: true, force: true });
});

const CORE = '/api/v1/namespaces/default';
const SELF = '/apis/authentication.k8s.io/v1/selfsubjectreviews';
const REVIEW = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' };

const account = async (name: string): Promise<void> => {
  const body = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name } };
  expect((await api.post(`${CORE}/serviceaccounts`, body)).status).toBe(201);
};
const requestToken = (name: string, spec: object = {}) =>
  api.post(`${CORE}/serviceaccounts/${name}/token`, {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenRequest',
    spec,
  });
const tokenOf = async (name: string, spec: object = {}): Promise<string> =>
  textOf((await requestToken(name, spec)).body.status!.token);
const statusWith = async (token: string): Promise<number> => (await api.post(SELF, REVIEW, { token })).status;

const pod = (name: string, serviceAccountName: string): object => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name },
  spec: { serviceAccountName, nodeName: 'n1', containers: [{ name: 'c', image: 'i' }] },
});

describe('a token of a service account', () => {
  test('names its user, groups, pod and node [A081] [A082] [A195]', async () => {
    await account('robot');
    const made = await api.post(`${CORE}/pods`, pod('p', 'robot'));
    const token = await tokenOf('robot', { boundObjectRef: { kind: 'Pod', apiVersion: 'v1', name: 'p' } });
    const { body } = await api.post(SELF, REVIEW, { token });
    const user = body.status!.userInfo!;
    expect(user).toMatchObject({
      username: 'system:serviceaccount:default:robot',
      groups: ['system:serviceaccounts', 'system:serviceaccounts:default', 'system:authenticated'],
    });
    expect(user.extra).toMatchObject({
      'authentication.kubernetes.io/credential-id': [`JTI=${decodeJwt(token).jti}`],
      'authentication.kubernetes.io/pod-name': ['p'],
      'authentication.kubernetes.io/pod-uid': [made.body.metadata!.uid],
      'authentication.kubernetes.io/node-name': ['n1'],
    });
  });

  test.each([
    ['pods', (name: string) => pod(name, 'default'), 'Pod', CORE],
    ['secrets', (name: string) => ({ apiVersion: 'v1', kind: 'Secret', metadata: { name } }), 'Secret', CORE],
    ['nodes', (name: string) => ({ apiVersion: 'v1', kind: 'Node', metadata: { name } }), 'Node', '/api/v1'],
  ])(
    'that is bound to one of the %s becomes invalid with its deletion, even if it is created again [A194] [A208x]',
    async (plural, make, kind, base) => {
      const path = `${base}/${plural}`;
      expect((await api.post(path, make('bound'))).status).toBe(201);
      const token = await tokenOf('default', { boundObjectRef: { kind, apiVersion: 'v1', name: 'bound' } });
      expect(await statusWith(token)).toBe(201);
      expect(await statusWith(token)).toBe(201);
      await api.delete(`${path}/bound`, { gracePeriodSeconds: 0 });
      expect(await statusWith(token)).toBe(401);
      expect((await api.post(path, make('bound'))).status).toBe(201);
      expect(await statusWith(token)).toBe(401);
      await api.delete(`${path}/bound`, { gracePeriodSeconds: 0 });
    },
  );

  test('becomes invalid as soon as its account is deleted, also on connections that have used it [A194]', async () => {
    await account('short');
    const token = await tokenOf('short');
    for (let i = 0; i < 3; i++) expect((await api.get('/version', { token })).status).toBe(200);
    await api.delete(`${CORE}/serviceaccounts/short`);
    expect((await api.get('/version', { token })).status).toBe(401);
    await account('short');
    expect((await api.get('/version', { token })).status).toBe(401);
  });

  test('is valid for its audiences alone, which a review can ask for [A038] [A039]', async () => {
    const token = await tokenOf('default', { audiences: ['there', 'elsewhere'] });
    expect(await statusWith(token)).toBe(401);
    const review = async (audiences?: string[]) =>
      (
        await api.post('/apis/authentication.k8s.io/v1/tokenreviews', {
          apiVersion: 'authentication.k8s.io/v1',
          kind: 'TokenReview',
          spec: { token, audiences },
        })
      ).body.status;
    expect(await review(['elsewhere', 'x', 'there'])).toMatchObject({
      authenticated: true,
      audiences: ['elsewhere', 'there'],
    });
    const why = 'token audiences ["there" "elsewhere"] is invalid for the target audiences';
    const refused = (asked: string) => ({ user: {}, error: `[invalid bearer token, ${why} ${asked}]` });
    expect(await review(['x', 'y'])).toEqual(refused('["x" "y"]'));
    expect(await review()).toEqual(refused('["https://kubernetes.default.svc"]'));
  });

  test('cannot be requested for a pod of another account, an unknown object, or another uid', async () => {
    await account('other');
    await api.post(`${CORE}/pods`, pod('of-default', 'default'));
    const bound = async (reference: object) =>
      (await requestToken('other', { boundObjectRef: { apiVersion: 'v1', ...reference } })).status;
    expect(await bound({ kind: 'Pod', name: 'of-default' })).toBe(400);
    expect(await bound({ kind: 'Pod', name: 'none' })).toBe(404);
    expect(await bound({ kind: 'Pod' })).toBe(400);
    expect(await bound({ kind: 'ConfigMap', name: 'x' })).toBe(400);
    await api.post(`${CORE}/secrets`, { apiVersion: 'v1', kind: 'Secret', metadata: { name: 's' } });
    expect(await bound({ kind: 'Secret', name: 's', uid: 'no' })).toBe(409);
  });

  test('of a pod is valid for a year if 3607 seconds were requested, and says when it should be replaced', async () => {
    await api.post(`${CORE}/pods`, pod('old', 'default'));
    const boundObjectRef = { kind: 'Pod', apiVersion: 'v1', name: 'old' };
    const claims = decodeJwt(await tokenOf('default', { expirationSeconds: 3607, boundObjectRef }));
    expect(claims.exp! - claims.iat!).toBe(365 * 24 * 3600);
    expect((claims['kubernetes.io'] as { warnafter: number }).warnafter - claims.iat!).toBe(3607);
    const plain = decodeJwt(await tokenOf('default', { expirationSeconds: 3607 }));
    expect(plain.exp! - plain.iat!).toBe(3607);
  });
});

/** The value of a counter. */
const metric = async (name: string): Promise<number> => {
  const { text } = await api.get('/metrics', { accept: '*/*' });
  return Number(new RegExp(`^${name} (\\d+)`, 'm').exec(text)?.[1]);
};

test('a token in a secret becomes invalid with the secret; its first use on a day is recorded', async () => {
  await account('legacy');
  const metadata = { name: 'kept', annotations: { 'kubernetes.io/service-account.name': 'legacy' } };
  await api.made(`${CORE}/secrets`, { metadata, type: 'kubernetes.io/service-account-token' });
  const secret = async () => (await api.get(`${CORE}/secrets/kept`)).body;
  await api.until(async () => Boolean((await secret()).data?.token));
  const token = Buffer.from(textOf((await secret()).data!.token), 'base64').toString();
  const before = await metric('serviceaccount_legacy_manual_token_uses_total');
  expect(await statusWith(token)).toBe(201);
  expect(await metric('serviceaccount_legacy_manual_token_uses_total')).toBe(before + 1);
  const lastUsed = async () => (await secret()).metadata!.labels?.['kubernetes.io/legacy-token-last-used'];
  await api.until(async () => (await lastUsed()) !== undefined);
  expect(await lastUsed()).toBe(new Date().toISOString().slice(0, 10));
  const labels = { 'kubernetes.io/legacy-token-invalid-since': '2026-01-01' };
  await api.patch(`${CORE}/secrets/kept`, MERGE, { metadata: { labels } });
  expect(await statusWith(token)).toBe(401);
});

const key = () => readFileSync(join(directory, 'pki', 'service-account.key'), 'utf8');
const valid = async (): Promise<JWTPayload> => decodeJwt(await tokenOf('default'));
const signed = async (claims: JWTPayload, change: JWTPayload = {}): Promise<string> => {
  const { createPrivateKey } = await import('node:crypto');
  return new SignJWT({ ...claims, ...change }).setProtectedHeader({ alg: 'RS256' }).sign(createPrivateKey(key()));
};

test('a token that should have been replaced is accepted and counted', async () => {
  const claims = await valid();
  const own = claims['kubernetes.io'] as object;
  const stale = await signed(claims, { 'kubernetes.io': { ...own, warnafter: claims.iat! - 100 } });
  const before = await metric('serviceaccount_stale_tokens_total');
  expect(await statusWith(stale)).toBe(201);
  expect(await metric('serviceaccount_stale_tokens_total')).toBe(before + 1);
});

describe('a forged token is answered with 401', () => {
  test('but a token with correct claims, which the next tests break, is accepted', async () => {
    expect(await statusWith(await signed(await valid()))).toBe(201);
  });

  test.each([
    ['expired', { exp: 1000 }],
    ['not valid yet', { nbf: 4e9 }],
    ['issued in the future', { iat: 4e9 }],
    ['of another issuer', { iss: 'https://other.example.com' }],
    ['of no issuer', { iss: undefined }],
    ['for nobody', { aud: [] }],
    ['without an account', { 'kubernetes.io': { namespace: 'default' } }],
    ['of another uid', { 'kubernetes.io': { namespace: 'default', serviceaccount: { name: 'default', uid: 'x' } } }],
    ['without a uid', { 'kubernetes.io': { namespace: 'default', serviceaccount: { name: 'none' } } }],
  ] as [string, JWTPayload][])('%s', async (_what, change) => {
    expect(await statusWith(await signed(await valid(), change))).toBe(401);
  });

  test('if it is signed by another key, by none, or with the public key as an HMAC secret', async () => {
    const claims = await valid();
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const other = await new SignJWT(claims).setProtectedHeader({ alg: 'RS256' }).sign(privateKey);
    const pem = createPublicKey(key()).export({ type: 'spki', format: 'pem' }) as string;
    const confused = await new SignJWT(claims).setProtectedHeader({ alg: 'HS256' }).sign(Buffer.from(pem));
    const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
    const unsigned = `${part({ alg: 'none' })}.${part(claims)}.`;
    for (const token of [other, confused, unsigned, 'a.b.c', '..', 'x', `${other}.x`])
      expect([token.slice(0, 8), await statusWith(token)]).toEqual([token.slice(0, 8), 401]);
  });
});

test('the issuer publishes its keys to service accounts only', async () => {
  const token = await tokenOf('default');
  const { body, headers } = await api.get('/openid/v1/jwks', { token, accept: '*/*' });
  expect(headers['content-type']).toBe('application/jwk-set+json');
  expect(body.keys).toMatchObject([{ kty: 'RSA', alg: 'RS256', use: 'sig' }]);
  expect((await api.get('/openid/v1/jwks', { token: '' })).status).toBe(403);
  expect((await api.get('/openid/v1/jwks', { accept: 'application/json' })).status).toBe(406);
  const { body: configuration } = await api.get('/.well-known/openid-configuration', { token });
  expect(configuration.issuer).toBe(decodeJwt(token).iss);
  expect(configuration.jwks_uri).toBe(`${api.server.url}/openid/v1/jwks`);
});

test('keys, issuers, audiences and the longest lifetime can be configured [A191 A192]', async () => {
  const own = mkdtempSync(join(tmpdir(), 'capstan-keys-'));
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const { publicKey, privateKey: oldKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  writeFileSync(join(own, 'sign.pem'), privateKey.export({ type: 'sec1', format: 'pem' }));
  writeFileSync(join(own, 'old.pem'), publicKey.export({ type: 'spki', format: 'pem' }));
  const other = await Api.start({
    serviceAccountIssuer: ['https://issuer.example.com', 'https://old.example.com'],
    serviceAccountSigningKeyFile: join(own, 'sign.pem'),
    serviceAccountKeyFile: [join(own, 'sign.pem'), join(own, 'old.pem')],
    serviceAccountMaxTokenExpiration: 3_600_000,
    apiAudiences: ['api'],
  });
  try {
    await other.until(async () => (await other.get(`${CORE}/serviceaccounts/default`)).status === 200);
    const spec = { expirationSeconds: 7200 };
    const answer = await other.post(`${CORE}/serviceaccounts/default/token`, { spec });
    expect(answer.headers.warning).toContain('requested expiration of 7200 seconds shortened to 3600 seconds');
    const claims = decodeJwt(textOf(answer.body.status!.token));
    expect(claims).toMatchObject({ iss: 'https://issuer.example.com', aud: ['api'] });
    const { body } = await other.get('/openid/v1/jwks');
    expect((body.keys as unknown as { alg: string }[]).map(({ alg }) => alg)).toEqual(['ES256', 'RS256']);
    const old = await new SignJWT(claims).setProtectedHeader({ alg: 'RS256' }).sign(oldKey);
    for (const token of [textOf(answer.body.status!.token), old])
      expect((await other.get(`${CORE}/serviceaccounts/default`, { token })).status).toBe(403);
  } finally {
    await other.close();
    rmSync(own, { recursive: true, force: true });
  }
});

test.each([
  [{ serviceAccountIssuer: ['a', 'a'] }, '--service-account-issuer'],
  [{ serviceAccountIssuer: [':a'] }, '--service-account-issuer'],
  [{ serviceAccountJwksUri: 'http://x' }, '--service-account-jwks-uri'],
  [{ serviceAccountMaxTokenExpiration: 60_000 }, '--service-account-max-token-expiration'],
  [{ serviceAccountSigningKeyFile: '/nonexistent' }, '--service-account-signing-key-file'],
  [{ serviceAccountKeyFile: ['/nonexistent'] }, '--service-account-key-file'],
  [{ serviceAccountKeyFile: [import.meta.filename] }, 'holds no RSA or ECDSA key'],
])('an invalid setting fails the start with an error that names it: %j', async (settings, named) => {
  await expect(Api.start(settings)).rejects.toThrow(named);
});
