import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import eventRateLimit from '../../plugins/admission/optional/eventRateLimit/index.js';
import { EventLimiter } from '../../plugins/admission/optional/eventRateLimit/limiter.js';
import imagePolicy from '../../plugins/admission/optional/imagePolicy/index.js';
import { type Answer, Api, type Loose } from '../api/support.js';
import { authority } from '../authn/certificates.js';
import { TestWebhook } from '../authn/testWebhook.js';
import { eventually } from '../support/eventually.js';
import { MERGE, STRATEGIC } from '../support/mediaTypes.js';

/*
 * The plugins that call other servers or create objects: EventRateLimit, ImagePolicyWebhook and NamespaceAutoProvision;
 * and the audit log.
 */

const LIMITS = { apiVersion: 'eventratelimit.admission.k8s.io/v1alpha1', kind: 'Configuration' };
const folder = mkdtempSync(join(tmpdir(), 'capstan-images-'));
const pathOf = (name: string, content: object | string): string => {
  writeFileSync(join(folder, name), typeof content === 'string' ? content : JSON.stringify(content));
  return join(folder, name);
};

let webhook: TestWebhook;
let api: Api;
let kubeConfigFile: string;

beforeAll(async () => {
  const ca = await authority('image-ca');
  webhook = await TestWebhook.start(ca);
  const cluster = { server: webhook.url, 'certificate-authority': pathOf('ca.crt', ca.certificate) };
  kubeConfigFile = pathOf('images.yaml', {
    'current-context': 'a',
    contexts: [{ name: 'a', context: { cluster: 'a', user: 'a' } }],
    clusters: [{ name: 'a', cluster }],
    users: [{ name: 'a', user: { token: 't' } }],
  });
  const limits = [
    { type: 'Namespace', qps: 1, burst: 3 },
    { type: 'SourceAndObject', qps: 1, burst: 2, cacheSize: 10 },
  ];
  const images = { kubeConfigFile, allowTTL: 60, denyTTL: -1, retryBackoff: 1, defaultAllow: true };
  api = await Api.start({
    enableAdmissionPlugins: ['EventRateLimit', 'ImagePolicyWebhook', 'NamespaceAutoProvision'],
    admissionControlConfigFile: pathOf('admission.yaml', {
      apiVersion: 'apiserver.config.k8s.io/v1',
      kind: 'AdmissionConfiguration',
      plugins: [
        { name: 'EventRateLimit', configuration: { ...LIMITS, limits } },
        { name: 'ImagePolicyWebhook', configuration: { imagePolicy: images } },
      ],
    }),
    auditLogPath: join(folder, 'audit.log'),
    auditPolicyFile: pathOf(
      'policy.yaml',
      'apiVersion: audit.k8s.io/v1\nkind: Policy\nomitStages: [RequestReceived]\n' +
        'rules: [{ level: Metadata, users: [kube-admin] }]\n',
    ),
  });
  expect((await api.post('/api/v1/namespaces/default/serviceaccounts', { metadata: { name: 'own' } })).status).toBe(
    201,
  );
});
afterEach(() => void (webhook.calls.length = 0));
afterAll(async () => {
  await api?.close();
  webhook?.close();
  rmSync(folder, { recursive: true });
});

const refusal = ({ status, body }: Answer) => [status, body['reason'], body['message']];
/** The annotations of the last event. Answers wait for their events. */
const annotations = (): unknown =>
  (JSON.parse(readFileSync(join(folder, 'audit.log'), 'utf8').trim().split('\n').at(-1)!) as Loose).annotations;

describe('namespaces that do not exist', () => {
  const create = (namespace: string, query = '', sent?: Parameters<Api['post']>[2]): Promise<Answer> =>
    api.post(`/api/v1/namespaces/${namespace}/configmaps${query}`, { metadata: { generateName: 'c-' } }, sent);
  const found = async (namespace: string): Promise<number> => (await api.get(`/api/v1/namespaces/${namespace}`)).status;

  test('are created by the server for the objects in them, once for several requests', async () => {
    const answers = await Promise.all(Array.from({ length: 8 }, () => create('made')));
    expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(201));
    const { metadata } = (await api.get('/api/v1/namespaces/made')).body;
    expect(metadata?.['managedFields']).toMatchObject([{ manager: 'kube-apiserver', operation: 'Update' }]);
    const service = { metadata: { name: 'a' }, spec: { ports: [{ port: 80 }] } };
    expect((await api.put('/api/v1/namespaces/put/services/a', service)).status).toBe(201);
  });

  test('are created for senders that may not create namespaces', async () => {
    const rules = [{ apiGroups: [''], resources: ['configmaps'], verbs: ['create'] }];
    const rbac = '/apis/rbac.authorization.k8s.io/v1';
    await api.post(`${rbac}/clusterroles`, { metadata: { name: 'maker' }, rules });
    const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'maker' };
    const subjects = [{ kind: 'User', name: 'maker' }];
    await api.post(`${rbac}/clusterrolebindings`, { metadata: { name: 'maker' }, roleRef, subjects });
    const asMaker = { headers: { 'impersonate-user': 'maker' } };
    expect((await api.post('/api/v1/namespaces', { metadata: { name: 'own' } }, asMaker)).status).toBe(403);
    expect((await create('own', '', asMaker)).status).toBe(201);
  });

  test('are not created by dry runs, by other writes, and with invalid names', async () => {
    expect((await create('absent', '?dryRun=All')).status).toBe(404);
    expect((await api.delete('/api/v1/namespaces/absent/configmaps/a')).status).toBe(404);
    expect(await found('absent')).toBe(404);
    expect(refusal(await create('In_valid'))).toEqual([
      403,
      'Forbidden',
      expect.stringMatching(/^configmaps "c-" is forbidden: Namespace "In_valid" is invalid: metadata.name: Invalid/),
    ]);
  });

  test('are not created again while they are being deleted', async () => {
    await api.post('/api/v1/namespaces', { metadata: { name: 'ending', finalizers: ['example.com/wait'] } });
    await api.delete('/api/v1/namespaces/ending');
    expect(refusal(await create('ending'))).toEqual([
      403,
      'Forbidden',
      expect.stringContaining('in namespace ending because it is being terminated'),
    ]);
    await api.patch('/api/v1/namespaces/ending', MERGE, { metadata: { finalizers: null } });
  });
});

describe('events beyond a limit', () => {
  const event = (name: string, namespace: string, about = 'a', more: object = {}) => ({
    metadata: { name, namespace },
    involvedObject: { kind: 'Pod', namespace, name: about },
    source: { component: 'c', host: 'h' },
    reason: 'R',
    type: 'Normal',
    ...more,
  });
  const sent = (namespace: string, name: string, about?: string, query = ''): Promise<Answer> =>
    api.post(`/api/v1/namespaces/${namespace}/events${query}`, event(name, namespace, about));

  test('are answered with 429 and the limits that they exceed', async () => {
    expect((await sent('default', 'a')).status).toBe(201);
    const perObject = 'limit reached on type SourceAndObject for key chPoddefaulta';
    // Limits recover with time, also on a slow machine, so several events are sent at once to exceed them.
    let sendings = 0;
    const several = (): Promise<Answer[]> =>
      Promise.all(Array.from({ length: 6 }, () => sent('default', `e${sendings++}`)));
    const messages = new Set<unknown>();
    const refused = await eventually(async () => {
      const found = (await several()).filter(({ status }) => status === 429);
      for (const { body } of found) messages.add(body['message']);
      return messages.size >= 2 && found[0];
    });
    expect([refused.body['reason'], refused.body['details'], refused.headers['retry-after']]).toEqual([
      'TooManyRequests',
      undefined,
      undefined,
    ]);
    // The namespace has also counted the events that were refused.
    expect([...messages].sort()).toEqual([
      `Too many requests: [limit reached on type Namespace for key default, ${perObject}]`,
      `Too many requests: ${perObject}`,
    ]);
    const patch = () => api.patch('/api/v1/namespaces/default/events/a', MERGE, { message: `${sendings++}` });
    await eventually(async () => (await Promise.all([patch(), patch(), patch()])).some(({ status }) => status === 429));
    expect((await api.delete('/api/v1/namespaces/default/events/a')).status).toBe(200);
    expect((await sent('default', 'dry', 'a', '?dryRun=All')).status).toBe(201);
    expect((await sent('kube-system', 'a')).status).toBe(201);
  });

  test('are counted exactly, by key, and keys that were used least recently are forgotten', () => {
    let now = 0;
    const limiter = new EventLimiter([{ type: 'User', perSecond: 1, burst: 2, keys: 2 }], () => now);
    const taken = (...keys: string[]) => keys.map(key => limiter.ask([key]).length === 0);
    expect(taken('a', 'a', 'a', 'b')).toEqual([true, true, false, true]);
    now = 999;
    expect(taken('a')).toEqual([false]);
    now = 1000;
    expect(taken('a', 'a')).toEqual([true, false]);
    expect(taken('b', 'b', 'c', 'a')).toEqual([true, true, true, true]);
  });

  test.each([
    [undefined, 'limits: must not be empty'],
    [{ limits: [] }, 'apiVersion: must be one of'],
    [{ ...LIMITS }, 'limits: must not be empty'],
    [{ ...LIMITS, limits: {} }, 'limits: must be a list of limits'],
    [{ ...LIMITS, limit: [] }, 'limit: unknown field'],
    [
      { ...LIMITS, limits: [{ type: 'Foo', qps: 1, burst: 1 }] },
      'limits[0].type: Unsupported value: "Foo": supported values: "Server", "Namespace", "User", "SourceAndObject"',
    ],
    [{ ...LIMITS, limits: [{ type: 'User', qps: 1 }] }, 'limits[0].burst: Invalid value: 0: must be positive'],
    [{ ...LIMITS, limits: [{ type: 'User', qps: 0, burst: 1 }] }, 'limits[0].qps: Invalid value: 0: must be positive'],
    [{ ...LIMITS, limits: [{ type: 'User', qps: 1.5, burst: 1 }] }, 'limits[0].qps: must be an integer'],
    [
      { ...LIMITS, limits: [{ type: 'User', qps: 1, burst: 1, cacheSize: -5 }] },
      'limits[0].cacheSize: Invalid value: -5: must not be negative',
    ],
    [{ ...LIMITS, limits: [{ type: 'User', qps: 1, burst: 1, size: 1 }] }, 'limits[0].size: unknown field'],
    [
      { ...LIMITS, limits: [{ type: 'User', qps: 1, burst: 1 }, { cacheSize: -2 }] },
      'configuration: [limits[1].type: Unsupported value: "": ' +
        'supported values: "Server", "Namespace", "User", "SourceAndObject", ' +
        'limits[1].burst: Invalid value: 0: must be positive, limits[1].qps: Invalid value: 0: must be positive, ' +
        'limits[1].cacheSize: Invalid value: -2: must not be negative]',
    ],
  ])('cannot be limited by the configuration %j, which is refused', (config, message) =>
    expect(() => eventRateLimit.parse(config)).toThrow(message),
  );
});

describe('images that a webhook reviews', () => {
  let pods = 0;
  const created = (image: string, metadata: object = {}): Promise<Answer> =>
    api.post('/api/v1/namespaces/default/pods', {
      metadata: { name: `p${pods++}`, ...metadata },
      spec: {
        serviceAccountName: 'own',
        automountServiceAccountToken: false,
        initContainers: [{ name: 'i', image: 'init' }],
        containers: [{ name: 'c', image }],
      },
    });
  const answer = (status: object): void =>
    void (webhook.answer = review => ({ ...review, status: { auditAnnotations: { key: 'value' }, ...status } }));
  const reviews = () => webhook.calls.map(({ text }) => JSON.parse(text) as object);

  test('are reviewed once, with the annotations for the webhook', async () => {
    answer({ allowed: true });
    const mine = { annotations: { 'mine.image-policy.k8s.io/break-glass': '1', other: 'x' } };
    for (let i = 0; i < 2; i++) expect((await created('good', mine)).status).toBe(201);
    expect(reviews()).toEqual([
      {
        kind: 'ImageReview',
        apiVersion: 'imagepolicy.k8s.io/v1alpha1',
        metadata: { creationTimestamp: null },
        spec: {
          containers: [{ image: 'good' }, { image: 'init' }],
          annotations: { 'mine.image-policy.k8s.io/break-glass': '1' },
          namespace: 'default',
        },
        status: { allowed: false },
      },
    ]);
    expect(annotations()).toMatchObject({ 'imagepolicywebhook.image-policy.k8s.io/key': 'value' });
    const path = `/api/v1/namespaces/default/pods/p${pods - 1}`;
    const ephemeralContainers = [{ name: 'e', image: 'debug', terminationMessagePolicy: 'File' }];
    await api.patch(`${path}/ephemeralcontainers`, STRATEGIC, { spec: { ephemeralContainers } });
    expect(reviews()[1]).toMatchObject({ spec: { containers: [{ image: 'debug' }] } });
  });

  test('are refused with the reason of the webhook', async () => {
    answer({ allowed: false, reason: 'it is old' });
    expect(refusal(await created('bad', { name: 'bad' }))).toEqual([
      403,
      'Forbidden',
      'pods "bad" is forbidden: image policy webhook backend denied one or more images: it is old',
    ]);
    answer({});
    expect(refusal(await created('bad', { name: 'bad' }))[2]).toBe(
      'pods "bad" is forbidden: one or more images rejected by webhook backend',
    );
    expect(reviews()).toHaveLength(2);
  });

  test('are allowed by configuration if the webhook fails, after five calls', async () => {
    webhook.answer = () => 500;
    expect((await created('unknown')).status).toBe(201);
    expect(reviews()).toHaveLength(5);
    expect(annotations()).toMatchObject({ 'imagepolicywebhook.image-policy.k8s.io/failed-open': 'true' });
  });

  test.each([
    [undefined, 'imagePolicy.kubeConfigFile: no config specified'],
    [{ imagePolicy: 1 }, 'imagePolicy: must be an object'],
    [{ imagePolicy: {} }, 'imagePolicy.kubeConfigFile: must be the path'],
    [{ imagePolicy: { kubeConfigFile: '/nope' } }, '/nope: cannot be read'],
    [
      { imagePolicy: { kubeConfigFile: 'FILE', allowTTL: 1801 } },
      'imagePolicy.allowTTL: Invalid value: 1801: must be ',
    ],
    [
      { imagePolicy: { kubeConfigFile: 'FILE', denyTTL: -2 } },
      'imagePolicy.denyTTL: Invalid value: -2: must be between 1',
    ],
    [{ imagePolicy: { kubeConfigFile: 'FILE', retryBackoff: 'x' } }, 'imagePolicy.retryBackoff: must be an integer'],
    [{ imagePolicy: { kubeConfigFile: 'FILE', defaultAllow: 'x' } }, 'imagePolicy.defaultAllow: must be true or false'],
    [{ imagePolicy: { kubeConfigFile: 'FILE', ttl: 1 } }, 'imagePolicy.ttl: unknown field'],
  ])('cannot be reviewed with the configuration %j, which is refused', (config, message) => {
    const named = config && (JSON.parse(JSON.stringify(config).replace('FILE', kubeConfigFile)) as object);
    expect(() => imagePolicy.parse(named)).toThrow(message);
  });
});

describe('the audit event', () => {
  test('for a token request has the id of the token', async () => {
    const { body } = await api.post('/api/v1/namespaces/default/serviceaccounts/own/token', { spec: {} });
    const token = String((body['status'] as Loose)['token']);
    const { jti } = JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString()) as { jti: string };
    expect(annotations()).toMatchObject({ 'authentication.kubernetes.io/issued-credential-id': `JTI=${jti}` });
  });

  test('[R429, R561] for a request to a deprecated version says so', async () => {
    await api.get('/api/v1/componentstatuses?limit=1');
    expect(annotations()).toMatchObject({ 'k8s.io/deprecated': 'true' });
    await api.get('/api/v1/pods?limit=1');
    expect(annotations()).not.toHaveProperty('k8s.io/deprecated');
  });
});
