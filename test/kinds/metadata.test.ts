import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Api, causesIn } from '../api/support.js';
import { create, lines, object, update } from './helpers.js';
import { MERGE } from '../support/mediaTypes.js';

const OWNER = { apiVersion: 'v1', kind: 'ConfigMap', name: 'o', uid: 'u' };

describe('metadata of kinds', () => {
  let api: Api;
  let home: string;
  beforeAll(async () => {
    api = await Api.shared();
    home = await api.namespace('metadata');
  });
  afterAll(() => api.close());

  const lease = '/apis/coordination.k8s.io/v1/namespaces/metadata/leases';

  test.each([
    ['/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations', {}],
    ['/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations', {}],
    [lease, {}],
    ['/apis/node.k8s.io/v1/runtimeclasses', { handler: 'h' }],
    [
      '/apis/policy/v1/namespaces/metadata/poddisruptionbudgets',
      { spec: { minAvailable: 1, selector: { matchLabels: { a: 'b' } } } },
    ],
  ])('%s have finalizers without a domain', async (path, members) => {
    await api.made(path, { metadata: { name: 'final', finalizers: ['x'] }, ...members });
    await api.patch(`${path}/final`, MERGE, { metadata: { finalizers: null } });
  });

  test.each([[null], ['0'], ['']])('a patch of a kind that needs a version may not set it to %j', async version => {
    const name = `version-${version === null ? 'none' : version || 'empty'}`;
    await api.made(lease, { metadata: { name } });
    const { status, body } = await api.patch(`${lease}/${name}`, MERGE, { metadata: { resourceVersion: version } });
    expect([status, body['message']]).toEqual([
      422,
      `leases.coordination.k8s.io "${name}" is invalid: metadata.resourceVersion: Invalid value: 0x0: must be specified for an update`,
    ]);
  });

  test('repeated owners of a patch are removed once, with the warning for mutated objects', async () => {
    await api.made(`${home}/configmaps`, { metadata: { name: 'owned' } });
    const warningOf = async (answer: Promise<{ headers: { [name: string]: string | string[] | undefined } }>) =>
      (await answer).headers['warning'];
    const metadata = { name: 'owned', ownerReferences: [OWNER, OWNER] };
    const path = `${home}/configmaps/owned?dryRun=All`;
    expect(await warningOf(api.patch(path, MERGE, { metadata }))).toContain('entries after mutating admission happens');
    expect(await warningOf(api.put(path, { metadata }))).toContain('contains duplicate entries; API server');
  });

  test('an update validates the prefix of a generated name by the rule of the kind, or else as a path segment', async () => {
    await api.made(`${home}/configmaps`, { metadata: { name: 'prefix' } });
    await api.made(lease, { metadata: { name: 'prefix' } });
    const change = (path: string, generateName: string) => api.patch(path, MERGE, { metadata: { generateName } });
    const refused = await change(`${home}/configmaps/prefix`, 'Y_');
    expect(refused.status).toBe(422);
    expect(refused.text).toContain('metadata.generateName: Invalid value');
    expect((await change(`${home}/configmaps/prefix`, 'y-')).status).toBe(200);
    const revisions = home.replace('/api/v1', '/apis/apps/v1');
    await api.made(`${revisions}/controllerrevisions`, { metadata: { name: 'prefix' }, data: {}, revision: 1 });
    expect((await change(`${revisions}/controllerrevisions/prefix`, 'Y_')).status).toBe(422);
    expect((await change(`${lease}/prefix`, 'Y_')).status).toBe(200);
    expect((await change(`${lease}/prefix`, 'a/b')).status).toBe(422);
  });

  test('an update names the prefix of a generated name before or after finalizers, depending on the kind', async () => {
    const metadata = { generateName: '.', finalizers: ['x'], labels: { 'a b': '' } };
    const fieldsOf = async (path: string): Promise<string[]> => {
      await api.made(path, { metadata: { name: 'order' } });
      const { body } = await api.patch(`${path}/order`, MERGE, { metadata });
      const causes = causesIn(body);
      return [...new Set(causes.map(({ field }) => field))];
    };
    const [labels, prefix, finalizers] = ['metadata.labels', 'metadata.generateName', 'metadata.finalizers[0]'];
    expect(await fieldsOf(`${home}/configmaps`)).toEqual([labels, finalizers, prefix]);
    expect(await fieldsOf(`${home}/limitranges`)).toEqual([labels, prefix, finalizers]);
    const roles = '/apis/rbac.authorization.k8s.io/v1/namespaces/metadata/roles';
    expect(await fieldsOf(roles)).toEqual([labels, prefix, finalizers]);
  });

  test('the prefix of a generated name may be a dot, except for roles and bindings', async () => {
    const create = async (path: string, members = {}) =>
      (await api.post(path, { metadata: { name: 'dot', generateName: '..' }, ...members })).status;
    const spec = { minAvailable: 1, selector: { matchLabels: { a: 'b' } } };
    expect(await create('/apis/policy/v1/namespaces/metadata/poddisruptionbudgets', { spec })).toBe(201);
    expect(await create(`${home}/events`, { involvedObject: { namespace: 'metadata' } })).toBe(201);
    expect(await create('/apis/rbac.authorization.k8s.io/v1/namespaces/metadata/roles')).toBe(422);
  });

  test('a PriorityClass keeps its generation in every change', async () => {
    const path = '/apis/scheduling.k8s.io/v1/priorityclasses';
    await api.made(path, { metadata: { name: 'important' }, value: 5 });
    const { body } = await api.patch(`${path}/important`, MERGE, { description: 'changed' });
    expect([body['description'], body['metadata']!['generation']]).toEqual(['changed', 1]);
  });
});

test('a ServiceAccount keeps only the names of its secrets', () => {
  const given = object('ServiceAccount', { secrets: [{ name: 's', namespace: 'other', uid: 'u' }] });
  expect(create('core/serviceaccounts', given).made['secrets']).toEqual([{ name: 's' }]);
});

test('a field that cannot change cannot be set to its zero value either', () => {
  const spec = { selector: { matchLabels: { a: 'b' } }, template: { metadata: { labels: { a: 'b' } }, spec: {} } };
  const old = object('Job', { spec }, 'batch/v1');
  const { violations } = update('batch/jobs', old, draft => {
    (draft['spec'] as typeof spec).template.spec = { automountServiceAccountToken: false };
  });
  expect(lines(violations).filter(line => /^spec\.template: .*field is immutable$/s.test(line))).toHaveLength(1);
});
