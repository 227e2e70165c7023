import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { request as httpsRequest } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { JWTPayload } from 'jose';
import { parse } from 'yaml';
import { authCommand } from '../../core/command/subcommands/auth.js';
import { kubeconfigCommand } from '../../core/command/subcommands/kubeconfig.js';
import { parseFlags } from '../../core/command/flags.js';
import type { RunningServer } from '../../core/index.js';
import { namingOf } from '../../core/naming.js';
import { readAuthenticationFile } from '../../plugins/authn/jwt/file.js';
import { authority } from '../authn/certificates.js';
import { signingKey, TestProvider } from '../authn/provider.js';
import { TestWebhook } from '../authn/testWebhook.js';
import { Captured } from '../command/server.js';
import { startServer } from '../server/library.js';
import { blocksOf } from './code.js';

/* The recipes of docs/guides/access.md: their files and commands, with providers and services of this test. */

type Authenticator = { issuer: { url: string; certificateAuthority?: string } };
type Settings = NonNullable<Parameters<typeof startServer>[0]>;

/** The providers of the page, by the paths that serve as their issuers here. */
const PROVIDERS: Readonly<Record<string, string>> = {
  'google.yaml': '/google',
  'keycloak.yaml': '/keycloak',
  'dex.yaml': '/dex',
  'github.yaml': '/github',
};

/** The files of the page, by the name in their first line. */
const files = new Map(
  blocksOf('access', 'yaml').flatMap(text => {
    const name = /^# (\S+)\n/.exec(text)?.[1];
    return name === undefined ? [] : [[name, text] as const];
  }),
);
/** The commands of the page, as lists of words. */
const commands = blocksOf('access', 'sh')
  .join('\n')
  .replace(/ *#.*$/gm, '')
  .replaceAll('\\\n', ' ')
  .split('\n')
  .flatMap(line => (line.startsWith('capstan ') ? [line.trim().split(/ +/).slice(1)] : []));
/** The flags of the `capstan serve` with a flag. */
const flagsWith = (flag: string): readonly string[] =>
  commands
    .find(([command, ...flags]) => command === 'serve' && flags.some(one => one.startsWith(`${flag}=`)))!
    .slice(1);

let folder: string;
let provider: TestProvider;
let tokens: TestWebhook;
let permissions: TestWebhook;
let server: RunningServer;
let proxy: { cert: string; key: string };

const at = (name: string): string => join(folder, name);
const settingsOf = (flags: readonly string[]): Settings => {
  const { settings } = parseFlags(
    flags.map(flag => flag.replace(/=((?:[\w-]+)\.(?:yaml|crt))$/, (_, name) => `=${at(name)}`)),
  );
  return settings as Settings;
};

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'recipes-'));
  const ca = await authority('ca');
  provider = await TestProvider.start([signingKey('first')], ca);
  [tokens, permissions] = [await TestWebhook.start(ca), await TestWebhook.start(ca)];
  const [proxies, own] = [await authority('proxy-ca'), await ca.issue('capstan')];
  const issued = await proxies.issue('front-proxy');
  proxy = { cert: issued.certificate, key: issued.key };
  for (const name of ['tokens-ca.crt', 'permissions-ca.crt']) writeFileSync(at(name), ca.certificate);
  writeFileSync(at('proxy-ca.crt'), proxies.certificate);
  writeFileSync(at('capstan.crt'), own.certificate);
  writeFileSync(at('capstan.key'), own.key);
  for (const [name, text] of files)
    writeFileSync(
      at(name),
      text
        .replace('https://tokens.example.com/review', tokens.url)
        .replace('https://permissions.example.com/review', permissions.url)
        .replace('/etc/capstan/', `${folder}/`),
    );
  const jwt = Object.entries(PROVIDERS).flatMap(([name, path]) => {
    const authenticators = (parse(files.get(name)!) as { jwt: Authenticator[] }).jwt;
    for (const { issuer } of authenticators)
      Object.assign(issuer, { url: provider.url + path, certificateAuthority: ca.certificate });
    return authenticators;
  });
  writeFileSync(at('github.yaml'), JSON.stringify({ ...(parse(files.get('github.yaml')!) as object), jwt }));
  server = await startServer({
    storage: 'memory',
    port: 0,
    ...settingsOf(flagsWith('--requestheader-client-ca-file')),
    ...settingsOf(flagsWith('--authentication-token-webhook-config-file')),
    ...settingsOf(flagsWith('--authorization-config')),
    ...settingsOf(['--authentication-config=github.yaml']),
  });
  writeFileSync(at('admin.kubeconfig'), server.kubeconfig);
});
afterAll(async () => {
  await server?.close();
  await provider.close();
  for (const one of [tokens, permissions]) one.close();
  rmSync(folder, { recursive: true });
});

/** Sends a request, with the certificate of the proxy if it has other headers than a token. */
function send(method: string, path: string, headers: object, body?: object): Promise<{ status: number; text: string }> {
  const isOfProxy = !('authorization' in headers) && Object.keys(headers).length > 0;
  return new Promise((resolve, reject) => {
    const options = { method, rejectUnauthorized: false, agent: false, ...(isOfProxy && proxy) } as const;
    const all = { 'content-type': 'application/json', ...headers };
    const sent = httpsRequest(new URL(path, server.url), { ...options, headers: all }, answer => {
      const chunks: Buffer[] = [];
      answer.on('data', (chunk: Buffer) => chunks.push(chunk));
      answer.on('end', () => resolve({ status: answer.statusCode!, text: Buffer.concat(chunks).toString() }));
    });
    sent.on('error', reject);
    sent.end(body && JSON.stringify(body));
  });
}
const REVIEW = { apiVersion: 'authentication.orchestrator.io/v1', kind: 'SelfSubjectReview' };
async function whoami(headers: object): Promise<object> {
  const { status, text } = await send('POST', `/apis/${REVIEW.apiVersion}/selfsubjectreviews`, headers, REVIEW);
  return status === 201 ? JSON.parse(text).status.userInfo : { refused: status };
}
const bearer = (token: string): object => ({ authorization: `Bearer ${token}` });
const asUserOf = async (file: string, claims: JWTPayload): Promise<object> =>
  bearer(await provider.token(claims, { path: PROVIDERS[file]! }));

describe('the recipe for', () => {
  test.each(Object.keys(PROVIDERS))('%s has a file that a server accepts, and a command that names it', async name => {
    const text = files.get(name)!.replace(/ *certificateAuthority: \|\n(?: +[-.].*\n)+/, '');
    const context = { naming: namingOf('neutral'), ownIssuers: [], allowsAnonymous: true };
    const { jwt } = await readAuthenticationFile(Buffer.from(text), name, context);
    expect(jwt).toHaveLength(1);
    expect(commands).toContainEqual(['serve', `--authentication-config=${name}`]);
  });

  test('Google accepts verified addresses of the organization', async () => {
    const claims = { aud: 'CLIENT.apps.googleusercontent.com', email: 'ann@example.com', email_verified: true };
    expect(await whoami(await asUserOf('google.yaml', { ...claims, hd: 'example.com' }))).toMatchObject({
      username: 'ann@example.com',
    });
    for (const bad of [{}, { hd: 'other.com' }, { hd: 'example.com', email_verified: false }])
      expect(await whoami(await asUserOf('google.yaml', { ...claims, ...bad }))).toEqual({ refused: 401 });
  });

  test('Keycloak yields prefixed users and groups, to which the binding of the page grants permissions', async () => {
    const claims = { aud: 'capstan', sub: '4711', preferred_username: 'ann', groups: ['developers', 'system:masters'] };
    const headers = await asUserOf('keycloak.yaml', claims);
    expect(await whoami(headers)).toMatchObject({
      username: 'keycloak:ann',
      uid: '4711',
      groups: ['keycloak:developers', 'keycloak:system:masters', 'system:authenticated'],
    });
    permissions.answer = ({ apiVersion }) => ({ apiVersion, kind: 'SubjectAccessReview', status: { allowed: false } });
    const command = commands.find(words => words.join(' ') === 'auth reconcile -f developers.yaml')!;
    const flags = command.slice(1).map(word => (word === 'developers.yaml' ? at(word) : word));
    expect((await send('GET', '/api/v1/namespaces/default/secrets', headers)).status).toBe(403);
    await authCommand([...flags, `--kubeconfig=${at('admin.kubeconfig')}`], new Captured());
    expect((await send('GET', '/api/v1/namespaces/default/configmaps', headers)).status).toBe(200);
    expect((await send('GET', '/api/v1/nodes', headers)).status).toBe(403);
  });

  test('Dex yields addresses and prefixed groups, but no reserved names', async () => {
    const headers = await asUserOf('dex.yaml', { aud: 'capstan', email: 'ann@example.com', groups: ['ops'] });
    expect(await whoami(headers)).toMatchObject({
      username: 'ann@example.com',
      groups: ['dex:ops', 'system:authenticated'],
    });
    expect(await whoami(await asUserOf('dex.yaml', { aud: 'capstan', email: 'system:admin' }))).toEqual({
      refused: 401,
    });
  });

  test('GitHub Actions accepts main branches of the organization, and anonymous health checks', async () => {
    const claims = { aud: 'capstan', repository: 'example/app', workflow: 'deploy', ref: 'refs/heads/main' };
    expect(await whoami(await asUserOf('github.yaml', { ...claims, repository_owner: 'example' }))).toMatchObject({
      username: 'github:example/app',
      extra: { 'example.com/workflow': ['deploy'] },
    });
    for (const bad of [{ repository_owner: 'eve' }, { repository_owner: 'example', ref: 'refs/pull/1/merge' }])
      expect(await whoami(await asUserOf('github.yaml', { ...claims, ...bad }))).toEqual({ refused: 401 });
    expect((await send('GET', '/readyz', {})).status).toBe(200);
    expect((await send('GET', '/version', {})).status).toBe(401);
  });

  test('a webhook for tokens calls it with the certificate of the server', async () => {
    tokens.answer = ({ apiVersion, spec }) => ({
      apiVersion,
      kind: 'TokenReview',
      status: spec.token === 'good' ? { authenticated: true, user: { username: 'wanda' } } : {},
    });
    expect(await whoami(bearer('good'))).toMatchObject({ username: 'wanda' });
    expect(await whoami(bearer('bad'))).toEqual({ refused: 401 });
    expect(tokens.calls[0]).toMatchObject({ client: 'capstan' });
    expect(JSON.parse(tokens.calls[0]!.text)).toMatchObject({ apiVersion: 'authentication.orchestrator.io/v1' });
  });

  test('a proxy takes users from the headers of the proxy', async () => {
    const headers = { 'X-Remote-User': 'ann', 'X-Remote-Group': 'ops', 'X-Remote-Extra-Team': 'a' };
    expect(await whoami(headers)).toEqual({
      username: 'ann',
      groups: ['ops', 'system:authenticated'],
      extra: { team: ['a'] },
    });
  });

  test("a company's permission service calls it for resources of other namespaces, and denies if it does not answer [A340]", async () => {
    const ask = async (namespace: string): Promise<number> =>
      (await send('GET', `/api/v1/namespaces/${namespace}/pods`, { 'X-Remote-User': 'pat' })).status;
    permissions.answer = ({ apiVersion }) => ({ apiVersion, kind: 'SubjectAccessReview', status: { allowed: true } });
    expect([await ask('shop'), await ask('orchestrator-system')]).toEqual([200, 403]);
    expect(permissions.calls.at(-1)).toMatchObject({ client: 'capstan' });
    expect(permissions.calls.filter(({ text }) => text.includes('"user":"pat"'))).toHaveLength(1);
    permissions.answer = () => 403;
    expect(await ask('another')).toBe(403);
  });

  test('clients has commands that write kubeconfigs', async () => {
    const kubeconfigs = commands.filter(([command]) => command === 'kubeconfig');
    expect(kubeconfigs.length).toBeGreaterThanOrEqual(5);
    writeFileSync(at('robot.token'), 'abc');
    for (const [from, to] of [
      ['capstan.crt', 'ann.crt'],
      ['capstan.key', 'ann.key'],
    ] as const)
      writeFileSync(at(to), readFileSync(at(from)));
    for (const [, ...flags] of kubeconfigs) {
      const own = flags.map(flag =>
        flag.replace(/=([\w-]+\.(?:token|crt|key|kubeconfig))$/, (_, name) => `=${at(name)}`),
      );
      const io = new Captured();
      expect(await kubeconfigCommand([...own, `--kubeconfig=${at('admin.kubeconfig')}`], io)).toBe(0);
    }
  });

  test('several servers says that they need the same authorization file [A350]', () => {
    expect(readFileSync('docs/guides/access.md', 'utf8').replaceAll('\n', ' ')).toContain(
      'All servers over the same store must have the same file.',
    );
  });
});
