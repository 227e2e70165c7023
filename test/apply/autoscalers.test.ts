import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Answer, Api, type Loose } from '../api/support.js';
import { MERGE } from '../support/mediaTypes.js';

const APPLY = 'application/apply-patch+yaml';

describe('server-side apply to a HorizontalPodAutoscaler in two versions', () => {
  let api: Api;
  beforeAll(async () => {
    api = await Api.shared();
  });
  afterAll(() => api.close());
  const apply = (path: string, body: object, manager: string, more = ''): Promise<Answer> =>
    api.patch(`${path}?fieldManager=${manager}${more}`, APPLY, body);
  const read = async (path: string): Promise<Loose> => (await api.get(path)).body;
  const path = (name: string, version: string): string =>
    `/apis/autoscaling/${version}/namespaces/default/horizontalpodautoscalers/${name}`;
  const scaler = (name: string, version: string, spec: object, metadata: object = {}): object => ({
    apiVersion: `autoscaling/${version}`,
    kind: 'HorizontalPodAutoscaler',
    metadata: { name, ...metadata },
    spec: { scaleTargetRef: { kind: 'Deployment', name: 'web' }, maxReplicas: 5, ...spec },
  });
  const utilization = (name: string, percent: number): object => ({
    type: 'Resource',
    resource: { name, target: { type: 'Utilization', averageUtilization: percent } },
  });
  // Conversions from v1 put the CPU metric last.
  const metrics = [utilization('memory', 60), utilization('cpu', 50)];

  test.each([
    ['v2', 'v1', { metrics }],
    ['v1', 'v2', { targetCPUUtilizationPercentage: 50 }],
  ])(
    'in which a manager drops the metrics of %s by applying %s, keeps them but not its other fields',
    async (from, to, spec) => {
      const name = `drops-${from}`;
      await apply(path(name, from), scaler(name, from, { ...spec, minReplicas: 3 }), 'one');
      const before = (await read(path(name, 'v2'))).spec!.metrics;
      await apply(path(name, to), scaler(name, to, {}), 'one');
      const { spec: after } = await read(path(name, 'v2'));
      expect([after!.metrics, after!.minReplicas]).toEqual([before, 1]);
    },
  );

  test('keeps the metrics that its manager drops, if another manager applies in the other version', async () => {
    await apply(path('two', 'v1'), scaler('two', 'v1', {}), 'other');
    await apply(path('two', 'v2'), scaler('two', 'v2', { metrics }), 'one', '&force=true');
    const dropped = await apply(path('two', 'v2'), scaler('two', 'v2', {}), 'one');
    expect(dropped.body.spec!.metrics).toEqual(metrics);
  });

  test('replaces only the default metric if no manager applies in the other version', async () => {
    await apply(path('same', 'v2'), scaler('same', 'v2', { metrics }), 'one');
    const dropped = await apply(path('same', 'v2'), scaler('same', 'v2', {}), 'one');
    expect(dropped.body.spec!.metrics).toEqual([utilization('cpu', 80)]);
  });

  test('completes a behavior that has no policies, and has no conflicts about nulls', async () => {
    await apply(path('null', 'v1'), scaler('null', 'v1', {}, { finalizers: null }), 'other');
    const behavior = { scaleDown: { stabilizationWindowSeconds: 20 } };
    const applied = await apply(path('null', 'v2'), scaler('null', 'v2', { behavior }, { finalizers: null }), 'one');
    expect([applied.status, applied.body.spec!.behavior!.scaleDown!.policies]).toEqual([
      200,
      [{ type: 'Percent', value: 100, periodSeconds: 15 }],
    ]);
  });

  test('keeps what v1 has in annotations, if updates in v1 lack them', async () => {
    await apply(path('kept', 'v2'), scaler('kept', 'v2', { metrics, behavior: { scaleDown: {} } }), 'one');
    const conditions = [{ type: 'AbleToScale', status: 'True' }];
    await api.patch(`${path('kept', 'v2')}/status`, MERGE, { status: { conditions } });
    const before = await read(path('kept', 'v2'));
    const status = { currentReplicas: 1, desiredReplicas: 2 };
    const written = { ...scaler('kept', 'v1', {}), status };
    expect((await api.put(`${path('kept', 'v1')}/status`, written)).status).toBe(200);
    const after = await read(path('kept', 'v2'));
    expect([after.spec, after.status]).toEqual([before.spec, { ...status, currentMetrics: null }]);
    await api.patch(`${path('kept', 'v2')}/status`, MERGE, { status: { conditions } });
    expect((await api.put(path('kept', 'v1'), scaler('kept', 'v1', {}))).status).toBe(200);
    expect((await read(path('kept', 'v2'))).status!.conditions).toMatchObject(conditions);
  });
});
