import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Api, type Loose } from '../api/support.js';
import { MERGE } from '../support/mediaTypes.js';

/* The status of ValidatingAdmissionPolicies, through a running server with its controllers. */

const POLICIES = '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies';

let api: Api;
beforeAll(async () => {
  api = await Api.start();
});
afterAll(() => api.close());

const rule = (group: string, version: string, ...resources: string[]): object => ({
  apiGroups: [group],
  apiVersions: [version],
  operations: ['CREATE'],
  resources,
});

/** The warnings of a policy for the current generation, once the controller has seen it. */
async function warningsOf(name: string): Promise<readonly Loose[]> {
  let status: Loose | undefined;
  await api.until(async () => {
    const { body } = await api.get(`${POLICIES}/${name}`);
    status = body['status'];
    return status?.['observedGeneration'] === body['metadata']!['generation'];
  });
  return (status!['typeChecking']?.['expressionWarnings'] ?? []) as unknown as readonly Loose[];
}

async function check(name: string, rules: readonly object[], spec: object): Promise<readonly Loose[]> {
  await api.made(POLICIES, { metadata: { name }, spec: { matchConstraints: { resourceRules: rules }, ...spec } });
  return warningsOf(name);
}
const DEPLOYMENTS = [rule('apps', 'v1', 'deployments')];
const expressions = (...all: string[]): object => ({ validations: all.map(expression => ({ expression })) });

describe('type checking of policies', () => {
  test('names the field of an expression with a wrong type, and the kind', async () => {
    const [first, ...more] = await check(
      'unfit',
      DEPLOYMENTS,
      expressions('object.spec.replicas > 1', 'object.replicas > 1', "object.spec.replicas == 'one'"),
    );
    expect(first!['fieldRef']).toBe('spec.validations[1].expression');
    expect(first!['warning']).toContain('apps/v1, Kind=Deployment: ');
    expect(first!['warning']).toContain("undefined field 'replicas'");
    expect(more.map(one => one['fieldRef'])).toEqual(['spec.validations[2].expression']);
    expect(more[0]!['warning']).toContain("found no matching overload for '_==_' applied to '(int, string)'");
  });

  test('writes no status between quick changes of a client, but one after the last', async () => {
    const events = await api.watch(`${POLICIES}?watch=1&fieldSelector=metadata.name%3Dbusy`);
    const spec = { matchConstraints: { resourceRules: DEPLOYMENTS }, ...expressions('true') };
    await api.made(POLICIES, { metadata: { name: 'busy' }, spec });
    for (const failurePolicy of ['Ignore', 'Fail', 'Ignore'])
      expect((await api.patch(`${POLICIES}/busy`, MERGE, { spec: { failurePolicy } })).status).toBe(200);
    await warningsOf('busy');
    const seen: unknown[] = [];
    for (let i = 0; i < 5; i++) seen.push((await events.next()).object['status']?.['observedGeneration']);
    expect(seen).toEqual([undefined, undefined, undefined, undefined, 4]);
    events.close();
  });

  test('finds no errors in correct expressions, and reports that too', async () => {
    const spec = {
      ...expressions(
        "object.metadata.labels['a'] == 'b' && variables.first.image.startsWith('x')",
        'object.spec.template.spec.containers.all(c, quantity(c.resources.limits["cpu"]).isGreaterThan(quantity("1")))',
        'object.metadata.creationTimestamp < timestamp("2030-01-01T00:00:00Z") && request.name != ""',
        "object.spec.strategy.rollingUpdate.maxSurge == '25%' || authorizer.group('').resource('pods').check('get').allowed()",
      ),
      variables: [{ name: 'first', expression: 'object.spec.template.spec.containers[0]' }],
    };
    expect(await check('fits', DEPLOYMENTS, spec)).toEqual([]);
  });

  test('checks every kind of the rules, message expressions and parameters', async () => {
    const [first, second, third] = await check(
      'several',
      [rule('apps', 'v1', 'deployments', 'daemonsets', 'deployments/scale')],
      {
        paramKind: { apiVersion: 'v1', kind: 'ConfigMap' },
        validations: [
          { expression: 'object.spec.replicas > 0', messageExpression: "'has ' + object.kin" },
          { expression: "params.dota.max == 'a'" },
        ],
      },
    );
    expect(first!['warning']).toMatch(/^apps\/v1, Kind=DaemonSet: /);
    expect(first!['warning']).not.toContain('Kind=Deployment');
    expect(second!['fieldRef']).toBe('spec.validations[0].messageExpression');
    expect(second!['warning']).toMatch(/Kind=DaemonSet[\s\S]*Kind=Deployment/);
    expect(third!['warning']).toContain("undefined field 'dota'");
  });

  test('leaves rules with wildcards and unknown resources unchecked', async () => {
    const rules = [rule('*', 'v1', 'deployments'), rule('apps', 'v1', '*'), rule('nowhere.example.com', 'v1', 'x')];
    expect(await check('wild', rules, expressions('object.nonsense > 1'))).toEqual([]);
  });

  test('knows the schemas of custom kinds', async () => {
    const group = 'typed.example.com';
    const schema = {
      type: 'object',
      properties: { spec: { type: 'object', properties: { cups: { type: 'integer' } } } },
    };
    await api.made('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
      metadata: { name: `orders.${group}` },
      spec: {
        group,
        scope: 'Namespaced',
        names: { plural: 'orders', kind: 'Order' },
        versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema } }],
      },
    });
    await api.until(async () => (await api.get(`/apis/${group}/v1/orders`)).status === 200);
    const found = await check(
      'custom',
      [rule(group, 'v1', 'orders')],
      expressions('object.spec.cups > 1', 'object.spec.mugs > 1'),
    );
    expect(found.map(one => one['fieldRef'])).toEqual(['spec.validations[1].expression']);
  });

  test('checks each generation once', async () => {
    expect(await check('changes', DEPLOYMENTS, expressions('object.replicas > 1'))).toHaveLength(1);
    await api.patch(`${POLICIES}/changes`, MERGE, { spec: expressions('object.spec.replicas > 1') });
    expect(await warningsOf('changes')).toEqual([]);
    const { managedFields } = (await api.get(`${POLICIES}/changes`)).body['metadata'] as unknown as {
      managedFields: Loose[];
    };
    const own = managedFields.find(entry => entry['subresource'] !== undefined);
    expect([own!['manager'], own!['operation']]).toEqual(['validatingadmissionpolicy-status', 'Apply']);
  });
});
