import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { loadCel } from '../../core/schema/expressions/environment.js';
import { compilePolicy } from '../../plugins/admission/policies/compile.js';
import { evaluatePolicy } from '../../plugins/admission/policies/evaluate.js';
import { Api, type Loose, listOf } from '../api/support.js';
import { textOf } from '../support/values.js';

const POLICIES = '/apis/admissionregistration.k8s.io/v1';

let api: Api;
beforeAll(async () => {
  api = await Api.shared();
  await api.post('/api/v1/namespaces', { metadata: { name: 'why-admission' } });
});
afterAll(async () => {
  await api.call('DELETE', `${POLICIES}/validatingadmissionpolicies/why-tea`);
  await api.call('DELETE', `${POLICIES}/validatingadmissionpolicybindings/why-tea`);
  await api.close();
});

/** The steps of a decision that a plugin has made. */
const stepsOf = (decision: Loose, plugin: string): Loose[] =>
  listOf(decision['steps']).filter(step => String(step['plugin']) === plugin);

describe('a write', () => {
  test('has each called plugin, with its time and the patch of its changes', async () => {
    const container = { name: 'a', image: 'a' };
    const created = await api.post('/api/v1/namespaces/why-admission/pods', {
      metadata: { generateName: 'a-' },
      spec: { containers: [container] },
    });
    expect(created.status).toBe(201);
    const decision = await api.decisionOf(created);
    expect(decision['outcome']).toMatchObject({ code: 201 });
    expect(decision['request']!['name']).toBe(created.body['metadata']!['name']);
    const [account] = stepsOf(decision, 'service-account');
    expect(account).toMatchObject({ stage: 'Mutate', result: 'Changed', milliseconds: expect.any(Number) });
    expect(JSON.parse(textOf(account!['patch']))).toContainEqual({
      op: 'add',
      path: '/spec/serviceAccountName',
      value: 'default',
    });
    expect(stepsOf(decision, 'resource-quota')).toMatchObject([{ stage: 'Validate', result: 'Passed' }]);
    expect(decision['authorization']).toMatchObject({ allowed: true, authorizers: [{ decision: 'Allow' }] });
  });

  test('that is a dry run is marked as such, also a delete with options in its body', async () => {
    const map = { metadata: { name: 'dry' } };
    const options = { body: { kind: 'DeleteOptions', apiVersion: 'v1', dryRun: ['All'] } };
    const maps = '/api/v1/namespaces/why-admission/configmaps';
    for (const answer of [
      await api.post(`${maps}?dryRun=All`, map),
      await api.call('DELETE', `${maps}/kube-root-ca.crt`, options),
      await api.post(`${maps}?dryRun=All`, { metadata: { name: 'Dry' } }),
    ])
      expect((await api.decisionOf(answer))['request']).toMatchObject({ resource: 'configmaps', dryRun: true });
    const { request } = await api.decisionOf(await api.post(maps, map));
    expect(request).toEqual(expect.not.objectContaining({ dryRun: expect.anything() }));
  });

  test('of a collection is one decision, whose id is in the answer', async () => {
    const maps = '/api/v1/namespaces/why-admission/configmaps';
    for (const name of ['one', 'two']) await api.post(maps, { metadata: { name, labels: { of: 'why' } } });
    const dry = await api.decisionOf(await api.call('DELETE', `${maps}?labelSelector=of=why&dryRun=All`));
    expect(dry['request']).toMatchObject({ verb: 'deletecollection', dryRun: true });
    const deleted = await api.call('DELETE', `${maps}?labelSelector=of=why`);
    expect([deleted.status, listOf(deleted.body['items']).length]).toEqual([200, 2]);
    const { request, outcome } = await api.decisionOf(deleted);
    expect(request).toMatchObject({ verb: 'deletecollection', resource: 'configmaps' });
    expect(request!['name']).toBeUndefined();
    expect(outcome).toMatchObject({ code: 200 });
  });

  test('a refusal of a plugin is the last step', async () => {
    const refused = await api.post('/api/v1/namespaces/why-none/configmaps', { metadata: { name: 'a' } });
    const decision = await api.decisionOf(refused);
    const steps = listOf(decision['steps']);
    expect(steps.at(-1)).toMatchObject({ result: 'Refused', message: expect.stringContaining('"why-none"') });
  });

  test('a refusal of a policy names it with its binding and the cost of its expressions', async () => {
    await api.post(`${POLICIES}/validatingadmissionpolicies`, {
      metadata: { name: 'why-tea' },
      spec: {
        matchConstraints: {
          resourceRules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] }],
        },
        validations: [{ expression: "'tea' in object.data", message: 'there must be tea' }],
      },
    });
    await api.post(`${POLICIES}/validatingadmissionpolicybindings`, {
      metadata: { name: 'why-tea' },
      spec: {
        policyName: 'why-tea',
        validationActions: ['Deny'],
        matchResources: { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'why-admission' } } },
      },
    });
    const refused = await api.post('/api/v1/namespaces/why-admission/configmaps', {
      metadata: { name: 'a' },
      data: { coffee: '' },
    });
    const [policy, plugin] = stepsOf(await api.decisionOf(refused), 'validating-admission-policy');
    expect(policy).toMatchObject({
      part: 'policy why-tea with binding why-tea',
      result: 'Refused',
      message: "there must be tea (expression: 'tea' in object.data)",
      cost: expect.any(Number),
    });
    expect(plugin).toMatchObject({ result: 'Refused', message: expect.stringContaining('there must be tea') });
  });
});

test('the cost of a policy that exceeds its budget is that of the evaluated expressions', async () => {
  const cel = await loadCel();
  const spec = { validations: [{ expression: "'a' in object.data" }] };
  const policy = compilePolicy(cel, { kind: '', apiVersion: '', metadata: {}, spec });
  const withoutBudget = { ...cel, REQUEST_BUDGET: 0 } as object as typeof cel;
  const values = { object: { data: { a: '' } }, request: {} };
  const findings = await evaluatePolicy(withoutBudget, policy, values, 'Fail');
  expect(findings.denials.map(({ message }) => message)).toEqual([expect.stringContaining('out of cost budget')]);
  expect(findings.cost).toBeGreaterThan(0);
});
