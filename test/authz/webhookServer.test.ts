import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { Api } from '../api/support.js';
import { authority } from '../authn/certificates.js';
import { TestWebhook } from '../authn/testWebhook.js';
import { startServer } from '../server/library.js';
import { writeKubeconfig } from './kubeconfig.js';

/* Servers with a webhook authorizer that is configured by flags. */

let webhook: TestWebhook;
let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'access-webhook-server-'));
  const ca = await authority('webhook-ca');
  webhook = await TestWebhook.start(ca);
  writeFileSync(join(folder, 'ca.crt'), ca.certificate);
});
afterEach(() => {
  webhook.calls.length = 0;
});
afterAll(() => {
  webhook.close();
  rmSync(folder, { recursive: true });
});

let files = 0;
const kubeconfig = (server = webhook.url): string => writeKubeconfig(folder, `${files++}.yaml`, server);
const answers = (status: object): void => {
  webhook.answer = ({ apiVersion }) => ({ apiVersion, kind: 'SubjectAccessReview', status });
};
/** The spec of the last review that the webhook received. */
const spec = (): Record<string, unknown> => JSON.parse(webhook.calls.at(-1)!.text).spec;

describe.each(['neutral', 'kubernetes'] as const)('a server with naming %s', naming => {
  let api: Api;
  beforeAll(async () => {
    const tokenAuthFile = join(folder, 'tokens');
    writeFileSync(tokenAuthFile, 'eve-token,eve,1\nmaster-token,max,2,system:masters');
    answers({ allowed: false });
    api = await Api.start({
      naming,
      tokenAuthFile,
      authorizationMode: ['Webhook', 'RBAC'],
      authorizationWebhookConfigFile: kubeconfig(),
      authorizationWebhookCacheAuthorizedTtl: 0,
      authorizationWebhookCacheUnauthorizedTtl: 0,
    });
  });
  afterAll(() => api.close());
  const status = async (path: string, token = 'eve-token'): Promise<number> => (await api.get(path, { token })).status;

  test('calls the webhook first; the first opinion decides [A009] [A291] [A292] [A293] [A324] [A326] [A328]', async () => {
    const pods = '/api/v1/namespaces/default/pods';
    expect([await status(pods), await status('/version')]).toEqual([403, 200]);
    expect(JSON.parse(webhook.calls.at(-1)!.text).apiVersion).toBe(
      `authorization.${naming === 'neutral' ? 'orchestrator' : 'k8s'}.io/v1beta1`,
    );
    answers({ allowed: true });
    expect(await status(pods)).toBe(200);
    answers({ allowed: false, denied: true, reason: 'closed' });
    expect([await status(pods), await status('/version')]).toEqual([403, 403]);
    const closed = await api.get(pods, { token: 'eve-token' });
    expect(closed.text).toContain('closed');
    expect(await api.decisionOf(closed)).toMatchObject({
      authorization: {
        allowed: false,
        authorizers: [{}, { decision: 'Deny', reason: 'closed' }],
      },
    });
    expect(await status(pods, 'master-token')).toBe(200);
    expect(webhook.calls.some(({ text }) => text.includes('"user":"max"'))).toBe(false);
    webhook.answer = () => 403;
    expect([await status(pods), await status('/version')]).toEqual([403, 200]);
  });

  test.each([
    ['POST', '', 'create'],
    ['GET', '/x', 'get'],
    ['HEAD', '/x', 'get'],
    ['GET', '', 'list'],
    ['HEAD', '', 'list'],
    ['GET', '?watch=1', 'watch'],
    ['PUT', '/x', 'update'],
    ['PATCH', '/x', 'patch'],
    ['DELETE', '/x', 'delete'],
    ['DELETE', '', 'deletecollection'],
  ] as const)(
    '%s of pods%s is %s [A306] [A307] [A308] [A309] [A310] [A311] [A312] [A313]',
    async (method, rest, verb) => {
      answers({ allowed: false, denied: true });
      await api.call(method, `/api/v1/namespaces/default/pods${rest}`, { token: 'eve-token' });
      expect(spec()['resourceAttributes']).toMatchObject({ verb, resource: 'pods', namespace: 'default' });
    },
  );

  test('lets the webhook deny non-resource paths, while resources and discovery work [A414] [A415]', async () => {
    webhook.answer = ({ apiVersion, spec: asked }) => {
      const { path } = (asked['nonResourceAttributes'] ?? {}) as { path?: string };
      const denied = path === '/metrics';
      const allowed = 'resourceAttributes' in asked;
      return { apiVersion, kind: 'SubjectAccessReview', status: { allowed, denied } };
    };
    const group = naming === 'neutral' ? 'authorization.orchestrator.io' : 'authorization.k8s.io';
    // The role system:discovery allows these if the webhook has no opinion.
    for (const path of ['/api', '/api/v1', '/apis', '/apis/apps', `/apis/${group}/v1`, '/version'])
      expect([path, await status(path)]).toEqual([path, 200]);
    expect([await status('/metrics'), await status('/api/v1/namespaces/default/pods')]).toEqual([403, 200]);
  });

  test('calls the webhook for each part of an impersonation, as upstream does', async () => {
    answers({ allowed: true });
    const from = webhook.calls.length;
    const headers = { 'impersonate-user': 'bob', 'impersonate-group': 'dev', 'impersonate-extra-scope': 'all' };
    await api.get('/version', { token: 'eve-token', headers });
    const asked = webhook.calls.slice(from).map(({ text }) => JSON.parse(text).spec as Record<string, unknown>);
    const group = naming === 'neutral' ? 'authentication.orchestrator.io' : 'authentication.k8s.io';
    const verb = 'impersonate';
    expect(asked.filter(({ user }) => user === 'eve').map(one => one['resourceAttributes'])).toEqual([
      { verb, resource: 'users', name: 'bob' },
      { verb, resource: 'groups', name: 'dev' },
      { verb, group, version: 'v1', resource: 'userextras', subresource: 'scope', name: 'all' },
    ]);
  });

  test('sends selectors to the webhook, without a flag [A453]', async () => {
    answers({ allowed: true });
    await status('/api/v1/namespaces/default/pods?labelSelector=a%3Db&fieldSelector=metadata.name%3Dx');
    expect(spec()['resourceAttributes']).toMatchObject({
      labelSelector: { requirements: [{ key: 'a', operator: 'In', values: ['b'] }] },
      fieldSelector: { requirements: [{ key: 'metadata.name', operator: 'In', values: ['x'] }] },
    });
  });

  test('refuses roles that grant more than the webhook lets escalate [A353]', async () => {
    webhook.answer = ({ apiVersion, spec: asked }) => {
      const allowed = (asked['resourceAttributes'] as { verb?: string } | undefined)?.verb === 'create';
      return { apiVersion, kind: 'SubjectAccessReview', status: { allowed } };
    };
    const group = naming === 'neutral' ? 'orchestrator' : 'k8s';
    const role = {
      apiVersion: `rbac.authorization.${group}.io/v1`,
      kind: 'Role',
      metadata: { name: 'strong' },
      rules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }],
    };
    const path = `/apis/rbac.authorization.${group}.io/v1/namespaces/default/roles`;
    expect((await api.post(path, role, { token: 'eve-token' })).status).toBe(403);
    expect((await api.post(path, { ...role, rules: [] }, { token: 'eve-token' })).status).toBe(201);
  });
});

describe('a server does not start', () => {
  const broken = (): string => {
    const file = kubeconfig();
    writeFileSync(file, readFileSync(file, 'utf8').replace('"current-context":"here"', '"current-context":"there"'));
    return file;
  };
  test.each([
    [() => ({ authorizationMode: ['Webhook'] }), /Webhook needs --authorization-webhook-config-file too/],
    [() => ({ authorizationWebhookConfigFile: kubeconfig() }), /config-file: needs Webhook in --authorization-mode/],
    ...(
      [
        [() => kubeconfig('http://localhost/x'), /config-file: .*cluster\.server: must begin with https/],
        [() => kubeconfig('https://localhost/x?a=b'), /cluster\.server: must have neither parameters/],
        [broken, /contexts: there is none with the name "there"/],
      ] as const
    ).map(
      ([file, message]) =>
        [() => ({ authorizationMode: ['Webhook'], authorizationWebhookConfigFile: file() }), message] as const,
    ),
  ] as const)('%# with a webhook that cannot be used [A394] [A396]', async (settings, message) => {
    const given = settings() as NonNullable<Parameters<typeof startServer>[0]>;
    await expect(startServer({ storage: 'memory', port: 0, ...given })).rejects.toThrow(message);
  });
});
