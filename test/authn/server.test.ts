import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { request as httpsRequest } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { RunningServer } from '../../core/index.js';
import { startServer } from '../server/library.js';
import { eventually } from '../support/eventually.js';
import { authority, type TestAuthority } from './certificates.js';
import { signingKey, TestProvider } from './provider.js';
import { SignInProvider } from './signIn.js';

type Settings = NonNullable<Parameters<typeof startServer>[0]>;
interface Answer {
  readonly status: number;
  readonly text: string;
}
interface Client {
  readonly cert?: string;
  readonly key?: string;
}

let folder: string;
let ca: TestAuthority;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'authn-server-'));
  ca = await authority('provider-ca');
});
afterAll(() => rmSync(folder, { recursive: true }));

let files = 0;
function write(content: string | object, file = join(folder, `file-${files++}`)): string {
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
  return file;
}

/** Sends a request over a new connection. */
function send(
  server: RunningServer,
  method: string,
  path: string,
  headers: Record<string, string | string[]> = {},
  body?: object,
  client: Client = {},
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = httpsRequest(
      new URL(path, server.url),
      {
        method,
        rejectUnauthorized: false,
        agent: false,
        headers: { ...(body ? { 'content-type': 'application/json' } : {}), ...headers },
        ...client,
      },
      answer => {
        const chunks: Buffer[] = [];
        answer.on('data', (chunk: Buffer) => chunks.push(chunk));
        answer.on('end', () => resolve({ status: answer.statusCode!, text: Buffer.concat(chunks).toString() }));
      },
    );
    sent.on('error', reject);
    sent.end(body && JSON.stringify(body));
  });
}

const REVIEW = { apiVersion: 'authentication.orchestrator.io/v1', kind: 'SelfSubjectReview' };

/** The user that the server identifies, or the code of a refusal. */
async function whoami(
  server: RunningServer,
  headers: Record<string, string | string[]>,
  client?: Client,
): Promise<{ username?: string; groups?: string[]; uid?: string; extra?: object; refused?: number }> {
  const { status, text } = await send(
    server,
    'POST',
    `/apis/${REVIEW.apiVersion}/selfsubjectreviews`,
    headers,
    REVIEW,
    client,
  );
  return status === 201 ? JSON.parse(text).status.userInfo : { refused: status };
}

const bearer = (token: string): Record<string, string> => ({ authorization: `Bearer ${token}` });
const start = (settings: Settings): Promise<RunningServer> => startServer({ storage: 'memory', port: 0, ...settings });

const configuration = (jwt: readonly object[], more: object = {}): object => ({
  apiVersion: 'apiserver.config.orchestrator.io/v1beta1',
  kind: 'AuthenticationConfiguration',
  jwt,
  ...more,
});

describe('a provider at which people sign in', () => {
  let provider: SignInProvider;
  let server: RunningServer;
  const first = signingKey('one');
  const elliptic = signingKey('two', 'ES256');
  beforeAll(async () => {
    provider = await SignInProvider.start(ca, [first, elliptic]);
    server = await start({
      oidcIssuerUrl: provider.url,
      oidcClientId: 'client-RS256',
      oidcCaFile: write(ca.certificate),
      oidcUsernameClaim: 'email',
      oidcGroupsClaim: 'groups',
      oidcGroupsPrefix: 'oidc:',
    });
  });
  afterAll(async () => {
    await server.close();
    await provider.close();
  });

  test('issues an id token that is accepted as bearer token; its access token is refused [A198] [A209]', async () => {
    const { id_token, access_token } = await provider.signIn('ann');
    expect(await whoami(server, bearer(id_token))).toEqual({
      username: 'ann@example.com',
      groups: ['oidc:dev', 'oidc:qa', 'system:authenticated'],
    });
    expect(await whoami(server, bearer(access_token))).toEqual({ refused: 401 });
  });
  test('issues tokens for another client, which are refused [A210]', async () => {
    const { id_token } = await provider.signIn('ann', 'ES256');
    expect(await whoami(server, bearer(id_token))).toEqual({ refused: 401 });
  });
  test('can change its keys while requests run [A209]', async () => {
    const before = (await provider.signIn('ann')).id_token;
    expect((await whoami(server, bearer(before))).username).toBe('ann@example.com');
    await provider.use([signingKey('three'), elliptic]);
    const tokens = await Promise.all(['bob', 'cid', 'dan'].map(async user => (await provider.signIn(user)).id_token));
    const found = await Promise.all(tokens.map(token => whoami(server, bearer(token))));
    expect(found.map(({ username }) => username)).toEqual(['bob@example.com', 'cid@example.com', 'dan@example.com']);
  });
});

describe('an authentication file', () => {
  let provider: TestProvider;
  beforeAll(async () => {
    provider = await TestProvider.start([signingKey('first')], ca);
  });
  afterAll(() => provider.close());
  const authenticatorOf = (path: string): object => ({
    issuer: { url: provider.url + path, audiences: ['client'], certificateAuthority: ca.certificate },
    claimMappings: { username: { claim: 'sub', prefix: 'jwt:' } },
  });

  test('takes effect in all threads, within seconds after a change [A227] [A229] [A230]', async () => {
    const file = write(configuration([authenticatorOf('/a')]));
    const server = await start({ authenticationConfig: file });
    try {
      const [a, b] = [await provider.token({}, { path: '/a' }), await provider.token({}, { path: '/b' })];
      expect((await whoami(server, bearer(a))).username).toBe('jwt:alice');
      expect((await whoami(server, bearer(b))).refused).toBe(401);
      write(configuration([authenticatorOf('/b')]), file);
      await eventually(async () => (await whoami(server, bearer(b))).username === 'jwt:alice');
      await eventually(async () => (await whoami(server, bearer(a))).refused === 401);
      const { text } = await send(server, 'GET', '/metrics', bearer(server.token));
      expect(text).toMatch(
        /apiserver_authentication_config_controller_automatic_reload_last_timestamp_seconds\{[^}]*status="success"[^}]*\} \d/,
      );
      expect(text).toMatch(
        /apiserver_authentication_config_controller_automatic_reloads_total\{[^}]*status="success"[^}]*\} 1\n/,
      );
      await eventually(async () =>
        /apiserver_authentication_jwt_authenticator_latency_seconds_count\{[^}]*result="success"/.test(
          (await send(server, 'GET', '/metrics', bearer(server.token))).text,
        ),
      );
    } finally {
      await server.close();
    }
  });

  test('determines which paths need no credentials [A254] [A256] [A257] [A272] [A273]', async () => {
    const anonymous = { enabled: true, conditions: [{ path: '/livez' }, { path: '/readyz' }] };
    const server = await start({ authenticationConfig: write(configuration([], { anonymous })) });
    try {
      const status = async (path: string, headers = {}) => (await send(server, 'GET', path, headers)).status;
      for (let i = 0; i < 3; i++) {
        expect(await status('/livez')).toBe(200);
        expect(await status('/livez?verbose')).toBe(200);
        expect(await status('/version')).toBe(401);
        expect(await status('/livez/ping')).toBe(401);
        expect(await status('/healthz')).toBe(401);
      }
      expect(await status('/livez', bearer('nobody'))).toBe(401);
      expect(await status('/version', bearer(server.token))).toBe(200);
    } finally {
      await server.close();
    }
    const closed = await start({ authenticationConfig: write(configuration([], { anonymous: { enabled: false } })) });
    expect((await send(closed, 'GET', '/livez')).status).toBe(401);
    await closed.close();
  });

  test.each<[string, Settings, string]>([
    ['an OpenID Connect flag [A231]', { oidcClientId: 'x' }, 'cannot be used with the flags --oidc-*'],
    [
      'its gate disabled [A227]',
      { featureGates: ['StructuredAuthenticationConfiguration=false'] },
      'needs --feature-gates',
    ],
    ['--anonymous-auth, if it has `anonymous` [A255]', { anonymousAuth: true }, '--anonymous-auth: cannot be used if'],
  ])('does not start a server with %s', async (_, settings, message) => {
    const file = write(configuration([], { anonymous: { enabled: true } }));
    await expect(start({ authenticationConfig: file, ...settings })).rejects.toThrow(message);
  });
  test('that is missing or invalid fails the start with an error that names it [A228]', async () => {
    await expect(start({ authenticationConfig: join(folder, 'none') })).rejects.toThrow('--authentication-config: ');
    const file = write(configuration([{}]));
    await expect(start({ authenticationConfig: file })).rejects.toThrow(
      `--authentication-config: ${file}: jwt[0].issuer.url: is missing`,
    );
  });
});

describe('a server does not start', () => {
  const file = (): string => write('x');
  test.each<[string, () => Settings, string]>([
    [
      'with an issuer alone [A209] [A210]',
      () => ({ oidcIssuerUrl: 'https://a' }),
      '--oidc-issuer-url: needs --oidc-client-id too',
    ],
    [
      'with another OpenID Connect flag alone',
      () => ({ oidcGroupsClaim: 'g' }),
      'needs --oidc-issuer-url and --oidc-client-id too',
    ],
    [
      'with an issuer without TLS [A209]',
      () => ({ oidcIssuerUrl: 'http://a', oidcClientId: 'c' }),
      '--oidc-issuer-url: must begin with https://',
    ],
    [
      'with an algorithm for secrets [A219]',
      () => ({ oidcIssuerUrl: 'https://a', oidcClientId: 'c', oidcSigningAlgs: ['HS256'] }),
      '--oidc-signing-algs: must be of',
    ],
    [
      'with a claim without a value [A217]',
      () => ({ oidcIssuerUrl: 'https://a', oidcClientId: 'c', oidcRequiredClaim: ['a'] }),
      '--oidc-required-claim: must be CLAIM=VALUE',
    ],
    [
      'without the CA file [A218]',
      () => ({ oidcIssuerUrl: 'https://a', oidcClientId: 'c', oidcCaFile: '/none' }),
      '--oidc-ca-file: cannot read /none',
    ],
    [
      'with headers but no CA of proxies [A270]',
      () => ({ requestheaderUsernameHeaders: ['X-Remote-User'] }),
      'needs --requestheader-client-ca-file too',
    ],
    [
      'with a CA of proxies but no headers [A264]',
      () => ({ requestheaderClientCaFile: file() }),
      'needs --requestheader-username-headers too',
    ],
    [
      'with an invalid CA of proxies [A270]',
      () => ({ requestheaderClientCaFile: file(), requestheaderUsernameHeaders: ['X'] }),
      'holds no certificate in PEM',
    ],
    [
      'without the kubeconfig of its webhook [A199]',
      () => ({ authenticationTokenWebhookConfigFile: '/none' }),
      'there is no file /none',
    ],
    [
      'with an invalid kubeconfig [A199] [A204]',
      () => ({ authenticationTokenWebhookConfigFile: file() }),
      'must be a kubeconfig',
    ],
  ])('%s', async (_, settings, message) => {
    await expect(start(settings())).rejects.toThrow(message);
  });
});

describe('an authenticating proxy and a webhook, together with other methods', () => {
  let webhook: Server;
  const asked: string[] = [];
  let server: RunningServer;
  let proxy: Client;
  let stranger: Client;
  let user: Client;
  beforeAll(async () => {
    const { certificate: cert, key } = await ca.issue('localhost', ['localhost']);
    webhook = createServer({ cert, key }, (request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const { apiVersion, spec } = JSON.parse(Buffer.concat(chunks).toString());
        asked.push(spec.token);
        const authenticated = spec.token.startsWith('good');
        response.end(
          JSON.stringify({
            apiVersion,
            kind: 'TokenReview',
            status: authenticated ? { authenticated, user: { username: 'wanda' } } : { authenticated },
          }),
        );
      });
    });
    await new Promise<void>(resolve => webhook.listen(0, '127.0.0.1', resolve));
    const proxies = await authority('proxy-ca');
    const clients = await authority('client-ca');
    const clientOf = async (issuer: TestAuthority, name: string): Promise<Client> => {
      const issued = await issuer.issue(name, undefined, 'team');
      return { cert: issued.certificate, key: issued.key };
    };
    [proxy, stranger, user] = await Promise.all([
      clientOf(proxies, 'front-proxy'),
      clientOf(proxies, 'stranger'),
      clientOf(clients, 'ulla'),
    ]);
    server = await start({
      clientCaFile: write(clients.certificate),
      requestheaderClientCaFile: write(proxies.certificate),
      requestheaderAllowedNames: ['front-proxy'],
      requestheaderUsernameHeaders: ['X-Remote-User'],
      requestheaderGroupHeaders: ['X-Remote-Group'],
      requestheaderExtraHeadersPrefix: ['X-Remote-Extra-'],
      authenticationTokenWebhookConfigFile: write({
        'current-context': 'w',
        contexts: [{ name: 'w', context: { cluster: 'c', user: '' } }],
        clusters: [
          {
            name: 'c',
            cluster: {
              server: `https://localhost:${(webhook.address() as AddressInfo).port}`,
              'certificate-authority-data': Buffer.from(ca.certificate).toString('base64'),
            },
          },
        ],
      }),
    });
  });
  afterAll(async () => {
    await server.close();
    webhook.closeAllConnections();
    webhook.close();
  });

  test('take users from headers in any case [A013] [A205] [A264] [A265] [A266] [A267] [A268] [A269] [A178]', async () => {
    const headers = {
      'X-REMOTE-USER': 'Ann',
      'x-remote-group': ['a', 'b'],
      'X-Remote-Extra-Acme.com%2FPath': ['v1', 'v2'],
    };
    expect(await whoami(server, headers, proxy)).toEqual({
      username: 'Ann',
      groups: ['a', 'b', 'system:authenticated'],
      extra: { 'acme.com/path': ['v1', 'v2'] },
    });
    expect((await whoami(server, { 'x-remote-user': 'Bea' }, proxy)).username).toBe('Bea');
  });
  test('refuse other certificates of that CA, and ignore the headers of all other senders [A270] [A271] [A007]', async () => {
    const headers = { 'x-remote-user': 'ann' };
    expect(await whoami(server, headers, stranger)).toEqual({ refused: 401 });
    expect(await whoami(server, headers, user)).toMatchObject({
      username: 'ulla',
      groups: ['team', 'system:authenticated'],
    });
    expect(await whoami(server, { ...headers, ...bearer(server.token) })).toMatchObject({
      groups: expect.arrayContaining(['system:masters']),
    });
    expect((await send(server, 'GET', '/livez', headers)).status).toBe(200);
    // The certificate of a proxy does not authenticate a user.
    expect(await whoami(server, {}, proxy)).toEqual({ refused: 401 });
  });
  test('refuse bytes above 0x7f in the headers, on every listener', async () => {
    for (const name of ['\u00e9mile', 'ann\u00e9', '\u00ff'])
      expect(await whoami(server, { 'x-remote-user': name }, proxy)).toEqual({ refused: 401 });
  });
  test('call the webhook once for a token that no other authenticator knows [A165] [A180] [A199] [A200] [A273]', async () => {
    for (let i = 0; i < 3; i++) expect((await whoami(server, bearer('good-1'))).username).toBe('wanda');
    expect(asked).toEqual(['good-1']);
    await whoami(server, bearer(server.token));
    expect(asked).toEqual(['good-1']);
    expect(await whoami(server, bearer('bad'))).toEqual({ refused: 401 });
    expect(
      (await Promise.all(Array.from({ length: 10 }, () => whoami(server, bearer('good-2'))))).every(
        ({ username }) => username === 'wanda',
      ),
    ).toBe(true);
    expect(asked.filter(token => token === 'good-2')).toHaveLength(1);
  });
  test('are all active: the first that knows the sender decides [A178] [A179]', async () => {
    expect((await whoami(server, bearer('good-1'), user)).username).toBe('ulla');
    const account = await send(
      server,
      'POST',
      '/api/v1/namespaces/default/serviceaccounts/default/token',
      bearer(server.token),
      {
        apiVersion: 'authentication.orchestrator.io/v1',
        kind: 'TokenRequest',
        spec: {},
      },
    );
    expect((await whoami(server, bearer(JSON.parse(account.text).status.token))).username).toBe(
      'system:serviceaccount:default:default',
    );
  });
});

test('a server with the names that clients expect reads only files in these names [A228]', async () => {
  const content = { ...configuration([]), apiVersion: 'apiserver.config.k8s.io/v1beta1' };
  const server = await start({ naming: 'kubernetes', authenticationConfig: write(content) });
  await server.close();
  await expect(start({ naming: 'kubernetes', authenticationConfig: write(configuration([])) })).rejects.toThrow(
    'apiserver.config.k8s.io/v1beta1',
  );
});
