import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { loadSettings } from '../../core/command/config.js';
import { namingOf } from '../../core/naming.js';
import { readAuthorizationFile } from '../../plugins/authz/configured/file.js';
import { inClusterEndpoint } from '../../plugins/authz/webhook/inCluster.js';
import { Api } from '../api/support.js';
import { authority } from '../authn/certificates.js';
import { TestWebhook } from '../authn/testWebhook.js';
import { startServer } from '../server/library.js';
import { eventuallyPasses } from '../support/eventually.js';
import { writeKubeconfig } from './kubeconfig.js';

let folder: string;
let kubeconfig: string;
const hooks: TestWebhook[] = [];
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'authorization-file-'));
  const ca = await authority('webhook-ca');
  writeFileSync(join(folder, 'ca.crt'), ca.certificate);
  for (let i = 0; i < 2; i++) hooks.push(await TestWebhook.start(ca));
  kubeconfig = writeKubeconfig(folder, 'first.yaml', hooks[0]!.url);
  writeKubeconfig(folder, 'second.yaml', hooks[1]!.url);
});
afterAll(() => {
  for (const hook of hooks) hook.close();
  rmSync(folder, { recursive: true });
});

const RBAC = { type: 'RBAC', name: 'rbac' };

/** An authorizer of type Webhook with all required members. */
const hook = (more: object = {}, name = 'first'): object => ({
  type: 'Webhook',
  name,
  webhook: {
    timeout: '3s',
    subjectAccessReviewVersion: 'v1',
    matchConditionSubjectAccessReviewVersion: 'v1',
    failurePolicy: 'Deny',
    connectionInfo: { type: 'KubeConfigFile', kubeConfigFile: kubeconfig },
    ...more,
  },
});

const fileOf = (authorizers: readonly object[], { naming = 'neutral', version = 'v1', more = {} } = {}): string =>
  JSON.stringify({
    apiVersion: namingOf(naming as 'neutral').apiVersion(`apiserver.config.orchestrator.io/${version}`),
    kind: 'AuthorizationConfiguration',
    authorizers,
    ...more,
  });

const read = (text: string, naming: 'neutral' | 'kubernetes' = 'neutral') =>
  readAuthorizationFile(Buffer.from(text), 'file', namingOf(naming));

describe('an authorization file', () => {
  test.each(['neutral', 'kubernetes'] as const)(
    'has authorizers in order, with defaults, in %s names [A329] [A330] [A331]',
    async naming => {
      for (const version of ['v1', 'v1beta1', 'v1alpha1'])
        expect(await read(fileOf([hook(), { type: 'Node', name: 'node' }, RBAC], { naming, version }), naming)).toEqual(
          [
            {
              type: 'Webhook',
              name: 'first',
              webhook: {
                name: 'first',
                file: kubeconfig,
                version: 'v1',
                authorizedMs: 300_000,
                unauthorizedMs: 30_000,
                timeoutMs: 3000,
                failurePolicy: 'Deny',
                matchConditions: [],
              },
            },
            { type: 'Node', name: 'node' },
            RBAC,
          ],
        );
    },
  );

  test('sets how long answers are cached [A333] [A334] [A446] [A447]', async () => {
    const [given] = await read(fileOf([hook({ authorizedTTL: '1m', unauthorizedTTL: '2s' })]));
    expect(given).toMatchObject({ webhook: { authorizedMs: 60_000, unauthorizedMs: 2000 } });
    const [zero] = await read(fileOf([hook({ authorizedTTL: '0s', unauthorizedTTL: '0s' })]));
    expect(zero).toMatchObject({ webhook: { authorizedMs: 300_000, unauthorizedMs: 30_000 } });
  });

  const first = 'authorizers[0].webhook';
  test.each<[string, () => string, string]>([
    ['another version [A329] [A450]', () => fileOf([RBAC], { version: 'v2' }), 'apiVersion: must be apiserver.config'],
    ['another kind', () => fileOf([RBAC], { more: { kind: 'X' } }), 'kind: must be AuthorizationConfiguration'],
    ['an unknown field', () => fileOf([{ ...RBAC, foo: 1 }]), 'authorizers[0].foo: unknown field'],
    ['no authorizers', () => fileOf([]), 'authorizers: must have at least one'],
    ['an unknown type [A331]', () => fileOf([{ type: 'Nope', name: 'a' }]), 'authorizers[0].type: must be ABAC or'],
    ['no type', () => fileOf([{ name: 'a' }]), 'authorizers[0].type: is missing'],
    ['a type twice', () => fileOf([RBAC, { ...RBAC, name: 'b' }]), 'authorizers[1].type: there is another'],
    ['no name [A332]', () => fileOf([{ type: 'RBAC' }]), 'authorizers[0].name: is missing'],
    ['no name of a webhook [A332]', () => fileOf([hook({}, '')]), 'authorizers[0].name: is missing'],
    ['a name twice', () => fileOf([hook(), hook()]), 'authorizers[1].name: "first" is the name of another authorizer'],
    ['a bad name', () => fileOf([{ ...RBAC, name: 'A_' }]), 'authorizers[0].name: "A_": '],
    ['no webhook', () => fileOf([{ type: 'Webhook', name: 'a' }]), `${first}: is missing`],
    [
      'a webhook of another type',
      () => fileOf([{ ...RBAC, webhook: {} }]),
      `${first}: is for the type Webhook; omit it`,
    ],
    ['no timeout [A335]', () => fileOf([hook({ timeout: null })]), `${first}.timeout: is missing`],
    ['a long timeout [A335] [A445]', () => fileOf([hook({ timeout: '31s' })]), `${first}.timeout: must be at most 30s`],
    ['a negative TTL', () => fileOf([hook({ authorizedTTL: '-1s' })]), `${first}.authorizedTTL: must be a duration`],
    ['a TTL as number', () => fileOf([hook({ unauthorizedTTL: 5 })]), `${first}.unauthorizedTTL: must be a duration`],
    [
      'no version [A336]',
      () => fileOf([hook({ subjectAccessReviewVersion: '' })]),
      'subjectAccessReviewVersion: is missing',
    ],
    [
      'version v2 [A336]',
      () => fileOf([hook({ subjectAccessReviewVersion: 'v2' })]),
      'must be v1 or v1beta1, not "v2"',
    ],
    [
      'v1beta1 for conditions [A337]',
      () => fileOf([hook({ matchConditionSubjectAccessReviewVersion: 'v1beta1' })]),
      'matchConditionSubjectAccessReviewVersion: must be v1, not "v1beta1"',
    ],
    [
      'conditions without a version [A337]',
      () =>
        fileOf([hook({ matchConditionSubjectAccessReviewVersion: null, matchConditions: [{ expression: 'true' }] })]),
      'matchConditionSubjectAccessReviewVersion: is missing',
    ],
    ['no policy [A338]', () => fileOf([hook({ failurePolicy: null })]), `${first}.failurePolicy: is missing`],
    [
      'another policy [A338]',
      () => fileOf([hook({ failurePolicy: 'Allow' })]),
      'must be NoOpinion or Deny, not "Allow"',
    ],
    ['no connection', () => fileOf([hook({ connectionInfo: null })]), `${first}.connectionInfo.type: is missing`],
    [
      'a relative path [A342]',
      () => fileOf([hook({ connectionInfo: { type: 'KubeConfigFile', kubeConfigFile: 'x' } })]),
      'connectionInfo.kubeConfigFile: must be an absolute path, not "x"',
    ],
    [
      'no path [A342]',
      () => fileOf([hook({ connectionInfo: { type: 'KubeConfigFile' } })]),
      'connectionInfo.kubeConfigFile: is missing',
    ],
    [
      'a missing kubeconfig [A342]',
      () => fileOf([hook({ connectionInfo: { type: 'KubeConfigFile', kubeConfigFile: '/none/x' } })]),
      '/none/x: cannot be read',
    ],
    [
      'the cluster with a path [A343]',
      () => fileOf([hook({ connectionInfo: { type: 'InClusterConfig', kubeConfigFile: '/x' } })]),
      'connectionInfo.kubeConfigFile: is for the type KubeConfigFile; omit it',
    ],
    [
      'the cluster outside of one [A343]',
      () => fileOf([hook({ connectionInfo: { type: 'InClusterConfig' } })]),
      'InClusterConfig works in pods only',
    ],
    [
      '65 conditions [A444]',
      () => fileOf([hook({ matchConditions: Array.from({ length: 65 }, (_, i) => ({ expression: `${i} == 0` })) })]),
      'matchConditions: has 65 items; it must have at most 64',
    ],
    [
      'an empty condition',
      () => fileOf([hook({ matchConditions: [{}] })]),
      'matchConditions[0].expression: is missing',
    ],
    [
      'a condition that is not a bool',
      () => fileOf([hook({ matchConditions: [{ expression: '1' }] })]),
      'matchConditions[0].expression: "1" must evaluate to bool',
    ],
    [
      'a condition over an unknown field',
      () => fileOf([hook({ matchConditions: [{ expression: 'request.foo' }] })]),
      'does not compile: ERROR: <input>:1:8: undefined field',
    ],
    [
      'a condition twice',
      () => fileOf([hook({ matchConditions: [{ expression: 'true' }, { expression: 'true' }] })]),
      'matchConditions[1].expression: is the same as another condition',
    ],
  ])('with %s is refused', async (_, text, message) => {
    await expect(read(text())).rejects.toThrow(message);
  });

  test('may have up to 64 conditions [A444]', async () => {
    const matchConditions = Array.from({ length: 64 }, (_, i) => ({ expression: `${i} == 0` }));
    expect(await read(fileOf([hook({ matchConditions })]))).toHaveLength(1);
  });
});

test('InClusterConfig needs the environment variables and files of a pod [A343]', () => {
  const kubernetes = namingOf('kubernetes');
  expect(() => inClusterEndpoint(kubernetes, 'v1', {})).toThrow('the variable KUBERNETES_SERVICE_HOST is not set');
  const environment = { KUBERNETES_SERVICE_HOST: '10.0.0.1', KUBERNETES_SERVICE_PORT: '443' };
  expect(() => inClusterEndpoint(kubernetes, 'v1', environment)).toThrow(
    'cannot read /var/run/secrets/kubernetes.io/serviceaccount/token',
  );
});

describe('the file and the flags of modes', () => {
  test.each([
    '--authorization-mode=RBAC',
    '--authorization-webhook-version=v1',
    '--authorization-webhook-config-file=/x',
    '--authorization-webhook-cache-authorized-ttl=1s',
    '--authorization-webhook-cache-unauthorized-ttl=1s',
  ])('exclude each other: %s [A327] [A440] [A351]', flag => {
    expect(() => loadSettings(['--authorization-config=/x', flag])).toThrow(
      `--authorization-config: cannot be used with ${flag.replace(/=.*/, '')}`,
    );
    expect(loadSettings(['--authorization-config=/x']).authorizationConfig).toBe('/x');
  });

  test.each([
    [{}, /--authorization-config: .*authorizers: must have at least one/],
    [
      { featureGates: ['StructuredAuthorizationConfiguration=false'] },
      /needs --feature-gates=StructuredAuthorizationConfiguration=true|StructuredAuthorizationConfiguration/,
    ],
  ])('%# a server does not start with an invalid file', async (more, message) => {
    const authorizationConfig = join(folder, 'bad');
    writeFileSync(authorizationConfig, fileOf([]));
    await expect(startServer({ storage: 'memory', port: 0, authorizationConfig, ...more })).rejects.toThrow(message);
  });
});

describe('a server with an authorization file', () => {
  let api: Api;
  let mounted: string;
  let versions = 0;

  /** Replaces the file as mounted volumes do: its folder is a symbolic link, which is swapped. */
  function use(authorizers: readonly object[]): void {
    const version = join(folder, `version-${versions++}`);
    mkdirSync(version);
    writeFileSync(join(version, 'config'), fileOf(authorizers));
    symlinkSync(version, `${mounted}-next`);
    renameSync(`${mounted}-next`, mounted);
  }

  const second = (more: object = {}): object =>
    hook(
      { connectionInfo: { type: 'KubeConfigFile', kubeConfigFile: join(folder, 'second.yaml') }, ...more },
      'second',
    );
  const answer = (i: number, status: object): void => {
    hooks[i]!.answer = ({ apiVersion }) => ({ apiVersion, kind: 'SubjectAccessReview', status });
  };
  const list = async (namespace = 'default', token = 'eve-token'): Promise<number> =>
    (await api.get(`/api/v1/namespaces/${namespace}/pods`, { token })).status;
  const calls = (i: number, part = '"user":"eve"'): number =>
    hooks[i]!.calls.filter(({ text }) => text.includes(part)).length;

  beforeAll(async () => {
    mounted = join(folder, 'mounted');
    const tokenAuthFile = join(folder, 'tokens');
    writeFileSync(tokenAuthFile, 'eve-token,eve,1\nmaster-token,max,2,system:masters');
    for (const i of [0, 1]) answer(i, { allowed: false });
    use([hook(), second(), RBAC]);
    api = await Api.start({ naming: 'neutral', tokenAuthFile, authorizationConfig: join(mounted, 'config') });
  });
  afterAll(() => api.close());

  test('calls the authorizers in their order until one has an opinion [A291] [A292] [A325] [A328] [A352]', async () => {
    expect((await api.get('/version', { token: 'eve-token' })).status).toBe(200);
    expect([calls(0), calls(1)]).toEqual([1, 1]);
    answer(0, { allowed: false, denied: true });
    answer(1, { allowed: true });
    expect(await list('a')).toBe(403);
    expect(calls(1, '"namespace":"a"')).toBe(0);
    answer(0, { allowed: false });
    expect(await list('b')).toBe(200);
    expect([calls(0, '"namespace":"b"'), calls(1, '"namespace":"b"')]).toEqual([1, 1]);
    expect(await list('a', 'master-token')).toBe(200);
  });

  test('decides by the current roles, whatever earlier decisions were [A322]', async () => {
    const group = 'rbac.authorization.orchestrator.io';
    const path = `/apis/${group}/v1/namespaces/roles/rolebindings`;
    const binding = {
      apiVersion: `${group}/v1`,
      kind: 'RoleBinding',
      metadata: { name: 'eve' },
      roleRef: { apiGroup: group, kind: 'ClusterRole', name: 'view' },
      subjects: [{ apiGroup: group, kind: 'User', name: 'eve' }],
    };
    for (const i of [0, 1]) answer(i, { allowed: false });
    await api.made('/api/v1/namespaces', { metadata: { name: 'roles' } });
    for (let i = 0; i < 5; i++) {
      expect(await list('roles')).toBe(403);
      expect((await api.post(path, binding)).status).toBe(201);
      expect([await list('roles'), await list('roles')]).toEqual([200, 200]);
      expect((await api.delete(`${path}/eve`)).status).toBe(200);
    }
    expect(calls(0, '"namespace":"roles"')).toBe(1);
  });

  test('reads a changed file, and keeps the former one if it is invalid [A349] [A448]', async () => {
    answer(0, { allowed: true });
    answer(1, { allowed: false, denied: true });
    use([second(), hook(), RBAC]);
    await eventuallyPasses(async () => expect(await list(`c${versions++}`)).toBe(403));
    use([hook({ matchConditions: [{ expression: `request.resourceAttributes.namespace != 'out'` }] }), RBAC]);
    await eventuallyPasses(async () => expect([await list(`d${versions++}`), await list('out')]).toEqual([200, 403]));
    for (const bad of [[hook()], [second(), { type: 'Node', name: 'node' }, RBAC], []]) {
      const failures = await failed();
      use(bad);
      await eventuallyPasses(async () => expect(await failed()).toBeGreaterThan(failures));
    }
    expect([await list(`e${versions++}`), await list('out')]).toEqual([200, 403]);
  });

  const metrics = async (): Promise<string> => (await api.get('/metrics')).text;
  const failed = async (): Promise<number> =>
    Number(/automatic_reloads_total\{[^}]*status="failure"[^}]*\} (\d+)/.exec(await metrics())?.[1] ?? 0);

  test('counts decisions by the names of authorizers [A332]', async () => {
    await eventuallyPasses(async () => {
      const text = await metrics();
      expect(text).toMatch(
        /apiserver_authorization_decisions_total\{[^}]*name="first"[^}]*decision="allowed"[^}]*\} \d/,
      );
      expect(text).toMatch(/apiserver_authorization_webhook_evaluations_total\{[^}]*name="second"[^}]*\} \d/);
      expect(text).toMatch(/apiserver_authorization_match_condition_exclusions_total\{[^}]*name="first"[^}]*\} \d/);
    });
  });
});
