import { createHmac, generateKeyPairSync, sign } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request as httpsRequest } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { exportJWK } from 'jose';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { RunningServer } from '../../core/index.js';
import { startServer } from '../server/library.js';
import { authority } from './certificates.js';
import { signingKey, TestProvider } from './provider.js';

/* Attacks against tokens of providers, headers of proxies and paths without credentials. */

const REVIEWS = '/apis/authentication.orchestrator.io/v1';
const own = signingKey('own');
const other = signingKey('other');
let folder: string;
let provider: TestProvider;
let server: RunningServer;
const certificates: Record<string, { cert: string; key: string }> = {};

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'attacks-'));
  const ca = await authority('provider-ca');
  provider = await TestProvider.start([own], ca);
  // Two issuers at two paths of one provider, each with its own key.
  const serve = (path: string, key: typeof own): void => {
    provider.handlers.set(`${path}/.well-known/openid-configuration`, (_, response) =>
      response.end(JSON.stringify({ issuer: provider.url + path, jwks_uri: `${provider.url}${path}/keys` })),
    );
    provider.handlers.set(`${path}/keys`, async (_, response) =>
      response.end(JSON.stringify({ keys: [{ ...(await exportJWK(key.publicKey)), kid: key.kid, alg: key.alg }] })),
    );
  };
  serve('/a', own);
  serve('/b', other);
  const issuer = (path: string) => ({
    issuer: { url: provider.url + path, audiences: [`client${path}`], certificateAuthority: ca.certificate },
    claimMappings: {
      username: { claim: 'sub', prefix: `${path}:` },
      groups: { claim: 'groups', prefix: `${path}:` },
    },
  });
  const [proxies, twins] = [await authority('proxy-ca'), await authority('proxy-ca')];
  for (const [name, of, hosts] of [
    ['proxy', proxies, undefined],
    ['server', proxies, ['front-proxy']],
    ['twin', twins, undefined],
  ] as const) {
    const issued = await of.issue('front-proxy', hosts);
    certificates[name] = { cert: issued.certificate, key: issued.key };
  }
  // A certificate that is issued by one that is not a CA.
  const leaf = await proxies.issue('front-proxy');
  const { issue } = await import('../../core/services/pki/certificate.js');
  const period = { notBefore: Date.now() - 3_600_000, notAfter: Date.now() + 3_600_000 };
  const forged = await issue({ subject: { commonName: 'front-proxy' }, ...period, use: 'client' }, leaf);
  certificates['forged'] = { cert: forged.certificate + leaf.certificate, key: forged.key };
  writeFileSync(join(folder, 'proxies.crt'), proxies.certificate);
  writeFileSync(
    join(folder, 'authentication'),
    JSON.stringify({
      apiVersion: 'apiserver.config.orchestrator.io/v1beta1',
      kind: 'AuthenticationConfiguration',
      jwt: [issuer('/a'), issuer('/b')],
      anonymous: { enabled: true, conditions: [{ path: '/livez' }] },
    }),
  );
  server = await startServer({
    storage: 'memory',
    port: 0,
    authenticationConfig: join(folder, 'authentication'),
    requestheaderClientCaFile: join(folder, 'proxies.crt'),
    requestheaderAllowedNames: ['front-proxy'],
    requestheaderUsernameHeaders: ['X-Remote-User'],
    requestheaderGroupHeaders: ['X-Remote-Group'],
  });
});
afterAll(async () => {
  await server?.close();
  await provider.close();
  rmSync(folder, { recursive: true });
});

function post(
  path: string,
  body: object,
  headers: object,
  certificate?: string,
): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const options = { method: 'POST', rejectUnauthorized: false, agent: false, ...certificates[certificate ?? ''] };
    const all = { 'content-type': 'application/json', ...headers };
    const sent = httpsRequest(new URL(path, server.url), { ...options, headers: all }, answer => {
      const chunks: Buffer[] = [];
      answer.on('data', (chunk: Buffer) => chunks.push(chunk));
      answer.on('end', () => resolve({ status: answer.statusCode!, text: Buffer.concat(chunks).toString() }));
    });
    sent.on('error', reject);
    sent.end(JSON.stringify(body));
  });
}

/** The user that the server identifies, or the code of a refusal. */
async function whoami(
  headers: object,
  certificate?: string,
): Promise<{ username?: string; groups?: string[] } | number> {
  const review = { apiVersion: 'authentication.orchestrator.io/v1', kind: 'SelfSubjectReview' };
  const { status, text } = await post(`${REVIEWS}/selfsubjectreviews`, review, headers, certificate);
  return status === 201 ? (JSON.parse(text).status.userInfo as object) : status;
}
const bearer = (token: string): object => ({ authorization: `Bearer ${token}` });

const encode = (part: object | string): string =>
  Buffer.from(typeof part === 'string' ? part : JSON.stringify(part)).toString('base64url');
const claims = (more: object = {}): object => ({
  iss: `${provider.url}/a`,
  aud: 'client/a',
  sub: 'ann',
  exp: Math.floor(Date.now() / 1000) + 600,
  ...more,
});
/** A token with any header and claims, which a key has signed with RS256. */
function signed(header: object | string, payload: object | string, key = own): string {
  const content = `${encode(header)}.${encode(payload)}`;
  return `${content}.${sign('sha256', Buffer.from(content), key.privateKey).toString('base64url')}`;
}
const RS256 = { alg: 'RS256', kid: 'own' };

describe('a token', () => {
  test('of each issuer is accepted', async () => {
    expect(await whoami(bearer(signed(RS256, claims())))).toMatchObject({ username: '/a:ann' });
    const b = claims({ iss: `${provider.url}/b`, aud: 'client/b' });
    expect(await whoami(bearer(signed({ alg: 'RS256', kid: 'other' }, b, other)))).toMatchObject({
      username: '/b:ann',
    });
  });

  test('that one issuer signs in the name of another is refused with every key id', async () => {
    for (const kid of ['own', 'other', undefined, '', null, 1, ['own'], { own: 1 }, '__proto__', '../../../etc/passwd'])
      expect(await whoami(bearer(signed({ alg: 'RS256', kid }, claims(), other)))).toBe(401);
  });

  test('for the audience of another issuer is refused', async () =>
    expect(await whoami(bearer(signed(RS256, claims({ aud: 'client/b' }))))).toBe(401));

  test('that contains its own key, or the address of one, is refused, and nothing is fetched', async () => {
    const jwk = await exportJWK(other.publicKey);
    const before = provider.hits.length;
    const jku = `${provider.url}/evil`;
    for (const more of [{ jwk }, { jku }, { x5u: jku }, { x5c: ['AAAA'] }])
      expect(await whoami(bearer(signed({ ...RS256, ...more }, claims(), other)))).toBe(401);
    expect(provider.hits.slice(before).filter(path => path.includes('evil'))).toEqual([]);
  });

  test('that is signed with a public key as an HMAC secret, or is unsigned, is refused', async () => {
    const pem = own.publicKey.export({ type: 'spki', format: 'pem' });
    const der = own.publicKey.export({ type: 'spki', format: 'der' });
    const jwk = JSON.stringify(await exportJWK(own.publicKey));
    const content = `${encode({ alg: 'HS256', kid: 'own' })}.${encode(claims())}`;
    for (const secret of [pem, String(pem).trim(), der, jwk, ''])
      expect(
        await whoami(bearer(`${content}.${createHmac('sha256', secret).update(content).digest('base64url')}`)),
      ).toBe(401);
    for (const alg of ['none', 'None', 'NONE', '', 'rs256', 'RS256 ', null, ['RS256']])
      for (const signature of ['', 'AAAA'])
        expect(await whoami(bearer(`${encode({ alg, kid: 'own' })}.${encode(claims())}.${signature}`))).toBe(401);
  });

  test('with an extension that must be understood (RFC 7515, 4.1.11), or another algorithm than its key, is refused', async () => {
    for (const more of [
      { crit: ['exp'] },
      { crit: ['b64'], b64: false },
      { crit: [] },
      { alg: 'ES256' },
      { alg: 'PS256' },
    ])
      expect(await whoami(bearer(signed({ ...RS256, ...more }, claims())))).toBe(401);
  });

  test('whose issuer is similar to a known one, or not a string, is refused', async () => {
    const iss = `${provider.url}/a`;
    for (const near of [
      `${iss}/`,
      iss.toUpperCase(),
      ` ${iss}`,
      `${iss}\u0000`,
      [iss],
      { iss },
      null,
      '__proto__',
      'constructor',
    ])
      expect(await whoami(bearer(signed(RS256, claims({ iss: near }))))).toBe(401);
  });

  test('cannot set members by names of prototype members or duplicate names', async () => {
    const { sub, ...rest } = claims() as { sub: string };
    const polluted = JSON.stringify({ ...rest, sub }).replace('{', '{"__proto__":{"groups":["x"]},');
    expect(await whoami(bearer(signed(RS256, polluted)))).toEqual({
      username: '/a:ann',
      groups: ['system:authenticated'],
    });
    const inherited = JSON.stringify(rest).replace('{', '{"__proto__":{"sub":"eve"},');
    expect(await whoami(bearer(signed(RS256, inherited)))).toBe(401);
  });

  test('cannot claim reserved groups', async () => {
    const groups = ['system:masters', '', 'system:authenticated'];
    expect(await whoami(bearer(signed(RS256, claims({ groups }))))).toMatchObject({
      groups: ['/a:system:masters', '/a:', '/a:system:authenticated', 'system:authenticated'],
    });
  });

  test('that was changed after it was accepted is refused', async () => {
    const token = signed(RS256, claims());
    expect(await whoami(bearer(token))).toMatchObject({ username: '/a:ann' });
    const [header, , signature] = token.split('.');
    for (const bad of [`${header}.${encode(claims({ sub: 'eve' }))}.${signature}`, token.slice(0, -8), `${token}.x`])
      expect(await whoami(bearer(bad))).toBe(401);
  });

  test('that is valid for one audience remains invalid for another, and vice versa', async () => {
    const token = signed(RS256, claims({ sub: 'reviewed' }));
    const review = async (audiences?: string[]): Promise<boolean | undefined> => {
      const spec = { token, ...(audiences ? { audiences } : {}) };
      const body = { apiVersion: 'authentication.orchestrator.io/v1', kind: 'TokenReview', spec };
      const { text } = await post(`${REVIEWS}/tokenreviews`, body, bearer(server.token));
      return JSON.parse(text).status.authenticated;
    };
    for (let i = 0; i < 2; i++) {
      expect(await review(['https://elsewhere.example'])).toBeFalsy();
      expect(await review()).toBe(true);
      expect(await whoami(bearer(token))).toMatchObject({ username: '/a:reviewed' });
    }
  });
});

describe('headers of a proxy', () => {
  const headers = { 'X-Remote-User': 'admin', 'X-Remote-Group': 'system:masters' };
  test('name the user for its certificate', async () =>
    expect(await whoami(headers, 'proxy')).toMatchObject({ username: 'admin' }));

  test.each([
    ['of a server', 'server'],
    ['of a CA with the same name', 'twin'],
    ['that one of a proxy has issued', 'forged'],
  ])('are refused with a certificate %s', async (_, name) => expect(await whoami(headers, name)).toBe(401));

  test('are ignored without a certificate, together with a token, or under other names', async () => {
    expect(await whoami(headers)).toBe(401);
    const token = signed(RS256, claims({ sub: 'beside' }));
    for (let i = 0; i < 2; i++)
      expect(await whoami({ ...headers, ...bearer(token) })).toMatchObject({ username: '/a:beside' });
    expect(await whoami({ X_Remote_User: 'admin', 'X-Remote-Users': 'admin' }, 'proxy')).toBe(401);
  });

  test('of one request do not affect the next one on the same connection', async () => {
    const users = await Promise.all(
      Array.from({ length: 20 }, async (_, i) => await whoami({ 'X-Remote-User': `u${i % 3}` }, 'proxy')),
    );
    expect(users.map(user => (user as { username: string }).username)).toEqual(
      Array.from({ length: 20 }, (_, i) => `u${i % 3}`),
    );
  });
});

describe('a path without credentials', () => {
  /** The status line and the body of a request whose path is sent as it is. */
  const raw = (path: string): Promise<string> =>
    new Promise((resolve, reject) => {
      const { port } = new URL(server.url);
      const socket = connect({ host: '127.0.0.1', port: Number(port), rejectUnauthorized: false }, () =>
        socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`),
      );
      let text = '';
      socket.on('data', chunk => {
        text += String(chunk);
      });
      socket.on('end', () => resolve(text));
      socket.on('error', reject);
    });

  test('is only the path in the file, whatever the spelling of other paths', async () => {
    expect(await raw('/livez')).toMatch(/^HTTP\/1\.1 200 /);
    for (const path of [
      '/livez/../version',
      '/livez/..%2fversion',
      '/livez%2f..%2fversion',
      '//version',
      '/./version',
      '/livez/../api/v1/secrets',
      '/livez;/../version',
      '/livez/',
      '/livez/ping',
      '/LIVEZ',
      '/version?/livez',
      '/api/v1/secrets#/livez',
      'http://localhost/version',
      'https://localhost/livez/../version',
    ])
      expect([path, await raw(path)]).toEqual([path, expect.not.stringMatching(/^HTTP\/1\.1 2/)]);
  });
});

test('a token that is signed with an elliptic key unknown to the provider is refused', async () => {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const content = `${encode({ alg: 'ES256', kid: 'own' })}.${encode(claims())}`;
  const signature = sign('sha256', Buffer.from(content), { key: privateKey, dsaEncoding: 'ieee-p1363' });
  expect(await whoami(bearer(`${content}.${signature.toString('base64url')}`))).toBe(401);
});
