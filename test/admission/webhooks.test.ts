import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Answer, Api, deployment, type Loose } from '../api/support.js';
import { add, Hooks, install, patchOf } from './hooks.js';
import { MERGE } from '../support/mediaTypes.js';

/* Validating and mutating webhooks, through a running server and an HTTPS server with hooks. */

const MAPS = '/api/v1/namespaces/default/configmaps';

let api: Api;
let hooks: Hooks;
const directory = mkdtempSync(join(tmpdir(), 'capstan-webhooks-'));
beforeAll(async () => {
  hooks = await Hooks.start();
  const { certificate, key } = await hooks.client('the-server');
  const data = (text: string): string => Buffer.from(text).toString('base64');
  const user = { 'client-certificate-data': data(certificate), 'client-key-data': data(key) };
  const users = [
    { name: 'hook.default.svc', user },
    { name: '127.0.0.1', user: { token: 'for-the-hook' } },
  ];
  writeFileSync(join(directory, 'kubeconfig'), JSON.stringify({ kind: 'Config', apiVersion: 'v1', users }));
  const hooksFile = {
    apiVersion: 'apiserver.config.k8s.io/v1',
    kind: 'WebhookAdmissionConfiguration',
    kubeConfigFile: join(directory, 'kubeconfig'),
  };
  const plugin = (name: string): object => ({ name, configuration: hooksFile });
  const configuration = {
    kind: 'AdmissionConfiguration',
    apiVersion: 'apiserver.config.k8s.io/v1',
    plugins: [plugin('ValidatingAdmissionWebhook'), plugin('MutatingAdmissionWebhook')],
  };
  writeFileSync(join(directory, 'admission.yaml'), JSON.stringify(configuration));
  api = await Api.start({
    admissionControlConfigFile: join(directory, 'admission.yaml'),
    webhookResolve: [`default/hook=${hooks.url}`],
  });
});
afterAll(async () => {
  await api.close();
  await hooks.close();
  rmSync(directory, { recursive: true });
});

/** Creates a config map that the webhook at this path is called for. */
const create = (hook: string, name: string, query = ''): Promise<Answer> =>
  api.post(`${MAPS}${query}`, { metadata: { name, labels: { hook } }, data: { a: '1' } });
const STATUS = JSON.stringify({ kind: 'Status', apiVersion: 'v1', status: 'Failure', message: 'no' });
const failure = (hook: string, why: string): string =>
  `Internal error occurred: failed calling webhook "${hook}.example.com": ${why}`;

describe('a validating webhook', () => {
  test('is called from the first request after the answer to its configuration, with the whole review', async () => {
    await install(api, 'Validating', 'sees', hooks.webhook('/sees'));
    expect((await create('sees', 'sees', '?fieldManager=me')).status).toBe(201);
    expect((await api.patch(`${MAPS}/sees?dryRun=All`, MERGE, { data: { a: '2' } })).status).toBe(200);
    expect((await api.delete(`${MAPS}/sees`)).status).toBe(200);
    const calls = hooks.take('/sees');
    expect(calls.map(({ request }) => request['operation'])).toEqual(['CREATE', 'UPDATE', 'DELETE']);
    const [created, updated, deleted] = calls;
    expect(created?.query).toBe('?timeout=5s');
    expect(created?.request).toMatchObject({
      kind: { group: '', version: 'v1', kind: 'ConfigMap' },
      requestResource: { group: '', version: 'v1', resource: 'configmaps' },
      name: 'sees',
      namespace: 'default',
      operation: 'CREATE',
      object: { kind: 'ConfigMap', data: { a: '1' } },
      oldObject: null,
      dryRun: false,
      options: { kind: 'CreateOptions', fieldManager: 'me' },
    });
    expect(updated?.request).toMatchObject({
      operation: 'UPDATE',
      dryRun: true,
      object: { data: { a: '2' } },
      oldObject: { data: { a: '1' } },
      options: { kind: 'UpdateOptions', dryRun: ['All'] },
    });
    expect(deleted?.request).toMatchObject({ operation: 'DELETE', object: null, options: { kind: 'DeleteOptions' } });
  });

  test('gets the trace context of the request, if the client has sent one', async () => {
    await install(api, 'Validating', 'traced', hooks.webhook('/traced'));
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    const traced = (sent: Readonly<Record<string, string>>): Promise<Answer> =>
      api.post(`${MAPS}?dryRun=All`, { metadata: { name: 'traced', labels: { hook: 'traced' } } }, { headers: sent });
    await traced({ traceparent, tracestate: 'a=b' });
    await traced({ traceparent: '00-0-0-01', tracestate: 'a=b' });
    await traced({});
    const none = [undefined, undefined];
    expect(hooks.take('/traced').map(({ trace }) => trace)).toEqual([[traceparent, 'a=b'], none, none]);
  });

  test('can refuse with its own code, reason and message, and add warnings', async () => {
    await install(api, 'Validating', 'denies', hooks.webhook('/denies'));
    hooks.on('/denies', ({ name }) =>
      String(name) === 'bare'
        ? { allowed: false, warnings: ['beware'] }
        : { allowed: false, status: { code: 418, message: 'short and stout', reason: 'Teapot' } },
    );
    const bare = await create('denies', 'bare');
    expect([bare.status, bare.body['message'], bare.headers['warning']]).toEqual([
      400,
      'admission webhook "denies.example.com" denied the request without explanation',
      '299 - "beware"',
    ]);
    const full = await create('denies', 'full');
    expect([full.status, full.body['reason'], full.body['message']]).toEqual([
      418,
      'Teapot',
      'admission webhook "denies.example.com" denied the request: short and stout',
    ]);
    const step = { plugin: 'validating-admission-webhook', result: 'Refused' };
    expect((await api.decisionOf(full))['steps']).toContainEqual(expect.objectContaining(step));
  });

  test('can say when to retry, and its answer sets the header as well', async () => {
    await install(api, 'Validating', 'later', hooks.webhook('/later'));
    hooks.on('/later', () => ({ allowed: false, status: { code: 503, details: { retryAfterSeconds: 7 } } }));
    const refused = await create('later', 'later');
    expect([refused.status, refused.headers['retry-after']]).toEqual([503, '7']);
  });

  test('that is busy is called again after the time that it names', async () => {
    await install(api, 'Validating', 'busy', hooks.webhook('/busy'));
    let calls = 0;
    hooks.on('/busy', () => (calls++ < 2 ? { code: 429, headers: { 'retry-after': '0' }, raw: 'busy' } : {}));
    expect((await create('busy', 'busy')).status).toBe(201);
    expect(calls).toBe(3);
  });

  test('that is busy for longer than its timeout fails the request', async () => {
    await install(api, 'Validating', 'closed', hooks.webhook('/closed', { timeoutSeconds: 1 }));
    hooks.on('/closed', () => ({ code: 503, headers: { 'retry-after': '60' }, raw: 'closed' }));
    const { status, body } = await create('closed', 'closed');
    expect(status).toBe(500);
    expect(body['message']).toContain('context deadline exceeded');
  });

  test('may compress its answer', async () => {
    await install(api, 'Validating', 'zips', hooks.webhook('/zips'));
    hooks.on('/zips', ({ uid }) => {
      const review = { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response: { uid, allowed: true } };
      return { headers: { 'content-encoding': 'gzip' }, raw: gzipSync(JSON.stringify(review)) };
    });
    expect((await create('zips', 'zips')).status).toBe(201);
  });

  test('is called once for a pod that is evicted or deleted without grace period', async () => {
    const pods = '/api/v1/namespaces/default/pods';
    const rules = [{ apiGroups: ['*'], apiVersions: ['*'], operations: ['*'], resources: ['pods', 'pods/eviction'] }];
    const webhook = hooks.webhook('/once', { rules, objectSelector: {} });
    await install(api, 'Validating', 'once', webhook);
    await install(api, 'Mutating', 'once', webhook);
    const pod = (name: string): object => ({ metadata: { name }, spec: { containers: [{ name: 'c', image: 'i' }] } });
    await api.made(pods, pod('evicted'));
    await api.made(pods, pod('deleted'));
    hooks.take('/once');
    await api.made(`${pods}/evicted/eviction`, {
      metadata: { name: 'evicted' },
      deleteOptions: { gracePeriodSeconds: 0 },
    });
    expect(hooks.take('/once').map(({ request }) => request['operation'])).toEqual(['CREATE', 'CREATE']);
    await api.delete(`${pods}/deleted?gracePeriodSeconds=0`);
    expect(hooks.take('/once').map(({ request }) => request['operation'])).toEqual(['DELETE', 'DELETE']);
    await api.delete('/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/once');
    await api.delete('/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/once');
  });

  test('is called for the eviction of a pod that does not exist', async () => {
    const rules = [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods/eviction'] }];
    await install(api, 'Validating', 'absent', hooks.webhook('/absent', { rules, objectSelector: {} }));
    const evicted = await api.post('/api/v1/namespaces/default/pods/nobody/eviction', {
      metadata: { name: 'nobody' },
      deleteOptions: { gracePeriodSeconds: 0 },
    });
    expect(evicted.status).toBe(404);
    const owners = hooks.take('/absent').map(({ request }) => request['object']!['metadata']!['managedFields']);
    expect(owners).toMatchObject([[{ operation: 'Update', apiVersion: 'policy/v1', subresource: 'eviction' }]]);
    await api.delete('/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/absent');
  });

  test('can warn the client that deletes a pod, also if the deletion takes two writes', async () => {
    const pods = '/api/v1/namespaces/default/pods';
    const rules = [{ apiGroups: [''], apiVersions: ['v1'], operations: ['DELETE'], resources: ['pods'] }];
    hooks.on('/warns-deletes', () => ({ warnings: ['gone'] }));
    await install(api, 'Validating', 'warns-deletes', hooks.webhook('/warns-deletes', { rules, objectSelector: {} }));
    await api.made(pods, { metadata: { name: 'warned' }, spec: { containers: [{ name: 'c', image: 'i' }] } });
    const deleted = await api.delete(`${pods}/warned?gracePeriodSeconds=0`);
    expect(deleted).toMatchObject({ status: 200, headers: { warning: '299 - "gone"' } });
    expect((await api.decisionOf(deleted))['steps']).toContainEqual(expect.objectContaining({ result: 'Warned' }));
    await api.delete('/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/warns-deletes');
  });

  test('sees the options of a connection, which cannot be a dry run', async () => {
    const pods = '/api/v1/namespaces/default/pods';
    const rules = [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CONNECT'], resources: ['pods/*'] }];
    await api.made(pods, { metadata: { name: 'connected' }, spec: { containers: [{ name: 'c', image: 'i' }] } });
    await install(api, 'Validating', 'connects', hooks.webhook('/connects', { rules, objectSelector: {} }));
    await api.get(`${pods}/connected/proxy/some/path?x=y`);
    await api.post(`${pods}/connected/portforward?ports=80`, {});
    expect(hooks.take('/connects').map(({ request }) => request['object'])).toMatchObject([
      { kind: 'PodProxyOptions', path: '/some/path' },
      { kind: 'PodPortForwardOptions', ports: [80] },
    ]);
    const dry = await api.post(`${pods}/connected/exec?command=ls&dryRun=All`, {});
    expect([dry.status, dry.body['message']]).toEqual([400, 'dryRun is not supported']);
    expect(hooks.take('/connects')).toEqual([]);
  });

  test('that is slow delays only the requests that it matches', async () => {
    await install(api, 'Validating', 'slow', hooks.webhook('/slow', { timeoutSeconds: 30 }));
    let release: () => void = () => undefined;
    const released = new Promise<void>(resolve => (release = resolve));
    hooks.on('/slow', () => released.then(() => ({})));
    let isAnswered = false;
    const slow = create('slow', 'slow').then(answer => {
      isAnswered = true;
      return answer;
    });
    await api.until(async () => hooks.calls.some(({ path }) => path === '/slow'));
    for (let i = 0; i < 20; i++) expect((await create('other', `other-${i}`)).status).toBe(201);
    expect(isAnswered).toBe(false);
    release();
    expect((await slow).status).toBe(201);
  });

  test.each([
    ['is dead', { clientConfig: { url: 'https://127.0.0.1:1/x' } }, undefined, 'connection refused'],
    ['is not trusted', undefined, undefined, 'certificate'],
    ['does not answer', { timeoutSeconds: 1 }, new Promise(() => undefined), '?timeout=1s": context deadline exceeded'],
    ['redirects', {}, { code: 302, headers: { location: 'https://127.0.0.1:1/' }, raw: '' }, 'the status code 302'],
    ['answers with an error', {}, { code: 500, raw: 'boom' }, 'an error on the server ("unknown")'],
    ['answers nothing', {}, { raw: '' }, '0-length response with status code: 200 and content type: application/json'],
    ['lies about the review', {}, { uid: 'other' }, 'expected response.uid='],
    ['answers a text', {}, { raw: '"yes"' }, 'json: cannot unmarshal string into Go value of type struct'],
    ['answers with another kind', {}, { raw: STATUS }, 'converting (v1.Status) to (v1.AdmissionReview)'],
    [
      'sends a string as allowed',
      {},
      { allowed: 'yes' },
      'unmarshal string into Go struct field AdmissionResponse.response.allowed',
    ],
    [
      'sends a string as code',
      {},
      { status: { code: '403' } },
      'Go struct field Status.response.status.code of type int32',
    ],
    [
      'warns with a number',
      {},
      { warnings: [1] },
      'Go struct field AdmissionResponse.response.warnings of type string',
    ],
    ['floods', {}, { raw: ' '.repeat(5 * 1024 * 1024) }, 'the response is larger than'],
    ['returns a patch', {}, patchOf(), 'validating webhook may not return response.patch'],
  ])('that %s fails the request, unless failures are ignored', async (what, more, answer, why) => {
    const name = what.replaceAll(' ', '-');
    const given = more ?? { clientConfig: { url: `${hooks.url}/x` } };
    hooks.on(`/${name}`, () => answer ?? {});
    const ignored = hooks.webhook(`/${name}`, {
      ...given,
      name: 'ignored.example.com',
      failurePolicy: 'Ignore',
      objectSelector: { matchLabels: { hook: `${name}-ignored` } },
    });
    await install(api, 'Validating', name, hooks.webhook(`/${name}`, given), ignored);
    const failed = await create(name, name);
    expect(failed.status).toBe(500);
    expect(failed.body['message']).toContain(`failed calling webhook "${name}.example.com": `);
    expect(failed.body['message']).toContain(why);
    expect((await create(`${name}-ignored`, `${name}-ignored`)).status).toBe(201);
  });

  test('is called over connections that are kept', async () => {
    await install(api, 'Validating', 'kept', hooks.webhook('/kept'));
    await create('kept', 'kept-0');
    const before = hooks.connections;
    for (let i = 1; i < 30; i++) await create('kept', `kept-${i}`);
    // Each pool thread has its own connections.
    expect(hooks.connections - before).toBeLessThanOrEqual(4);
  });

  test('[R278] is called in a dry run only if it has no side effects then', async () => {
    await install(api, 'Validating', 'effects', hooks.webhook('/effects', { sideEffects: 'NoneOnDryRun' }));
    expect((await create('effects', 'effects', '?dryRun=All')).status).toBe(201);
    expect(hooks.take('/effects')[0]?.request['dryRun']).toBe(true);
  });

  test('of a service is found by --webhook-resolve and sees the certificate of the server', async () => {
    const service = { namespace: 'default', name: 'hook', path: '/service' };
    const clientConfig = { service, caBundle: hooks.caBundle };
    await install(api, 'Validating', 'service', hooks.webhook('/service', { clientConfig }));
    expect((await create('service', 'service')).status).toBe(201);
    expect(hooks.take('/service')[0]?.client).toBe('the-server');
    // The CA bundle is the certificate itself. The path is called without its empty segments.
    const own = { url: `${hooks.url}//token/`, caBundle: hooks.ownBundle };
    await install(api, 'Validating', 'token', hooks.webhook('/token', { clientConfig: own }));
    expect((await create('token', 'token')).status).toBe(201);
    expect(hooks.take('/token')[0]?.authorization).toBe('Bearer for-the-hook');
  });

  test('of an unknown service fails the request', async () => {
    const clientConfig = { service: { namespace: 'default', name: 'none' } };
    await install(api, 'Validating', 'unknown', hooks.webhook('/unknown', { clientConfig }));
    expect((await create('unknown', 'unknown')).body['message']).toBe(
      failure(
        'unknown',
        'failed to call webhook: Post "https://none.default.svc:443/?timeout=5s": service "none" not found',
      ),
    );
  });

  test('is called only if its match conditions are true; an error in them refuses the request', async () => {
    const condition = (expression: string): object => ({ matchConditions: [{ name: 'c', expression }] });
    await install(
      api,
      'Validating',
      'conditions',
      hooks.webhook('/conditions', condition("object.metadata.name == 'yes'")),
      hooks.webhook('/broken', condition("object.data.none == 'x'")),
    );
    await create('conditions', 'no');
    expect(hooks.take('/conditions')).toEqual([]);
    await create('conditions', 'yes');
    expect(hooks.take('/conditions')).toHaveLength(1);
    const broken = await create('broken', 'broken');
    expect([broken.status, broken.body['message']]).toEqual([
      403,
      `configmaps "broken" is forbidden: expression 'object.data.none == "x"' resulted in error: no such key: none`.replaceAll(
        '"x"',
        "'x'",
      ),
    ]);
  });

  test('is never called for configurations of webhooks', async () => {
    const rules = [{ apiGroups: ['*'], apiVersions: ['*'], operations: ['*'], resources: ['*'], scope: 'Cluster' }];
    hooks.on('/locks', () => ({ allowed: false }));
    await install(api, 'Validating', 'locks', hooks.webhook('/locks', { rules, objectSelector: {} }));
    expect((await api.post('/api/v1/namespaces', { metadata: { name: 'locked' } })).status).toBe(400);
    const path = '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/locks';
    expect((await api.delete(path)).status).toBe(200);
    expect((await api.post('/api/v1/namespaces', { metadata: { name: 'locked' } })).status).toBe(201);
  });
});

describe('a mutating webhook', () => {
  test('sees a new object without the members that the server sets last, and an update as it was sent', async () => {
    await install(api, 'Mutating', 'early', hooks.webhook('/early'));
    await create('early', 'early');
    const labels = { hook: 'early' };
    await api.put(`${MAPS}/early`, { metadata: { name: 'early', labels }, data: { b: '2' } });
    const [created, updated] = hooks.take('/early').map(({ request }) => request['object']!['metadata']!);
    for (const metadata of [created, updated]) {
      expect(metadata).toMatchObject({ name: 'early', creationTimestamp: null });
      expect(metadata).not.toHaveProperty('uid');
    }
    expect((await api.get(`${MAPS}/early`)).body).toMatchObject({ metadata: { uid: expect.any(String) as string } });
    await install(api, 'Mutating', 'claims', hooks.webhook('/claims'));
    hooks.on('/claims', () =>
      patchOf(add('/metadata/uid', 'mine'), add('/metadata/creationTimestamp', '2001-01-01T00:00:00Z')),
    );
    const { metadata } = (await create('claims', 'claims')).body as Loose;
    expect(metadata!['uid']).not.toBe('mine');
    expect(metadata!['creationTimestamp']).not.toMatch(/^2001/);
  });

  test('changes the object; earlier ones with reinvocationPolicy IfNeeded are called again', async () => {
    hooks.on('/one', ({ object }) => patchOf(add('/data/one', Object.keys(object!['data']!).join())));
    hooks.on('/two', () => patchOf(add('/data/two', 'x')));
    const selector = { objectSelector: { matchLabels: { hook: 'order' } } };
    await install(
      api,
      'Mutating',
      'order',
      hooks.webhook('/one', { ...selector, reinvocationPolicy: 'IfNeeded' }),
      hooks.webhook('/two', selector),
    );
    const made = await create('order', 'order');
    expect(made.body['data']).toEqual({ a: '1', one: 'a,one,two', two: 'x' });
    const calls = hooks.take('/one');
    expect(calls.map(({ userAgent }) => userAgent)).toEqual(['kube-apiserver-admission', 'kube-apiserver-admission']);
    expect(hooks.take('/two')).toHaveLength(1);
  });

  test('that adds fields which the kind does not have changes nothing', async () => {
    hooks.on('/before', () => ({}));
    hooks.on('/fields', () => patchOf(add('/unknown', 'x'), add('/metadata/unknown', 'x')));
    const selector = { objectSelector: { matchLabels: { hook: 'fields' } } };
    await install(
      api,
      'Mutating',
      'fields',
      hooks.webhook('/before', { ...selector, reinvocationPolicy: 'IfNeeded' }),
      hooks.webhook('/fields', selector),
    );
    const made = await create('fields', 'fields');
    expect([made.body['message'], Object.keys(made.body)]).toEqual([
      undefined,
      ['kind', 'apiVersion', 'metadata', 'data'],
    ]);
    expect(hooks.take('/before')).toHaveLength(1);
    expect(hooks.take('/fields')).toHaveLength(1);
  });

  test('sees and changes the version that its rules name', async () => {
    hooks.on('/hpa', ({ object }) => patchOf(add('/spec/maxReplicas', Number(object!['spec']!['maxReplicas']) + 1)));
    const rules = [
      {
        apiGroups: ['autoscaling'],
        apiVersions: ['v1'],
        operations: ['CREATE'],
        resources: ['horizontalpodautoscalers'],
      },
    ];
    // Match conditions see the resource of the request, in its own version.
    const expression = `request.resource.version == 'v2' && request.kind.version == 'v1'`;
    const matchConditions = [{ name: 'versions', expression }];
    await install(api, 'Mutating', 'hpa', hooks.webhook('/hpa', { rules, objectSelector: {}, matchConditions }));
    const made = await api.post('/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers', {
      metadata: { name: 'h' },
      spec: { maxReplicas: 2, scaleTargetRef: { kind: 'Deployment', name: 'd' } },
    });
    expect(hooks.take('/hpa')[0]?.request['object']?.['apiVersion']).toBe('autoscaling/v1');
    expect([made.body['apiVersion'], made.body['spec']?.['maxReplicas']]).toEqual(['autoscaling/v2', 3]);
  });

  test('changes a scale', async () => {
    hooks.on('/scale', () => patchOf(add('/spec/replicas', 7)));
    const rules = [{ apiGroups: ['apps'], apiVersions: ['v1'], operations: ['*'], resources: ['deployments/scale'] }];
    await install(api, 'Mutating', 'scale', hooks.webhook('/scale', { rules, objectSelector: {} }));
    await api.made('/apis/apps/v1/namespaces/default/deployments', deployment('d'));
    const path = '/apis/apps/v1/namespaces/default/deployments/d/scale';
    const scaled = await api.patch(path, MERGE, { spec: { replicas: 2 } });
    expect([scaled.body['kind'], scaled.body['spec']?.['replicas']]).toEqual(['Scale', 7]);
    // The webhook sees the managed fields of the replicas, before and after the change.
    const managedFields = [{ apiVersion: 'autoscaling/v1', fieldsV1: { 'f:spec': { 'f:replicas': {} } } }];
    const object = { kind: 'Scale', metadata: { managedFields } };
    expect(hooks.take('/scale')[0]?.request).toMatchObject({ object, oldObject: object });
    expect(scaled.body['metadata']).not.toHaveProperty('managedFields');
  });

  test.each([
    ['has no such path', patchOf(add('/no/such/path', 1))],
    ['is not a list', { patchType: 'JSONPatch', patch: Buffer.from('{}').toString('base64') }],
    ['changes the kind', patchOf(add('/kind', 'Secret'))],
    ['makes it malformed', patchOf(add('/data', 'text'))],
    ['is not base64', { patchType: 'JSONPatch', patch: '!!!' }],
    ['is of an unknown type', { patchType: 'Merge', patch: Buffer.from('[{}]').toString('base64') }],
  ])('whose patch %s fails the request', async (what, answer) => {
    const name = what.replaceAll(' ', '-');
    hooks.on(`/${name}`, () => answer);
    await install(api, 'Mutating', name, hooks.webhook(`/${name}`));
    expect((await create(name, name)).status).toBe(500);
  });

  test.each(['', '?dryRun=All'])('is called once for the create of an object that exists%s', async query => {
    const name = query ? 'exists-dry' : 'exists';
    hooks.on(`/${name}`, () => ({ warnings: [`about ${name}`] }));
    await install(api, 'Mutating', name, hooks.webhook(`/${name}`));
    expect((await create(name, name)).status).toBe(201);
    hooks.take(`/${name}`);
    const taken = await create(name, name, query);
    expect(taken.status).toBe(409);
    expect(taken.headers['warning']).toBe(`299 - "about ${name}"`);
    expect(hooks.take(`/${name}`)).toHaveLength(1);
  });

  test('has no effect on the answer to a review that it patches', async () => {
    const rules = [
      { apiGroups: ['authorization.k8s.io'], apiVersions: ['v1'], operations: ['CREATE'], resources: ['*'] },
    ];
    hooks.on('/reviews', () => patchOf(add('/nobody', 1)));
    await install(api, 'Mutating', 'reviews', hooks.webhook('/reviews', { rules, objectSelector: {} }));
    const spec = { user: 'bob', resourceAttributes: { verb: 'get', resource: 'pods' } };
    const { body } = await api.post('/apis/authorization.k8s.io/v1/subjectaccessreviews', { spec });
    expect(body['status']).toMatchObject({ allowed: false });
    await api.delete('/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/reviews');
  });

  test('cannot change an object that is deleted', async () => {
    const rules = [{ apiGroups: [''], apiVersions: ['v1'], operations: ['DELETE'], resources: ['configmaps'] }];
    hooks.on('/deleted', () => patchOf(add('/metadata/labels', {})));
    await install(api, 'Mutating', 'deleted', hooks.webhook('/deleted', { rules }));
    await create('deleted', 'deleted');
    const answer = await api.delete(`${MAPS}/deleted`);
    expect(answer.body['message']).toContain('attempted to modify the object, which is not supported');
  });
});
