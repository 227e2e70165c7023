import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { checkAuthentication } from '../../core/server/access/authentication.js';
import { hasConsole } from '../../core/server/access/console.js';
import { DEFAULTS } from '../../core/server/settings.js';
import { digest, Sessions } from '../../plugins/console/sessions.js';
import { SignInLink } from '../../plugins/console/signInLink.js';
import { Api, type Answer, type Sent } from '../api/support.js';
import { authority } from '../authn/certificates.js';
import { signingKey } from '../authn/provider.js';
import { SignInProvider } from '../authn/signIn.js';

/* The files, the sessions and the sign-in of the console, as a browser requests them. Two threads have connections. */

const OWN = { 'x-console': '1' };
const REVIEW = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' };
const folder = mkdtempSync(join(tmpdir(), 'console-'));
let provider: SignInProvider;
let api: Api;

beforeAll(async () => {
  const ca = await authority('provider-ca');
  const key = await signingKey('RS256');
  provider = await SignInProvider.start(ca, [key]);
  const authenticationConfig = join(folder, 'authentication.json');
  const issuer = { url: provider.url, audiences: ['public'], certificateAuthority: ca.certificate };
  const claimMappings = { username: { claim: 'sub', prefix: 'oidc:' } };
  const kind = { apiVersion: 'apiserver.config.k8s.io/v1beta1', kind: 'AuthenticationConfiguration' };
  writeFileSync(authenticationConfig, JSON.stringify({ ...kind, jwt: [{ issuer, claimMappings }] }));
  api = await Api.start({ authenticationConfig, listeningThreads: 2, httpPort: 0 });
  await provider.use([key], `${api.server.url}/console/openid/callback`);
});
afterAll(async () => {
  await api?.close();
  await provider?.close();
  rmSync(folder, { recursive: true });
});

const visit = (path: string, sent: Sent = {}, method: 'GET' | 'POST' | 'DELETE' = 'GET'): Promise<Answer> =>
  api.call(method, path, { token: '', ...sent, headers: { ...OWN, ...sent.headers } });
const signIn = (body: object, headers = {}): Promise<Answer> => visit('/console/session', { body, headers }, 'POST');
/** The cookie that an answer sets, as a browser sends it. */
const cookieOf = ({ headers }: Answer): string => String(headers['set-cookie']).split(';', 1)[0]!;

async function whoAmI(cookie: string, headers: object = OWN): Promise<string> {
  const path = `/apis/${REVIEW.apiVersion}/selfsubjectreviews`;
  const answer = await api.call('POST', path, { token: '', body: REVIEW, headers: { ...headers, cookie } });
  return answer.status === 201 ? String(answer.body['status']!['userInfo']!['username']) : String(answer.status);
}

describe('the one-time link', () => {
  test('signs the administrator in once, also if two requests use it at the same time', async () => {
    const [, link] = /\/console\/#link=([\w-]{43})$/.exec(api.server.consoleUrl ?? '') ?? [];
    expect((await signIn({ link: `${link!.slice(1)}A` })).status).toBe(401);
    const answers = await Promise.all([signIn({ link }), signIn({ link }), signIn({ link })]);
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 401, 401]);
    expect(answers.find(({ status }) => status === 401)!.body).toMatchObject({
      kind: 'Status',
      message: expect.stringContaining('this link was used'),
    });
    expect(await whoAmI(cookieOf(answers.find(({ status }) => status === 201)!))).toBe('kube-admin');
  });

  test('works for a few minutes, and only on this machine', () => {
    let now = 0;
    const made = (): SignInLink => new SignInLink(digest('secret'), () => now);
    expect(made().use('secret', '10.0.0.1')).toBe(false);
    expect(made().use('secret', '::1')).toBe(true);
    const link = made();
    now = 10 * 60_000;
    expect(link.use('secret', '127.0.0.1')).toBe(false);
    expect(new SignInLink(undefined, () => now).use('', '127.0.0.1')).toBe(false);
  });
});

describe('a session', () => {
  test('belongs to the user of a token, as long as the token is valid', async () => {
    const accounts = '/api/v1/namespaces/default/serviceaccounts';
    await api.post(accounts, { metadata: { name: 'visitor' } });
    const request = await api.post(`${accounts}/visitor/token`, { spec: {} });
    const token = String(request.body['status']!['token']);
    const cookie = cookieOf(await signIn({ token }));
    expect(await whoAmI(cookie)).toBe('system:serviceaccount:default:visitor');
    await api.call('DELETE', `${accounts}/visitor`);
    expect(await whoAmI(cookie)).toBe('401');
  });

  test('is accepted only with a header that pages of other sites cannot set', async () => {
    const cookie = cookieOf(await signIn({ token: api.server.token }));
    expect(await whoAmI(cookie)).toBe('kube-admin');
    expect(await whoAmI(cookie, {})).toBe('403');
    const watch = '/api/v1/namespaces?watch=1&timeoutSeconds=1';
    expect((await api.call('GET', watch, { token: '', headers: { cookie } })).status).toBe(403);
  });

  test('has a cookie that scripts cannot read and other sites do not get', async () => {
    const answer = await signIn({ token: api.server.token });
    expect(String(answer.headers['set-cookie'])).toMatch(
      /^__Host-console-\d+=[\w-]{43}; Path=\/; Secure; HttpOnly; SameSite=Strict$/,
    );
    expect(answer.headers['cache-control']).toBe('no-store');
  });

  test('ends with the sign-out', async () => {
    const cookie = cookieOf(await signIn({ token: api.server.token }));
    const answer = await visit('/console/session', { headers: { cookie } }, 'DELETE');
    expect(String(answer.headers['set-cookie'])).toContain('Max-Age=0');
    expect(await whoAmI(cookie)).toBe('401');
  });

  test.each<[string, object, object, number, string]>([
    ['an unknown token', { token: 'abc' }, {}, 401, 'the server does not know this token'],
    ['no credentials', {}, {}, 400, 'the body must be JSON with the member token'],
    ['another page', { token: 'abc' }, { 'x-console': [] }, 403, 'the header x-console is missing'],
    ['a body that is too large', { token: 'a'.repeat(33_000) }, {}, 413, 'limit is 32768'],
  ])('is not started for %s', async (_name, body, headers, status, message) => {
    const answer = await signIn(body, headers);
    expect([answer.status, answer.body['message']]).toEqual([status, expect.stringContaining(message)]);
    expect(answer.headers['set-cookie']).toBeUndefined();
  });

  test('is not started over plain HTTP', async () => {
    const answer = await fetch(`${api.server.httpUrl}/console/session`, {
      method: 'POST',
      headers: OWN,
      body: JSON.stringify({ token: api.server.token }),
    });
    expect(answer.status).toBe(403);
  });

  test('ends after its maximum time, earlier if unused, and if there are too many', () => {
    let now = 0;
    const sessions = new Sessions(() => now);
    const hour = 3_600_000;
    const begin = (token: string, user = 'ann'): string => sessions.begin(token, user);
    const [used, unused] = [begin('used'), begin('unused')];
    for (now = 0; now < 12 * hour; now += hour / 2) expect(sessions.tokenOf(used)).toBe('used');
    expect([sessions.tokenOf(used), sessions.tokenOf(unused)]).toEqual([undefined, undefined]);
    const ofAnother = begin('another', 'bob');
    const first = begin('first');
    const second = begin('second');
    sessions.tokenOf(first);
    for (let i = 0; i < 998; i++) begin('more');
    const found = [first, second, ofAnother].map(secret => sessions.tokenOf(secret));
    expect(found, 'nobody ends the sessions of others').toEqual(['first', undefined, 'another']);
  });
});

describe('OpenID Connect', () => {
  /** Begins a sign-in. Returns the URL to which the provider redirects the browser, and the cookie of the browser. */
  async function begun(user: string): Promise<{ readonly back: string; readonly cookie: string }> {
    const first = await visit('/console/openid/begin');
    expect(first.status).toBe(303);
    const { pathname, search } = await provider.visit(String(first.headers['location']), user);
    return { back: pathname + search, cookie: cookieOf(first) };
  }

  test('signs in a user of the provider', async () => {
    const { back, cookie } = await begun('ann');
    const ended = await visit(back, { headers: { cookie } });
    expect([ended.status, ended.headers['location']]).toEqual([303, '/console/']);
    expect(await whoAmI(cookieOf(ended))).toBe('oidc:ann');
  });

  test('needs one request to the provider for many sign-ins, and starts no session before their end', async () => {
    let asked = 0;
    const count = ({ url = '' }): void => void (asked += url.includes('.well-known') ? 1 : 0);
    provider.server.on('request', count);
    const all = await Promise.all(Array.from({ length: 20 }, () => visit('/console/openid/begin')));
    provider.server.off('request', count);
    expect(new Set(all.map(({ status }) => status))).toEqual(new Set([303]));
    expect(asked).toBeLessThanOrEqual(1);
    // Not 401 as for an expired session: other credentials of the browser are used.
    expect(await whoAmI(cookieOf(all[0]!))).toBe('403');
  });

  test('uses the provider in the flags, and is unavailable without one', async () => {
    const flags = { oidcIssuerUrl: 'https://issuer.example', oidcClientId: 'console' };
    const { issuer } = await checkAuthentication({ ...DEFAULTS, ...flags });
    expect(issuer).toMatchObject({ url: 'https://issuer.example', audiences: ['console'] });
    expect(await checkAuthentication(DEFAULTS)).toMatchObject({ issuer: undefined });
  });

  test('signs in only the browser that has begun it, and accepts each answer once', async () => {
    const { back, cookie } = await begun('bob');
    for (const sent of [{}, { headers: { cookie: `${cookie}x` } }, { headers: { cookie } }]) {
      const ended = await visit(back, sent);
      expect([ended.headers['location'], ended.headers['set-cookie']]).toEqual(['/console/?failure=openid', undefined]);
    }
  });
});

describe('the files of the console', () => {
  test('have a strict policy, and need no credentials', async () => {
    const page = await visit('/console/list/core/v1/pods', { headers: { 'accept-encoding': 'gzip' } });
    expect(page.status).toBe(200);
    expect(page.headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': expect.stringMatching(/^default-src 'none'; .*frame-ancestors 'none'/),
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cross-origin-opener-policy': 'same-origin',
      'content-encoding': 'gzip',
      'cache-control': 'no-cache',
    });
    expect(String(page.headers['content-security-policy'])).not.toContain('unsafe');
  });

  test('are sent only once to a browser that caches them', async () => {
    const { text } = await visit('/console/');
    const [script] = /\/console\/assets\/main-[\w-]+\.js/.exec(text) ?? [];
    const file = await visit(script!);
    expect(file.headers['cache-control']).toBe('public, max-age=31536000, immutable');
    const again = await visit(script!, { headers: { 'if-none-match': String(file.headers['etag']) } });
    expect([again.status, again.text]).toEqual([304, '']);
  });

  test('that do not exist are answered with 404, and writes are refused', async () => {
    expect((await visit('/console/assets/main.js')).status).toBe(404);
    expect((await visit('/console/../etc/passwd')).text).not.toContain('root');
    expect((await visit('/console/', {}, 'POST')).status).toBe(405);
    expect((await visit('/consoles')).status).toBe(403);
    expect((await visit('/console')).headers['location']).toBe('/console/');
  });
});

test('a server has the console only on loopback addresses, unless it is enabled by a setting', () => {
  const has = (bindAddress: string, console?: boolean): boolean =>
    hasConsole({ ...DEFAULTS, bindAddress, ...(console === undefined ? {} : { console }) });
  expect([has('127.0.0.1'), has('::1'), has('localhost'), has('192.0.2.1')]).toEqual([true, true, true, false]);
  expect([has('127.0.0.1', false), has('192.0.2.1', true)]).toEqual([false, true]);
});
