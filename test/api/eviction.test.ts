import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Api } from './support.js';
import { MERGE } from '../support/mediaTypes.js';

const PODS = '/api/v1/namespaces/default/pods';
const BUDGETS = '/apis/policy/v1/namespaces/default/poddisruptionbudgets';

let api: Api;
beforeAll(async () => {
  api = await Api.shared();
});
afterAll(() => api.close());

interface PodState {
  readonly labels?: { readonly [key: string]: string };
  readonly phase?: string;
  readonly isReady?: boolean;
  readonly node?: string;
}

/** Creates a pod with a status. Its label `app` is its name, unless other labels are given. */
async function createPod(name: string, { labels, phase = 'Running', isReady = true, node = 'n' }: PodState = {}) {
  const metadata = { name, labels: labels ?? { app: name } };
  await api.post(PODS, { metadata, spec: { nodeName: node, containers: [{ name: 'c', image: 'i' }] } });
  const conditions = [{ type: 'Ready', status: isReady ? 'True' : 'False' }];
  expect((await api.patch(`${PODS}/${name}/status`, MERGE, { status: { phase, conditions } })).status).toBe(200);
}

/** Creates a budget with a status, as its controller would set it. */
async function createBudget(name: string, spec: object, status: object = {}) {
  expect((await api.post(BUDGETS, { metadata: { name }, spec: { minAvailable: 1, ...spec } })).status).toBe(201);
  const all = { observedGeneration: 1, disruptionsAllowed: 1, currentHealthy: 2, desiredHealthy: 1, expectedPods: 2 };
  expect((await api.patch(`${BUDGETS}/${name}/status`, MERGE, { status: { ...all, ...status } })).status).toBe(200);
}

const evict = (name: string, { query = '', ...eviction }: { query?: string; [member: string]: unknown } = {}) =>
  api.post(`${PODS}/${name}/eviction${query}`, {
    apiVersion: 'policy/v1',
    kind: 'Eviction',
    metadata: { name },
    ...eviction,
  });

const statusOf = async (budget: string) => (await api.get(`${BUDGETS}/${budget}`)).body.status;

test('[R012] an eviction begins the deletion of the pod, and records the reason in its status', async () => {
  await createPod('free');
  const { status, body } = await evict('free');
  expect([status, body]).toMatchObject([201, { kind: 'Status', status: 'Success', code: 201 }]);
  const pod = (await api.get(`${PODS}/free`)).body;
  expect(pod.metadata).toMatchObject({ deletionGracePeriodSeconds: 30 });
  expect(pod.status?.conditions).toMatchObject([
    { type: 'Ready' },
    { type: 'DisruptionTarget', status: 'True', reason: 'EvictionByEvictionAPI', message: 'Eviction API: evicting' },
  ]);
});

test('the Status of an eviction or a delete is in the media type that the client accepts, and indented for people', async () => {
  const yaml = 'application/yaml';
  const indented = '{\n  "kind": "Status",\n  "apiVersion": "v1",\n  "metadata": {},\n  "status": "Success",\n';
  const body = { metadata: { name: 'shown' } };
  await createPod('shown');
  const sent = { body: { apiVersion: 'policy/v1', kind: 'Eviction', ...body } };
  const evictAs = (accept: string, query = '') =>
    api.call('POST', `${PODS}/shown/eviction?dryRun=All${query}`, { ...sent, accept });
  const inYaml = await evictAs(yaml);
  expect([inYaml.headers['content-type'], inYaml.text]).toEqual([
    yaml,
    'apiVersion: v1\ncode: 201\nkind: Status\nmetadata: {}\nstatus: Success\n',
  ]);
  expect((await evictAs('application/vnd.kubernetes.protobuf')).text.slice(0, 3)).toBe('k8s');
  expect((await evictAs('application/json;pretty=1')).text).toContain(indented);
  expect((await evictAs('application/json', '&pretty=1')).text).toContain(indented);
  const secrets = '/api/v1/namespaces/default/secrets';
  await api.made(secrets, body);
  const deleteAs = (headers: { readonly [name: string]: string }) =>
    api.call('DELETE', `${secrets}/shown?dryRun=All`, { headers });
  expect((await deleteAs({ 'user-agent': 'curl/8' })).text).toContain(indented);
  expect((await deleteAs({ accept: yaml })).text).toContain('status: Success\n');
  expect((await deleteAs({})).text.endsWith('}}\n')).toBe(true);
});

test('a pod without grace period is removed by its eviction', async () => {
  await createPod('unassigned', { node: '' });
  await createPod('hurried');
  expect((await evict('unassigned')).status).toBe(201);
  expect((await evict('hurried', { deleteOptions: { gracePeriodSeconds: 0 } })).status).toBe(201);
  for (const name of ['unassigned', 'hurried']) expect((await api.get(`${PODS}/${name}`)).status).toBe(404);
});

test('a budget counts the evictions of its pods, and refuses more than it allows', async () => {
  await createPod('counted-1', { labels: { app: 'counted' } });
  await createPod('counted-2', { labels: { app: 'counted' } });
  await createBudget('counted', { selector: { matchLabels: { app: 'counted' } } });
  expect((await evict('counted-1')).status).toBe(201);
  expect(await statusOf('counted')).toMatchObject({
    disruptionsAllowed: 0,
    disruptedPods: { 'counted-1': expect.stringMatching(/Z$/) },
    conditions: [{ type: 'DisruptionAllowed', status: 'False', reason: 'InsufficientPods', observedGeneration: 1 }],
  });
  const refused = await evict('counted-2');
  expect(refused.status).toBe(429);
  expect(refused.headers['retry-after']).toBeUndefined();
  expect(refused.body).toMatchObject({
    reason: 'TooManyRequests',
    message: "Cannot evict pod as it would violate the pod's disruption budget.",
    details: {
      causes: [
        {
          reason: 'DisruptionBudget',
          message: 'The disruption budget counted needs 1 healthy pods and has 2 currently',
        },
      ],
    },
  });
  expect((await api.get(`${PODS}/counted-2`)).body.metadata?.deletionTimestamp).toBeUndefined();
});

test('of concurrent evictions, exactly as many succeed as the budget allows', async () => {
  const names = Array.from({ length: 12 }, (_, i) => `rush-${i}`);
  for (const name of names) await createPod(name, { labels: { app: 'rush' } });
  await createBudget('rush', { selector: { matchLabels: { app: 'rush' } } }, { disruptionsAllowed: 5 });
  const statuses: number[] = [];
  // A client tries again after a conflict, as kubectl drain does.
  const persist = async (name: string): Promise<void> => {
    let { status } = await evict(name);
    while (status === 409) status = (await evict(name)).status;
    statuses.push(status);
  };
  await Promise.all(names.map(persist));
  expect(statuses.filter(status => status === 201)).toHaveLength(5);
  expect(statuses.filter(status => status === 429)).toHaveLength(7);
  const { disruptionsAllowed, disruptedPods } = (await statusOf('rush'))!;
  expect([disruptionsAllowed, Object.keys(disruptedPods!).length]).toEqual([0, 5]);
});

test('a dry run is refused like a real eviction, and changes neither pod nor budget', async () => {
  await createPod('dry');
  await createBudget('dry', { selector: { matchLabels: { app: 'dry' } } });
  expect((await evict('dry', { query: '?dryRun=All' })).status).toBe(201);
  expect((await evict('dry', { deleteOptions: { dryRun: ['All'] } })).status).toBe(201);
  expect((await api.get(`${PODS}/dry`)).body.metadata?.deletionTimestamp).toBeUndefined();
  expect(await statusOf('dry')).toMatchObject({ disruptionsAllowed: 1 });
  await api.patch(`${BUDGETS}/dry/status`, MERGE, { status: { disruptionsAllowed: 0 } });
  expect((await evict('dry', { query: '?dryRun=All' })).status).toBe(429);
});

test('a failed precondition is a conflict, and the budget does not count the eviction', async () => {
  await createPod('precise');
  await createBudget('precise', { selector: { matchLabels: { app: 'precise' } } });
  const { status, body } = await evict('precise', { deleteOptions: { preconditions: { uid: 'another' } } });
  expect([status, body.details]).toMatchObject([409, { kind: 'Pod', name: 'precise' }]);
  expect(await statusOf('precise')).toMatchObject({ disruptionsAllowed: 1 });
});

test('while the controller has not seen the newest budget, clients are told to retry', async () => {
  await createPod('early');
  await createBudget('early', { selector: { matchLabels: { app: 'early' } } }, { observedGeneration: 0 });
  const { status, headers, body } = await evict('early');
  expect([status, headers['retry-after']]).toEqual([429, '10']);
  expect(body.details?.causes).toMatchObject([
    { message: 'The disruption budget early is still being processed by the server.' },
  ]);
});

describe('a budget with', () => {
  test.each([
    ['an empty selector selects all pods of the namespace [R479]', { selector: {} }, 429],
    ['no selector selects none [R480]', {}, 201],
    ['another selector does not count', { selector: { matchLabels: { app: 'x' } } }, 201],
  ])('%s', async (_, spec, expected) => {
    await createPod('selected');
    await createBudget('selecting', spec, { disruptionsAllowed: 0 });
    expect((await evict('selected', { query: '?dryRun=All' })).status).toBe(expected);
    await api.delete(`${BUDGETS}/selecting`);
    await api.delete(`${PODS}/selected?gracePeriodSeconds=0`);
  });
});

test('a pod under several budgets cannot be evicted', async () => {
  await createPod('twice');
  for (const name of ['twice-1', 'twice-2']) await createBudget(name, { selector: { matchLabels: { app: 'twice' } } });
  const { status, body } = await evict('twice');
  expect([status, body.message]).toEqual([
    500,
    'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.',
  ]);
});

describe('under a budget that allows no disruption', () => {
  const nothing = { disruptionsAllowed: 0 };
  test.each([
    ['has ended', { phase: 'Failed' }, {}, nothing, 201],
    ['has not started', { phase: 'Pending' }, {}, nothing, 201],
    ['is ready', {}, { unhealthyPodEvictionPolicy: 'AlwaysAllow' }, nothing, 429],
    ['is not ready, while enough others are,', { isReady: false }, {}, nothing, 201],
    ['is not ready, and too few others are,', { isReady: false }, {}, { ...nothing, currentHealthy: 0 }, 429],
    [
      'is not ready, and may always be evicted,',
      { isReady: false },
      { unhealthyPodEvictionPolicy: 'AlwaysAllow' },
      { ...nothing, currentHealthy: 0 },
      201,
    ],
  ])('a pod that %s is answered as expected', async (name, pod, spec, status, expected) => {
    const label = name.replace(/[^a-z]+/g, '-').replace(/-$/, '');
    await createPod(label, pod);
    await createBudget(label, { selector: { matchLabels: { app: label } }, ...spec }, status);
    expect((await evict(label)).status).toBe(expected);
  });
});

test('the body must name the pod of the path', async () => {
  const answer = await evict('none', { metadata: { name: 'other' } });
  expect([answer.status, answer.body.message]).toEqual([400, 'name in URL does not match name in Eviction object']);
  expect((await evict('none')).status).toBe(404);
});

test('an eviction of a pod that is being deleted adds its condition to the status only once', async () => {
  await createPod('leaving');
  await api.call('DELETE', `${PODS}/leaving`);
  expect((await evict('leaving', { deleteOptions: { dryRun: ['All'] } })).status).toBe(201);
  expect((await api.get(`${PODS}/leaving`)).text).not.toContain('DisruptionTarget');
  expect((await evict('leaving')).status).toBe(201);
  const { status, metadata } = (await api.get(`${PODS}/leaving`)).body;
  expect(status!.conditions).toMatchObject([{ type: 'Ready' }, { type: 'DisruptionTarget', status: 'True' }]);
  expect((await evict('leaving')).status).toBe(201);
  expect((await api.get(`${PODS}/leaving`)).body.metadata).toEqual(metadata);
});
