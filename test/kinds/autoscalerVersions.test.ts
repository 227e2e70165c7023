import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Api } from '../api/support.js';
import { MERGE, STRATEGIC } from '../support/mediaTypes.js';

/* An autoscaler that clients write in both of its versions. v2 is the storage version; v1 cannot show all of it. */

let api: Api;
let name = 0;
const path = (version: string): string =>
  `/apis/autoscaling/${version}/namespaces/autoscalers/horizontalpodautoscalers/a${name}`;
const scaleTargetRef = { kind: 'Deployment', name: 'd', apiVersion: 'apps/v1' };
const cpu = { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 50 } } };
const external = {
  type: 'External',
  external: { metric: { name: 'e' }, target: { type: 'AverageValue', averageValue: '7' } },
};
const metrics = [cpu, external];
const currentMetrics = [
  { type: 'External', external: { metric: { name: 'e' }, current: { averageValue: '4' } } },
  { type: 'Resource', resource: { name: 'cpu', current: { averageUtilization: 10 } } },
];
const status = { currentReplicas: 2, desiredReplicas: 3, currentMetrics };

beforeAll(async () => {
  api = await Api.shared();
  await api.namespace('autoscalers');
});
afterAll(() => api.close());

/** Creates another autoscaler with a status, both in v2. */
async function makeAutoscaler(given: readonly object[] = metrics): Promise<void> {
  name++;
  const object = { metadata: { name: `a${name}` }, spec: { maxReplicas: 5, scaleTargetRef, metrics: given } };
  await api.made(path('v2').replace(/\/a\d+$/, ''), object);
  expect((await api.put(`${path('v2')}/status`, { ...object, status })).status).toBe(200);
}
const inV2 = async () => (await api.get(path('v2'))).body;

test.each([
  [
    'an update',
    async () => api.put(path('v1'), { ...(await api.get(path('v1'))).body, spec: { maxReplicas: 7, scaleTargetRef } }),
  ],
  ['a merge patch', () => api.patch(path('v1'), MERGE, { spec: { maxReplicas: 7 } })],
  ['a strategic merge patch', () => api.patch(path('v1'), STRATEGIC, { spec: { maxReplicas: 7 } })],
  [
    'an apply',
    () =>
      api.patch(`${path('v1')}?fieldManager=f&force=true`, 'application/apply-patch+yaml', {
        apiVersion: 'autoscaling/v1',
        kind: 'HorizontalPodAutoscaler',
        spec: { maxReplicas: 7, scaleTargetRef },
      }),
  ],
])('%s in v1 keeps the status as it was written in v2', async (_, write) => {
  await makeAutoscaler();
  expect((await write()).status).toBe(200);
  const { spec, status: now } = await inV2();
  expect([spec!['maxReplicas'], now]).toEqual([7, status]);
});

test('a status that is written in v1 keeps the order of the metrics in the spec', async () => {
  await makeAutoscaler();
  const patched = await api.patch(`${path('v1')}/status`, MERGE, { status: { desiredReplicas: 4 } });
  expect(patched.status).toBe(200);
  const { spec, status: now } = await inV2();
  expect([spec!['metrics'], now!['desiredReplicas']]).toEqual([metrics, 4]);
  // In v1, a quantity cannot be absent.
  expect(JSON.stringify(now!['currentMetrics'])).toContain('"averageValue":"0","averageUtilization":10');
});

test('an update in v1 that changes nothing keeps the resource version', async () => {
  // The order of metrics in v1.
  await makeAutoscaler([external, cpu]);
  const before = (await inV2()).metadata!.resourceVersion;
  const { body } = await api.get(path('v1'));
  expect((await api.put(path('v1'), body)).status).toBe(200);
  expect((await inV2()).metadata!.resourceVersion).toBe(before);
});

test('an apply in v2 by a manager that has applied v1 refuses null in the place of a target', async () => {
  name++;
  const apply = (version: string, spec: object) =>
    api.patch(`${path(version)}?fieldManager=f`, 'application/apply-patch+yaml', {
      apiVersion: `autoscaling/${version}`,
      kind: 'HorizontalPodAutoscaler',
      metadata: { name: `a${name}` },
      spec: { maxReplicas: 5, scaleTargetRef, ...spec },
    });
  expect((await apply('v1', { minReplicas: 2 })).status).toBe(201);
  const given = [{ type: 'Resource', resource: { name: 'cpu', target: null } }];
  expect((await apply('v2', { metrics: given })).status).toBe(422);
});

describe('an apply in one version after an apply by the same manager in the other', () => {
  const apply = (version: string, manager: string, given: object, labels: object = {}) =>
    api.patch(`${path(version)}?fieldManager=${manager}`, 'application/apply-patch+yaml', {
      apiVersion: `autoscaling/${version}`,
      kind: 'HorizontalPodAutoscaler',
      metadata: { name: `a${name}`, labels },
      spec: { scaleTargetRef, ...given },
    });
  const whole = { maxReplicas: 5 };

  test('keeps a dropped field that objects of the kind always have', async () => {
    name++;
    expect((await apply('v1', 'f', { ...whole, minReplicas: 2 })).status).toBe(201);
    const { status, body } = await apply('v2', 'f', {});
    expect([status, body['spec']]).toEqual([200, expect.objectContaining({ maxReplicas: 5, minReplicas: 1 })]);
  });

  test('reads null as the zero value of a field that objects of the kind always have', async () => {
    name++;
    expect((await apply('v2', 'other', whole)).status).toBe(201);
    expect((await apply('v1', 'f', whole)).status).toBe(200);
    const { status, body } = await apply('v2', 'f', { maxReplicas: null });
    expect([status, body.message]).toEqual([409, expect.stringContaining('.spec.maxReplicas')]);
  });

  test('reads null as the empty value of a label', async () => {
    name++;
    expect((await apply('v1', 'f', { ...whole, minReplicas: 2 }, { a: '1', b: '1' })).status).toBe(201);
    const { status, body } = await apply('v2', 'f', whole, { a: null });
    expect([status, body.metadata!.labels]).toEqual([200, { a: '' }]);
  });
});
