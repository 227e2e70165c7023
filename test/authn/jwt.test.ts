import { mkdtempSync, rmSync, symlinkSync, renameSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { Identified, Refusal } from '../../core/api/index.js';
import { namingOf } from '../../core/naming.js';
import { jwtTokens } from '../../plugins/authn/jwt/authenticator.js';
import { JwtService } from '../../plugins/authn/jwt/background.js';
import type { JwtConfig, OidcFlags } from '../../plugins/authn/jwt/config.js';
import { received } from '../access/support.js';
import { eventually } from '../support/eventually.js';
import { inVirtualTime } from '../support/virtualTime.js';
import { authority } from './certificates.js';
import { signingKey, TestProvider } from './provider.js';

/** The parts of the plugin in the main thread and in a pool thread, connected as in a server. */
class TestAuthentication {
  readonly counted: { metric: string; labels: object; value: number }[] = [];
  readonly logged: string[] = [];
  readonly #releases: (() => unknown)[] = [];
  readonly #authenticator;
  readonly service: JwtService;
  #state: unknown;
  asked = 0;

  private constructor(config: JwtConfig) {
    const log = (_: object, message: string): void => void this.logged.push(message);
    const host = {
      now: () => Date.now(),
      naming: namingOf('neutral'),
      log: { debug: log, info: log, warn: log, error: log },
      isEnabled: () => true,
      onClose: (release: () => unknown) => void this.#releases.push(release),
      observe: (metric: string, labels: object, value: number) => void this.counted.push({ metric, labels, value }),
    };
    this.service = new JwtService(config, host);
    const client = {
      state: () => this.#state,
      ask: async (question: unknown) => {
        this.asked++;
        return await this.service.ask(structuredClone(question));
      },
    };
    this.#authenticator = jwtTokens({ ...host, service: () => client });
  }

  static async start(config: Omit<JwtConfig, 'ownIssuers'>): Promise<TestAuthentication> {
    const made = new TestAuthentication({ ...config, ownIssuers: ['https://own.example'] });
    await made.service.start(state => (made.#state = structuredClone(state)));
    started.push(made);
    return made;
  }

  /** The user of a token, or the reason why it is refused. */
  async of(
    token: string,
  ): Promise<{ name?: string; groups?: readonly string[]; uid?: string; extra?: object; error?: string }> {
    try {
      const found = (await this.#authenticator.authenticate(
        received({ authorization: `Bearer ${token}` }),
      )) as Identified;
      const { name, groups, uid, extra } = found.user;
      return { name, groups, ...(uid ? { uid } : {}), ...(extra.size > 0 ? { extra: Object.fromEntries(extra) } : {}) };
    } catch (thrown) {
      expect((thrown as Refusal).code).toBe(401);
      return { error: (thrown as Error).message };
    }
  }

  reloads(status: string): number {
    return this.counted.filter(
      ({ metric, labels }) => metric.endsWith('reloads_total') && (labels as { status: string }).status === status,
    ).length;
  }

  close(): void {
    for (const release of this.#releases) release();
  }
}

const started: TestAuthentication[] = [];
let provider: TestProvider;
let folder: string;
const FIRST = signingKey('first');
const ELLIPTIC = signingKey('elliptic', 'ES256');

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'authn-'));
  provider = await TestProvider.start([FIRST, ELLIPTIC]);
});
afterEach(() => {
  for (const one of started.splice(0)) one.close();
  provider.handlers.clear();
  provider.keys = [FIRST, ELLIPTIC];
});
afterAll(async () => {
  await provider.close();
  rmSync(folder, { recursive: true });
});

let files = 0;
function write(content: string | object, name = `file-${files++}`): string {
  const file = join(folder, name);
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
  return file;
}

/** Authentication by flags, for the provider. */
async function byFlags(flags: Partial<OidcFlags> = {}): Promise<TestAuthentication> {
  const caFile = write(provider.ca.certificate);
  return await TestAuthentication.start({ flags: { issuerUrl: provider.url, clientId: 'client', caFile, ...flags } });
}

const configuration = (...jwt: object[]): object => ({
  apiVersion: 'apiserver.config.orchestrator.io/v1beta1',
  kind: 'AuthenticationConfiguration',
  jwt,
});

/** An authenticator of the issuer at a path of the provider. */
const authenticatorOf = (path: string, more: object = {}, issuer: object = {}): object => ({
  issuer: { url: provider.url + path, audiences: ['client'], certificateAuthority: provider.ca.certificate, ...issuer },
  claimMappings: { username: { claim: 'sub', prefix: '' } },
  ...more,
});

const byFile = (...jwt: object[]): Promise<TestAuthentication> =>
  TestAuthentication.start({ file: write(configuration(...jwt)) });

describe('OpenID Connect by flags', () => {
  test('accepts tokens of the issuer for the client, with a prefix [A209] [A210] [A211] [A213] [A220] [A258] [A259]', async () => {
    const authn = await byFlags();
    expect(await authn.of(await provider.token())).toEqual({ name: `${provider.url}#alice`, groups: [] });
    expect((await authn.of(await provider.token({ aud: 'other' }))).error).toContain(
      'expected audience "client" got ["other"]',
    );
    expect((await authn.of(await provider.token({ aud: ['other', 'client'] }))).name).toBe(`${provider.url}#alice`);
    expect((await authn.of(await provider.token({ iss: 'https://other.example' }))).error).toBe('Unauthorized');
    const [header, , signature] = (await provider.token()).split('.');
    const [, payload] = (await provider.token({ sub: 'admin' })).split('.');
    expect((await authn.of([header, payload, signature].join('.'))).error).toContain('failed to verify signature');
    expect(provider.hits).toContain('/.well-known/openid-configuration');
  });
  test.each([
    [{ usernamePrefix: 'oidc:' }, {}, 'oidc:alice'],
    [{ usernamePrefix: '-' }, {}, 'alice'],
    [{ usernameClaim: 'email' }, { email: 'a@b.example' }, 'a@b.example'],
    [{ usernameClaim: 'email', usernamePrefix: 'x:' }, { email: 'a@b.example', email_verified: true }, 'x:a@b.example'],
  ] as const)('with %j makes the user name of %j: %s [A211] [A212] [A213] [A214]', async (flags, claims, name) =>
    expect((await (await byFlags(flags)).of(await provider.token(claims))).name).toBe(name),
  );
  test('needs a verified email, and a claim that is a string [A211] [A261] [A437]', async () => {
    const authn = await byFlags({ usernameClaim: 'email' });
    expect((await authn.of(await provider.token({ email: 'a@b', email_verified: false }))).error).toBe(
      'oidc: email not verified',
    );
    expect((await authn.of(await provider.token({ email: 'a@b', email_verified: 'true' }))).error).toContain('as bool');
    expect((await authn.of(await provider.token())).error).toContain(
      'parse username claims "email": claim not present',
    );
    expect((await authn.of(await provider.token({ email: '' }))).error).toBe('oidc: the user name is empty');
    expect((await (await byFlags()).of(await provider.token({ sub: 5 } as never))).error).toContain(
      'sub must be a string',
    );
  });
  test('takes groups from a claim that is a string or a list of strings [A215] [A216]', async () => {
    const authn = await byFlags({ groupsClaim: 'groups', groupsPrefix: 'g:' });
    expect((await authn.of(await provider.token({ groups: ['a', 'b'] }))).groups).toEqual(['g:a', 'g:b']);
    expect((await authn.of(await provider.token({ groups: 'a' }))).groups).toEqual(['g:a']);
    expect((await authn.of(await provider.token())).groups).toEqual([]);
    for (const groups of [5, ['a', 5], { a: 1 }])
      expect((await authn.of(await provider.token({ groups }))).error).toContain('parse groups claim "groups"');
  });
  test('requires all required claims [A217] [A437]', async () => {
    const authn = await byFlags({ requiredClaims: ['hd=x.example', 'team=a'] });
    expect((await authn.of(await provider.token({ hd: 'x.example', team: 'a' }))).error).toBeUndefined();
    expect((await authn.of(await provider.token({ hd: 'x.example' }))).error).toContain(
      'required claim team not present',
    );
    expect((await authn.of(await provider.token({ hd: 'y', team: 'a' }))).error).toContain(
      'required claim hd value does not match',
    );
  });
  test('accepts only RS256 by default [A219]', async () => {
    const token = await provider.token({}, { key: ELLIPTIC });
    expect((await (await byFlags()).of(token)).error).toContain(
      'unsupported algorithm, expected ["RS256"] got "ES256"',
    );
    const both = await byFlags({ signingAlgs: ['RS256', 'ES256'] });
    expect((await both.of(token)).name).toBe(`${provider.url}#alice`);
    expect((await both.of(await provider.token())).name).toBe(`${provider.url}#alice`);
  });
  test('refuses tokens that are unsigned, or signed with the public key as an HMAC secret [A220]', async () => {
    const authn = await byFlags();
    const [, payload] = (await provider.token()).split('.');
    for (const alg of ['none', 'HS256', 'EdDSA']) {
      const header = Buffer.from(JSON.stringify({ alg, kid: 'first' })).toString('base64url');
      expect((await authn.of(`${header}.${payload}.AAAA`)).error).toContain('unsupported algorithm');
    }
  });
  test('checks the times of a token [A221] [A260] [A438]', async () => {
    const authn = await byFlags();
    const now = Math.floor(Date.now() / 1000);
    expect((await authn.of(await provider.token({ exp: now - 5 }))).error).toContain('token is expired');
    expect((await authn.of(await provider.token({ exp: undefined as never }))).error).toContain('token has no expiry');
    expect((await authn.of(await provider.token({ nbf: now + 600 }))).error).toContain('before the nbf');
    expect((await authn.of(await provider.token({ nbf: now + 30 }))).error).toBeUndefined();
    expect((await authn.of(await provider.token({ exp: 'x' as never }))).error).toContain('exp must be a number');
  });
  test('does not send a request to the provider for each token, whoever sends it [A222]', async () => {
    const authn = await byFlags();
    await authn.of(await provider.token());
    const before = provider.hits.length;
    for (let i = 0; i < 20; i++) await authn.of(await provider.token({ sub: `user-${i}` }));
    expect(provider.hits.length).toBe(before);
    const unknown = signingKey('unknown');
    for (let i = 0; i < 40; i++) await authn.of(await provider.token({ sub: `user-${i}` }, { key: unknown }));
    // Ten refreshes of two documents.
    expect(provider.hits.length - before).toBeLessThanOrEqual(22);
  });
  test('accepts a token until it expires: it cannot be revoked [A223]', async () => {
    const authn = await byFlags();
    const token = await provider.token();
    expect((await authn.of(token)).name).toBe(`${provider.url}#alice`);
    provider.handlers.set('/jwks', (_, response) => void response.end('{"keys":[]}'));
    expect((await authn.of(token)).name).toBe(`${provider.url}#alice`);
  });
  test('finds a new key of its provider while requests run [A209]', async () => {
    const authn = await byFlags();
    expect((await authn.of(await provider.token())).error).toBeUndefined();
    const second = signingKey('second');
    provider.keys = [second];
    const tokens = await Promise.all(
      Array.from({ length: 10 }, (_, i) => provider.token({ sub: `u${i}` }, { key: second })),
    );
    const found = await Promise.all(tokens.map(token => authn.of(token)));
    expect(found.map(({ error }) => error)).toEqual(Array(10).fill(undefined));
    // A different key with the same id is found too.
    const replaced = signingKey('second');
    provider.keys = [replaced];
    expect((await authn.of(await provider.token({ sub: 'x' }, { key: replaced }))).error).toBeUndefined();
    expect((await authn.of(await provider.token({ sub: 'y' }, { key: second }))).error).toContain(
      'failed to verify signature',
    );
  });
});

describe('a provider', () => {
  test('is trusted by means of the configured CA [A218] [A225] [A238]', async () => {
    const other = await authority('other');
    const authn = await byFlags({ caFile: write(other.certificate) });
    expect((await authn.of(await provider.token())).error).toContain('authenticator not initialized');
    const none = await TestAuthentication.start({ flags: { issuerUrl: provider.url, clientId: 'client' } });
    expect((await none.of(await provider.token())).error).toContain('authenticator not initialized');
  });
  test('is not trusted by a certificate that is not marked as a CA [A226]', async () => {
    const authn = await byFlags({ caFile: write((await authority('not a CA', false)).certificate) });
    expect((await authn.of(await provider.token())).error).toContain('has no certificate whose CA flag is set');
  });
  const REFUSED: [string, string, (response: import('node:http').ServerResponse) => void, string][] = [
    [
      'is of another issuer [A237]',
      '/.well-known/openid-configuration',
      r => r.end('{"issuer":"https://evil.example","jwks_uri":"https://evil.example"}'),
      'is of the issuer "https://evil.example"',
    ],
    [
      'has no discovery [A224]',
      '/.well-known/openid-configuration',
      r => r.writeHead(404).end(),
      'answered with code 404',
    ],
    [
      'redirects',
      '/.well-known/openid-configuration',
      r => r.writeHead(302, { location: '/jwks' }).end(),
      'redirects are not followed',
    ],
    [
      'has no keys',
      '/.well-known/openid-configuration',
      r => r.end(JSON.stringify({ issuer: provider.url })),
      'has no jwks_uri',
    ],
    [
      'has keys without TLS',
      '/.well-known/openid-configuration',
      r => r.end(JSON.stringify({ issuer: provider.url, jwks_uri: 'http://localhost/jwks' })),
      'must begin with https://',
    ],
    ['sends a huge document', '/jwks', r => r.end(`{"keys":["${'x'.repeat(2_000_000)}"]}`), 'is larger than'],
    ['sends no JSON', '/jwks', r => r.end('<html>'), 'is not a JSON object'],
    [
      'has very many keys',
      '/jwks',
      r => r.end(JSON.stringify({ keys: Array(1000).fill({ kty: 'RSA' }) })),
      'there are 1000 keys',
    ],
    ['closes the connection', '/jwks', r => void r.socket!.destroy(), 'authenticator not initialized'],
  ];
  test.each(REFUSED)('that %s authenticates nobody, and is contacted again', async (_, path, answer, why) => {
    provider.handlers.set(path, (_request, response) => answer(response));
    const authn = await byFlags();
    expect((await authn.of(await provider.token())).error).toContain(why);
    provider.handlers.clear();
    expect((await authn.of(await provider.token())).error).toBeUndefined();
  });
  test('that sends keys of the wrong kind authenticates nobody [A220]', async () => {
    const jwks = {
      keys: [
        { kty: 'oct', k: 'AAAA', kid: 'first' },
        { kty: 'RSA', n: '!', e: 1, kid: 'first' },
        { kty: 'EC', crv: 'P-256', x: 'AA', y: 'AA', kid: 'first' },
        5,
        null,
      ],
    };
    provider.handlers.set('/jwks', (_, response) => void response.end(JSON.stringify(jwks)));
    expect((await (await byFlags()).of(await provider.token())).error).toContain('failed to verify signature');
  });
  test('that does not answer delays only requests that need it, and for a few seconds', async () => {
    const asked = new Promise<void>(resolve => provider.handlers.set('/jwks', () => resolve()));
    await inVirtualTime(async pass => {
      const authn = await byFlags();
      await asked;
      expect((await authn.of('opaque')).error).toBe('Unauthorized');
      const began = performance.now();
      expect((await pass(authn.of(await provider.token()))).error).toContain('no answer in time');
      const seconds = (performance.now() - began) / 1000;
      expect(seconds).toBeGreaterThan(1);
      expect(seconds).toBeLessThan(20);
    });
  });
  test('that is down at the start is used once it is up [A224]', async () => {
    const late = await TestProvider.start([FIRST]);
    const { port } = late;
    const [url, token] = [late.url, await late.token()];
    await late.close();
    const authn = await TestAuthentication.start({
      flags: { issuerUrl: url, clientId: 'client', caFile: write(late.ca.certificate) },
    });
    expect((await authn.of(token)).error).toContain('authenticator not initialized');
    await late.listen(port);
    await eventually(async () => (await authn.of(token)).error === undefined);
    await late.close();
  });
});

describe('an authentication file', () => {
  test('may have several issuers, each with its own rules [A231] [A232] [A239] [A240]', async () => {
    const two = authenticatorOf('/b', {}, { audiences: ['x', 'y'], audienceMatchPolicy: 'MatchAny' });
    const authn = await byFile(authenticatorOf('/a'), two);
    expect((await authn.of(await provider.token({}, { path: '/a' }))).name).toBe('alice');
    expect((await authn.of(await provider.token({ aud: 'y' }, { path: '/b' }))).name).toBe('alice');
    expect((await authn.of(await provider.token({ aud: 'z' }, { path: '/b' }))).error).toContain(
      'expected audience in ["x" "y"] got ["z"]',
    );
    expect((await authn.of(await provider.token({}, { path: '/c' }))).error).toBe('Unauthorized');
    expect((await authn.of(await provider.token({}, { key: ELLIPTIC, path: '/a' }))).name).toBe('alice');
  });
  test('uses the discovery URL as it is configured, together with the issuer [A235] [A237]', async () => {
    const discoveryURL = `${provider.url}/inside`;
    provider.handlers.set(
      '/inside',
      (_, response) =>
        void response.end(JSON.stringify({ issuer: 'https://outside.example', jwks_uri: `${provider.url}/jwks` })),
    );
    const authn = await byFile(authenticatorOf('', {}, { url: 'https://outside.example', discoveryURL }));
    expect((await authn.of(await provider.token({ iss: 'https://outside.example' }))).name).toBe('alice');
    expect(provider.hits).toContain('/inside');
    provider.handlers.set(
      '/inside',
      (_, response) => void response.end(JSON.stringify({ issuer: discoveryURL, jwks_uri: `${provider.url}/jwks` })),
    );
    const other = await byFile(authenticatorOf('', {}, { url: 'https://outside.example', discoveryURL }));
    expect((await other.of(await provider.token({ iss: 'https://outside.example' }))).error).toContain(
      'is of the issuer',
    );
  });
  test('maps claims to a user by expressions [A244] [A246] [A247] [A248] [A249]', async () => {
    const claimMappings = {
      username: { expression: 'claims.name' },
      groups: { expression: 'claims.groups' },
      uid: { expression: 'claims.uid' },
      extra: [
        { key: 'example.com/a', valueExpression: 'claims.a' },
        { key: 'example.com/b', valueExpression: 'has(claims.b) ? claims.b : "none"' },
      ],
    };
    const authn = await byFile(authenticatorOf('', { claimMappings }));
    const all = { name: 'bob', groups: ['a', 'b'], uid: 'u', a: 'x' };
    const of = async (more: object) => await authn.of(await provider.token({ ...all, ...more }));
    const extra = { 'example.com/a': ['x'], 'example.com/b': ['none'] };
    expect(await of({})).toEqual({ name: 'bob', groups: ['a', 'b'], uid: 'u', extra });
    expect((await of({ groups: 'a' })).groups).toEqual(['a']);
    for (const none of ['', null, [], ['']]) expect((await of({ groups: none })).groups).toEqual([]);
    expect((await of({ a: ['x', '', 'y'] })).extra).toEqual({ ...extra, 'example.com/a': ['x', 'y'] });
    for (const none of ['', null, []]) expect((await of({ a: none })).extra).toEqual({ 'example.com/b': ['none'] });
    expect((await of({ name: '' })).error).toBe('oidc: the user name is empty');
    expect((await of({ name: null })).error).toContain('username claim expression must return a string');
    expect((await of({ name: undefined })).error).toContain('no such key: name');
    expect((await of({ groups: 5 })).error).toContain('must return a string or a list of strings');
    expect((await of({ uid: 5 })).error).toContain('uid claim expression must return a string');
    expect((await of({ a: ['x', null] })).error).toContain('must return a string or a list of strings');
  });
  test('checks claims and user by rules [A241] [A242] [A253] [A437]', async () => {
    const authn = await byFile(
      authenticatorOf('', {
        claimValidationRules: [
          { claim: 'hd', requiredValue: 'x' },
          { expression: 'claims.level >= 3', message: 'level too low' },
        ],
        userValidationRules: [{ expression: "!user.username.startsWith('system:')", message: 'reserved name' }],
      }),
    );
    const of = async (more: object) => (await authn.of(await provider.token({ hd: 'x', level: 3, ...more }))).error;
    expect(await of({})).toBeUndefined();
    expect(await of({ hd: 'y' })).toContain('required claim hd value does not match. Got = y, want = x');
    expect(await of({ hd: undefined })).toContain('required claim hd not present');
    expect(await of({ hd: ['x'] })).toContain('parse claim hd');
    expect(await of({ level: 2 })).toContain("'claims.level >= 3' failed: level too low");
    expect(await of({ level: 'x' })).toContain('no such overload');
    expect(await of({ level: undefined })).toContain('no such key: level');
    expect(await of({ sub: 'system:x' })).toContain('failed: reserved name');
  });
  test('does not fetch claims from elsewhere [A262]', async () => {
    const distributed = {
      _claim_names: { groups: 's' },
      _claim_sources: { s: { endpoint: `${provider.url}/groups` } },
    };
    const groups = { username: { claim: 'sub', prefix: '' }, groups: { claim: 'groups', prefix: '' } };
    const authn = await byFile(authenticatorOf('', { claimMappings: groups }));
    expect((await authn.of(await provider.token(distributed))).error).toContain('"groups" is distributed');
    const expression = { username: { claim: 'sub', prefix: '' }, groups: { expression: 'claims.groups' } };
    const other = await byFile(authenticatorOf('', { claimMappings: expression }));
    expect((await other.of(await provider.token(distributed))).error).toContain('no such key: groups');
    expect(provider.hits).not.toContain('/groups');
  });
  test('is read again when it changes, and reloads are counted [A229] [A230]', async () => {
    const file = write(configuration(authenticatorOf('/a')));
    const authn = await TestAuthentication.start({ file });
    const [a, b] = [await provider.token({}, { path: '/a' }), await provider.token({}, { path: '/b' })];
    expect((await authn.of(a)).name).toBe('alice');
    expect((await authn.of(b)).error).toBe('Unauthorized');
    writeFileSync(file, JSON.stringify(configuration(authenticatorOf('/b'))));
    await eventually(async () => (await authn.of(b)).name === 'alice');
    expect((await authn.of(a)).error).toBe('Unauthorized');
    expect(authn.reloads('success')).toBe(1);
    const gauge = authn.counted.find(({ metric }) => metric.endsWith('reload_last_timestamp_seconds'));
    expect(gauge).toMatchObject({
      metric: 'apiserver_authentication_config_controller_automatic_reload_last_timestamp_seconds',
      labels: { status: 'success', apiserver_id_hash: expect.stringMatching(/^sha256:[0-9a-f]{64}$/) },
    });
  });
  test('that has become invalid is not used, and the former one remains in effect [A229] [A230]', async () => {
    const file = write(configuration(authenticatorOf('/a')));
    const authn = await TestAuthentication.start({ file });
    const token = await provider.token({}, { path: '/a' });
    for (const [i, content] of [
      'garbage: [',
      '',
      configuration({}),
      { ...configuration(authenticatorOf('/a')), anonymous: { enabled: false } },
    ].entries()) {
      writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
      await eventually(() => authn.reloads('failure') === i + 1);
      expect((await authn.of(token)).name).toBe('alice');
    }
    expect(authn.logged.join()).toContain('the authentication file is not used, and the former one stays');
    expect(authn.logged.join()).toContain('anonymous: has changed since the start');
  });
  test('is read again when the link to it is replaced, as in mounted volumes [A229]', async () => {
    const link = join(folder, `link-${files}`);
    symlinkSync(write(configuration(authenticatorOf('/a'))), link);
    const authn = await TestAuthentication.start({ file: link });
    symlinkSync(write(configuration(authenticatorOf('/b'))), `${link}.new`);
    renameSync(`${link}.new`, link);
    const token = await provider.token({}, { path: '/b' });
    await eventually(async () => (await authn.of(token)).name === 'alice');
  });
});

test('a token that was verified is not verified again', async () => {
  const authn = await byFlags();
  const token = await provider.token();
  await authn.of(token);
  await authn.of(token);
  const counts = authn.counted.filter(({ metric }) => metric === 'authentication_token_cache_request_total');
  expect(counts.map(({ labels }) => labels)).toEqual([{ status: 'miss' }, { status: 'hit' }]);
});
