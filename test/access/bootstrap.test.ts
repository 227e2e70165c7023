import { describe, expect, test } from 'vitest';
import type { ApiObject } from '../../core/api/index.js';
import { namingOf } from '../../core/naming.js';
import { aggregatedRules, bootstrapObjects, reconcileBootstrap } from '../../plugins/authz/bootstrap/index.js';
import type { PolicyRule } from '../../plugins/authz/rbac/policy.js';
import published from './data/defaults.json' with { type: 'json' };

const host = { naming: namingOf('kubernetes'), isEnabled: (_gate: string) => false };
const objects = bootstrapObjects(host);
const full = ({ metadata }: ApiObject): string => (metadata.namespace ? `${metadata.namespace}/` : '') + metadata.name;
const of = (...kinds: string[]): ApiObject[] => objects.filter(o => kinds.includes(o.kind));
const find = (list: readonly ApiObject[], kind: string, name: string): ApiObject =>
  list.find(o => o.kind === kind && full(o) === name) as ApiObject;
const rulesOf = (o: ApiObject): PolicyRule[] => o['rules'] as PolicyRule[];

/** Rules as a map from resources to verbs, so that their grouping does not matter. */
function permissions(rules: readonly PolicyRule[]): Record<string, string[]> {
  const held = new Map<string, Set<string>>();
  for (const rule of rules) {
    const what = (rule.nonResourceURLs ?? []).map(url => `url ${url}`);
    for (const group of rule.apiGroups ?? [])
      for (const resource of rule.resources ?? [])
        for (const name of rule.resourceNames ?? [''])
          what.push(`${group || 'core'}/${resource}${name ? ` named ${name}` : ''}`);
    for (const w of what) held.set(w, new Set([...(held.get(w) ?? []), ...rule.verbs]));
  }
  return Object.fromEntries([...held].map(([w, verbs]) => [w, [...verbs].sort()]));
}

describe('default roles', () => {
  const clusterRoles = of('ClusterRole').map(full).sort();
  test('have the names of release 1.32 [A159x]', () => {
    expect(clusterRoles.filter(n => !n.startsWith('system:controller:'))).toEqual(published.names.clusterRoles);
    expect(clusterRoles.filter(n => n.startsWith('system:controller:'))).toEqual(published.names.controllers);
    expect(of('Role').map(full).sort()).toEqual(published.names.roles);
    const bindings = of('ClusterRoleBinding').map(full).sort();
    expect(bindings.filter(n => !n.startsWith('system:controller:'))).toEqual(published.names.clusterRoleBindings);
  });

  test.each(Object.entries(published.roles))('%s grants what release 1.32 grants [A159x]', (name, expected) => {
    const role = of('ClusterRole', 'Role').find(o => full(o) === name) as ApiObject;
    expect({
      labels: role.metadata.labels,
      ...(role['aggregationRule'] ? { aggregationRule: role['aggregationRule'] } : {}),
      permissions: permissions(rulesOf(role)),
    }).toEqual(expected);
  });

  // Since 1.32, roles that allow list also allow watch, because controllers list by watching.
  test.each([
    ['system:controller:namespace-controller', '*/*', ['delete', 'deletecollection', 'get', 'list', 'watch']],
    ['system:controller:node-controller', 'core/nodes', ['delete', 'get', 'list', 'patch', 'update', 'watch']],
    ['system:controller:node-controller', 'core/pods', ['delete', 'get', 'list', 'watch']],
    ['system:controller:pod-garbage-collector', 'core/nodes', ['get', 'list', 'watch']],
    ['system:controller:persistent-volume-binder', 'core/nodes', ['list', 'watch']],
    ['system:controller:persistent-volume-binder', 'core/services', ['get']],
    ['system:controller:persistent-volume-binder', 'core/endpoints', undefined],
    ['system:controller:persistent-volume-binder', 'core/secrets', undefined],
    ['system:controller:statefulset-controller', 'core/pods/finalizers', ['update']],
    [
      'system:controller:statefulset-controller',
      'core/persistentvolumeclaims',
      ['create', 'delete', 'get', 'list', 'update', 'watch'],
    ],
    ['system:node', 'events.k8s.io/events', undefined],
    [
      'kube-system/system::leader-locking-kube-controller-manager',
      'coordination.k8s.io/leasecandidates',
      ['create', 'get', 'list', 'update', 'watch'],
    ],
  ])('%s has the verbs of release 1.32 on %s [A159x]', (name, what, verbs) => {
    const role = of('ClusterRole', 'Role').find(o => full(o) === name) as ApiObject;
    expect(permissions(rulesOf(role))[what]).toEqual(verbs);
  });

  test.each(Object.entries(published.bindings))('binding %s has the subjects of release 1.32', (name, expected) => {
    const binding = find(objects, 'ClusterRoleBinding', name);
    const subjects = ((binding['subjects'] as object[]) ?? [])
      .map(s => JSON.stringify(s, Object.keys(s).sort()))
      .sort();
    expect({ roleRef: binding['roleRef'], subjects }).toEqual(expected);
  });

  test('every binding refers to a default role', () => {
    for (const binding of of('ClusterRoleBinding', 'RoleBinding')) {
      const ref = binding['roleRef'] as { kind: string; name: string };
      const name = binding.metadata.namespace ? `${binding.metadata.namespace}/${ref.name}` : ref.name;
      expect(find(objects, ref.kind, name), full(binding)).toBeDefined();
    }
  });

  test('admin aggregates edit, which aggregates view, without duplicate rules', () => {
    const keys = rulesOf(find(objects, 'ClusterRole', 'admin')).map(r => JSON.stringify(r));
    expect(new Set(keys).size).toBe(keys.length);
    for (const name of ['edit', 'view', 'system:aggregate-to-admin'])
      expect(keys).toEqual(
        expect.arrayContaining(rulesOf(find(objects, 'ClusterRole', name)).map(r => JSON.stringify(r))),
      );
  });

  test('neutral naming contains no upstream names; labels and annotations are those of the specification [R003] [A097]', () => {
    const neutral = bootstrapObjects({ ...host, naming: namingOf('neutral') });
    expect(JSON.stringify(neutral)).not.toMatch(/kube|k8s/);
    expect(find(neutral, 'ClusterRole', 'system:node-agent-api-admin').metadata).toEqual({
      name: 'system:node-agent-api-admin',
      labels: { 'orchestrator.io/bootstrapping': 'rbac-defaults' },
      annotations: { 'rbac.authorization.orchestrator.io/autoupdate': 'true' },
    });
    expect(JSON.stringify(objects)).not.toMatch(/orchestrator|node-agent/);
  });
});

describe('feature gates', () => {
  const withGates = (...gates: readonly string[]) => ({ ...host, isEnabled: (gate: string) => gates.includes(gate) });
  const summary = (o: ApiObject): string => `${o.kind} ${full(o)}`;
  const known = new Map(objects.map(o => [summary(o), JSON.stringify(o)]));
  const differing = (...gates: readonly string[]): string[] =>
    bootstrapObjects(withGates(...gates))
      .filter(o => known.get(summary(o)) !== JSON.stringify(o))
      .map(summary);
  const withBinding = (role: string): string[] => [`ClusterRole ${role}`, `ClusterRoleBinding ${role}`];

  test.each([
    [['StorageVersionAPI'], []],
    [['StorageVersionAPI', 'APIServerIdentity'], withBinding('system:controller:storage-version-garbage-collector')],
    [['StorageVersionMigrator'], withBinding('system:controller:storage-version-migrator-controller')],
    [['SELinuxChangePolicy'], withBinding('system:controller:selinux-warning-controller')],
    [['VolumeAttributesClass'], withBinding('system:controller:volumeattributesclass-protection-controller')],
    [
      ['MultiCIDRServiceAllocator'],
      ['ClusterRole system:node-proxier', ...withBinding('system:controller:service-cidrs-controller')],
    ],
    [
      ['DynamicResourceAllocation'],
      [
        'ClusterRole system:node',
        'ClusterRole system:kube-scheduler',
        ...withBinding('system:controller:resource-claim-controller'),
      ],
    ],
    [
      ['ClusterTrustBundle'],
      [
        'ClusterRole system:node',
        'ClusterRole system:cluster-trust-bundle-discovery',
        'ClusterRole system:controller:kube-apiserver-serving-clustertrustbundle-publisher',
        'ClusterRoleBinding system:cluster-trust-bundle-discovery',
        'ClusterRoleBinding system:controller:kube-apiserver-serving-clustertrustbundle-publisher',
      ],
    ],
    [['KubeletFineGrainedAuthz'], ['ClusterRole system:kubelet-api-admin']],
    [['ComponentFlagz', 'ComponentStatusz'], ['ClusterRole system:monitoring']],
  ])('%j add roles and rules', (gates, expected) => {
    expect(differing(...gates)).toEqual(expected);
  });

  test('rules of features are among the others, in names of the naming', () => {
    const made = bootstrapObjects(withGates('ClusterTrustBundle', 'MultiCIDRServiceAllocator', 'ComponentStatusz'));
    expect(rulesOf(find(made, 'ClusterRole', 'system:node-proxier')).map(({ resources }) => resources?.[0])).toEqual([
      'endpoints',
      'nodes',
      'events',
      'servicecidrs',
      'endpointslices',
    ]);
    expect(rulesOf(find(made, 'ClusterRole', 'system:monitoring')).at(-1)?.nonResourceURLs).toEqual(['/statusz']);
    expect(JSON.stringify(made)).toContain('"resourceNames":["kubernetes.io/kube-apiserver-serving"]');
    expect(JSON.stringify(made)).not.toMatch(/orchestrator|node-agent/);
  });

  test('the roles remain when the gates are turned off', () => {
    const made = bootstrapObjects(withGates('ClusterTrustBundle'));
    expect(reconcileBootstrap(made, host)).toEqual({ create: [], update: [], recreate: [] });
  });
});

describe('reconciliation', () => {
  const changed = (kind: string, name: string, change: (o: ApiObject) => ApiObject): ApiObject[] =>
    objects.map(o => (o.kind === kind && full(o) === name ? change(o) : o));

  test('creates everything in an empty store and nothing in a complete one [A101]', () => {
    expect(reconcileBootstrap([], host)).toEqual({ create: objects, update: [], recreate: [] });
    expect(reconcileBootstrap(objects, host)).toEqual({ create: [], update: [], recreate: [] });
  });

  test('adds missing permissions and keeps additional ones', () => {
    const extra: PolicyRule = { verbs: ['get'], apiGroups: ['example.com'], resources: ['things'] };
    const { update } = reconcileBootstrap(
      changed('ClusterRole', 'system:auth-delegator', o => ({ ...o, rules: [rulesOf(o)[0], extra] })),
      host,
    );
    expect(update.map(full)).toEqual(['system:auth-delegator']);
    expect(rulesOf(update[0] as ApiObject)).toEqual([
      { verbs: ['create'], apiGroups: ['authentication.k8s.io'], resources: ['tokenreviews'] },
      extra,
      { verbs: ['create'], apiGroups: ['authorization.k8s.io'], resources: ['subjectaccessreviews'] },
    ]);
  });

  test('does not reduce roles of earlier releases, in which edit and admin could write endpoints [A366]', () => {
    const endpoints: PolicyRule = { verbs: ['create', 'update'], apiGroups: [''], resources: ['endpoints'] };
    const before = changed('ClusterRole', 'system:aggregate-to-edit', o => ({
      ...o,
      rules: [endpoints, ...rulesOf(o)],
    }));
    // edit and admin are written because they aggregate the rules of that role.
    const { update } = reconcileBootstrap(before, host);
    expect(update.map(full).sort()).toEqual(['admin', 'edit']);
    for (const role of update) expect(permissions(rulesOf(role))['core/endpoints']).toContain('update');
    const kept = find(before, 'ClusterRole', 'system:aggregate-to-edit');
    expect(permissions(rulesOf(kept))['core/endpoints']).toEqual(['create', 'update']);
  });

  test('adds missing subjects and labels to bindings', () => {
    const { update } = reconcileBootstrap(
      changed('ClusterRoleBinding', 'system:basic-user', o => ({
        ...o,
        metadata: { name: 'system:basic-user', labels: { mine: 'x' }, annotations: o.metadata.annotations ?? {} },
        subjects: [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: 'x' }],
      })),
      host,
    );
    expect(update).toHaveLength(1);
    expect((update[0]!['subjects'] as { name: string }[]).map(s => s.name)).toEqual(['x', 'system:authenticated']);
    expect(update[0]?.metadata.labels).toEqual({ 'kubernetes.io/bootstrapping': 'rbac-defaults', mine: 'x' });
  });

  test('does not change objects with autoupdate set to false [A100]', () => {
    const off = { 'rbac.authorization.kubernetes.io/autoupdate': 'false' };
    const current = changed('ClusterRole', 'system:basic-user', o => ({
      ...o,
      metadata: { ...o.metadata, annotations: off },
      rules: [],
    }));
    expect(reconcileBootstrap(current, host)).toEqual({ create: [], update: [], recreate: [] });
  });

  test('recreates a binding to another role', () => {
    const { recreate, update } = reconcileBootstrap(
      changed('ClusterRoleBinding', 'system:basic-user', o => ({
        ...o,
        roleRef: { ...(o['roleRef'] as object), name: 'other' },
      })),
      host,
    );
    expect(update).toEqual([]);
    expect(recreate.map(o => (o['roleRef'] as { name: string }).name)).toEqual(['system:basic-user']);
  });

  test('a role with an aggregation label is aggregated into view, edit and admin [A092] [A093] [A094]', () => {
    const mine: ApiObject = {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRole',
      metadata: { name: 'things', labels: { 'rbac.authorization.k8s.io/aggregate-to-view': 'true' } },
      rules: [{ verbs: ['get'], apiGroups: ['example.com'], resources: ['things'] }],
    };
    const { update } = reconcileBootstrap([...objects, mine], host);
    expect(update.map(full).sort()).toEqual(['admin', 'edit', 'view']);
    for (const role of update) expect(permissions(rulesOf(role))['example.com/things']).toEqual(['get']);
  });
});

describe('aggregation', () => {
  const role = (name: string, labels: Record<string, string>, verb: string): ApiObject => ({
    apiVersion: 'v1',
    kind: 'ClusterRole',
    metadata: { name, labels },
    rules: [{ verbs: [verb], apiGroups: [''], resources: ['pods'] }],
  });
  const verbs = (clusterRoleSelectors: object[], ...roles: ApiObject[]) =>
    aggregatedRules({ ...role('me', { a: '1' }, 'x'), aggregationRule: { clusterRoleSelectors } }, roles)?.map(
      r => r.verbs[0],
    );
  const roles = [
    role('b', { a: '1' }, 'list'),
    role('a', { a: '1', c: 'x' }, 'get'),
    role('c', { a: '2' }, 'get'),
    role('me', { a: '1' }, 'y'),
  ];

  test('aggregates in the order of names, without duplicates, and never from the role itself [A089] [A090]', () => {
    expect(verbs([{ matchLabels: { a: '1' } }], ...roles)).toEqual(['get', 'list']);
    expect(verbs([{ matchLabels: { a: '2' } }, { matchLabels: { a: '1' } }], ...roles)).toEqual(['get', 'list']);
  });
  test.each([
    ['In', ['2'], ['get']],
    ['NotIn', ['1'], ['get']],
    ['Exists', [], ['get', 'list']],
    ['DoesNotExist', [], []],
    ['Unknown', [], []],
  ])('supports the operator %s', (operator, values, expected) => {
    expect(verbs([{ matchExpressions: [{ key: 'a', operator, values }] }], ...roles)).toEqual(expected);
  });
  test('a role without aggregationRule keeps its rules', () =>
    expect(aggregatedRules(role('x', {}, 'get'), roles)).toBeUndefined());
});
