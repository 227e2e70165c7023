import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  authenticator,
  type Authorizer,
  authorizer,
  type Refusal,
  type Target,
  type User,
} from '../../core/api/index.js';
import { type AnonymousPolicy, identify } from '../../core/access/identity.js';
import { namingOf } from '../../core/naming.js';
import { clientCertificates } from '../../plugins/authn/clientCertificate.js';
import { requestHeaders } from '../../plugins/authn/requestHeader.js';
import { staticTokens } from '../../plugins/authn/staticToken.js';
import { parseTokenFile } from '../../plugins/authn/tokenFile.js';
import { abacAuthorizer } from '../../plugins/authz/abac/authorizer.js';
import type { Policy } from '../../plugins/authz/abac/policy.js';
import { allowAll, denyAll } from '../../plugins/authz/always.js';
import { masters } from '../../plugins/authz/systemMasters.js';
import { authority } from '../authn/certificates.js';
import { contributed, received, target, user } from './support.js';

/*
 * The effect of a failure in a chain on the parts after it, as in the upstream server, release 1.32, with the same
 * flags.
 */

let folder: string;
const certificates: { [name: string]: string } = {};
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'chains-'));
  const [clients, proxies, others] = await Promise.all(['clients', 'proxies', 'others'].map(name => authority(name)));
  writeFileSync(join(folder, 'clients.crt'), clients!.certificate);
  writeFileSync(join(folder, 'proxies.crt'), proxies!.certificate);
  const made = {
    dave: clients!.issue('dave', undefined, 'dev'),
    noName: clients!.issue('', undefined, 'dev'),
    server: clients!.issue('server', ['localhost']),
    front: proxies!.issue('front'),
    back: proxies!.issue('back'),
    stranger: others!.issue('root', undefined, 'system:masters'),
  };
  for (const [name, issued] of Object.entries(made)) certificates[name] = (await issued).certificate;
});
afterAll(() => rmSync(folder, { recursive: true }));

/** The authenticators of a server in their order, with or without the one for proxies. */
function authentication(hasProxies: boolean) {
  const host = { now: Date.now, naming: namingOf('kubernetes'), onClose: () => undefined };
  const proxies = requestHeaders(
    {
      clientCaFile: join(folder, 'proxies.crt'),
      allowedNames: ['front'],
      usernameHeaders: ['x-remote-user'],
      uidHeaders: [],
      groupHeaders: ['x-remote-group'],
      extraHeaderPrefixes: [],
    },
    host,
  );
  const tokens = parseTokenFile('bob-token,bob,1,dev\nanonymous-token,system:anonymous,2\n', 'tokens');
  const all = [
    ...(hasProxies ? [proxies] : []),
    clientCertificates(host, hasProxies ? { clientCaFile: join(folder, 'clients.crt') } : {}),
    staticTokens(tokens),
  ];
  return authenticator.combine(all.map(one => contributed(one)));
}

/** The name of the authenticated user, or the code of the refusal. */
async function sender(
  hasProxies: boolean,
  { certificate, invalid = false, path = '/', ...headers }: Sent,
  policy: AnonymousPolicy = { enabled: true },
): Promise<string | number> {
  const request = {
    ...received(headers, certificate && certificates[certificate]),
    hasInvalidCertificate: invalid,
    path,
  };
  try {
    const found = await authentication(hasProxies).authenticate(request);
    return identify(found.user, policy, path).name;
  } catch (thrown) {
    return (thrown as Refusal).code;
  }
}

/** Headers of a request, and how else it is sent. */
interface Sent {
  readonly certificate?: string;
  /** True if it has a certificate that TLS did not accept. */
  readonly invalid?: boolean;
  readonly path?: string;
  readonly authorization?: string;
  readonly 'x-remote-user'?: string;
  readonly 'x-remote-group'?: string;
}

const GOOD = { authorization: 'Bearer bob-token' };
const BAD = { authorization: 'Bearer nonsense' };
const ANN = { 'x-remote-user': 'ann' };
const MASTERS = { 'x-remote-group': 'system:masters' };

describe('the sender of a request with', () => {
  // [what, sent, without proxies, with proxies]; the CA of proxies is not a CA of clients, and vice versa.
  test.each<[what: string, sent: Sent, plain: string | number, proxied: string | number]>([
    ['nothing', {}, 'system:anonymous', 'system:anonymous'],
    ['another scheme', { authorization: 'Basic YTpi' }, 'system:anonymous', 'system:anonymous'],
    ['a token', GOOD, 'bob', 'bob'],
    ['an unknown token', BAD, 401, 401],
    [
      'a token of the anonymous user',
      { authorization: 'Bearer anonymous-token' },
      'system:anonymous',
      'system:anonymous',
    ],
    ['a certificate', { certificate: 'dave' }, 'dave', 'dave'],
    ['a certificate and a token', { certificate: 'dave', ...GOOD }, 'dave', 'dave'],
    ['a certificate and an unknown token', { certificate: 'dave', ...BAD }, 'dave', 'dave'],
    ['a certificate without a name', { certificate: 'noName' }, 'system:anonymous', 401],
    ['a certificate without a name, and a token', { certificate: 'noName', ...GOOD }, 'bob', 'bob'],
    ['a certificate of a server', { certificate: 'server' }, 401, 401],
    ['an invalid certificate', { invalid: true }, 401, 401],
    ['an invalid certificate and a token', { invalid: true, ...GOOD }, 'bob', 'bob'],
    ['an invalid certificate and an unknown token', { invalid: true, ...BAD }, 401, 401],
    ['headers of a proxy alone', { ...ANN, ...MASTERS }, 'system:anonymous', 'system:anonymous'],
    ['headers of a proxy and a token', { ...ANN, ...GOOD }, 'bob', 'bob'],
  ])('%s', async (_what, sent, plain, proxied) => {
    expect([await sender(false, sent), await sender(true, sent)]).toEqual([plain, proxied]);
  });

  test.each<[what: string, sent: Sent, proxied: string | number]>([
    ['the headers of a proxy', { certificate: 'front', ...ANN }, 'ann'],
    ['the headers of a proxy, and a token', { certificate: 'front', ...ANN, ...GOOD }, 'ann'],
    ['the headers of a proxy, and an unknown token', { certificate: 'front', ...ANN, ...BAD }, 'ann'],
    ['the certificate of a proxy alone', { certificate: 'front' }, 401],
    ['the certificate of a proxy, groups and a token', { certificate: 'front', ...MASTERS, ...GOOD }, 'bob'],
    ['the certificate of another proxy', { certificate: 'back', ...ANN }, 401],
    ['a certificate of a foreign CA', { certificate: 'stranger' }, 401],
    ['a certificate of a foreign CA, and a token', { certificate: 'stranger', ...GOOD }, 'bob'],
  ])('%s, where there are proxies', async (_what, sent, proxied) => {
    expect(await sender(true, sent)).toBe(proxied);
  });

  test.each<[what: string, policy: AnonymousPolicy, path: string, plain: string | number]>([
    ['anywhere, if anonymous requests are disabled', { enabled: false }, '/version', 401],
    ['at a path of the conditions', { enabled: true, paths: ['/version', '/healthz'] }, '/version', 'system:anonymous'],
    ['at another spelling of such a path', { enabled: true, paths: ['/version'] }, '/version/', 401],
    ['at another path', { enabled: true, paths: ['/version'] }, '/api', 401],
  ])('nothing, %s', async (_what, policy, path, plain) => {
    expect(await sender(false, { path }, policy)).toBe(plain);
    // A request with an unknown token is not anonymous.
    expect(await sender(false, { ...BAD, path }, policy)).toBe(401);
    expect(await sender(false, { ...GOOD, path }, policy)).toBe('bob');
  });
});

describe('the decision about a request', () => {
  const POLICY: Policy = {
    user: 'al',
    group: '',
    readonly: false,
    apiGroup: '*',
    resource: '*',
    namespace: '*',
    nonResourcePath: '',
    line: 1,
  };
  const abac = abacAuthorizer({
    naming: namingOf('kubernetes'),
    service: () => ({ state: () => [POLICY], ask: () => Promise.reject(new Error('no questions')) }),
  });
  /** A webhook that allows, denies, or has no opinion, depending on the user. */
  const webhook: Authorizer = {
    dependsOn: 'never',
    authorize: ({ name }) => {
      if (name === 'hooked') return { is: 'allow', reason: 'hook allows' };
      if (name === 'al') return { is: 'deny', reason: 'hook denies' };
      return { is: 'noOpinion', reason: 'hook has no opinion' };
    },
  };
  const BY_NAME = { AlwaysAllow: allowAll, AlwaysDeny: denyAll, ABAC: abac, Webhook: webhook };
  const decide = async (modes: string, who: User, what: Target = target({})) => {
    const chain = modes.split(',').map(mode => BY_NAME[mode as keyof typeof BY_NAME]);
    const all = [masters, ...chain].map(value => contributed(value));
    return (await authorizer.combine(all).authorize(who, what)).decision;
  };
  const NONE = 'noOpinion';

  test.each<[modes: string, who: string, is: string, reason?: string]>([
    ['AlwaysDeny,AlwaysAllow', 'eve', 'allow'],
    ['AlwaysAllow,AlwaysDeny', 'eve', 'allow'],
    ['AlwaysDeny', 'eve', NONE, 'Everything is forbidden.'],
    ['ABAC,AlwaysDeny', 'eve', NONE, 'No policy matched.\nEverything is forbidden.'],
    ['ABAC,AlwaysDeny', 'al', 'allow'],
    ['AlwaysDeny,ABAC', 'al', 'allow'],
    ['Webhook,ABAC', 'al', 'deny', 'hook denies'],
    ['ABAC,Webhook', 'al', 'allow'],
    ['AlwaysDeny,Webhook,AlwaysAllow', 'al', 'deny', 'hook denies'],
    ['AlwaysAllow,Webhook', 'al', 'allow'],
    ['Webhook,ABAC', 'hooked', 'allow', 'hook allows'],
    ['Webhook,ABAC', 'eve', NONE, 'hook has no opinion\nNo policy matched.'],
    ['ABAC,Webhook', 'eve', NONE, 'No policy matched.\nhook has no opinion'],
    ['Webhook,AlwaysAllow', 'eve', 'allow'],
  ])('by %s about %s is %s', async (modes, who, is, reason) => {
    const { is: found, reason: why } = await decide(modes, user(who, 'system:authenticated'));
    expect([found, ...(reason === undefined ? [] : [why])]).toEqual([is, ...(reason === undefined ? [] : [reason])]);
  });

  test.each(['Webhook', 'AlwaysDeny', 'Webhook,AlwaysDeny,ABAC'])(
    'by %s is not reached for members of system:masters, who are allowed before',
    async modes => {
      expect((await decide(modes, user('al', 'system:masters'))).is).toBe('allow');
      expect((await decide(modes, user('system:masters'))).is).toBe(NONE);
    },
  );
});
