/**
 * Prints the microseconds of an RBAC decision over the default roles, with 1,000 namespaces of 5 role bindings each: an
 * early allow, an allow by the last of many rules, a denial after every rule of three cluster roles, the first decision
 * after a change of bindings, and a denial of a user never seen before with 200 bindings among 1,000 roles. Medians of
 * alternating rounds.
 */
import type { ApiObject, Informer, ResourceTarget, User } from '../../core/api/index.js';
import { median } from '../lib/median.js';
import { namingOf } from '../../core/naming.js';
import { bootstrapObjects } from '../../plugins/authz/bootstrap/index.js';
import { rbac } from '../../plugins/authz/rbac/evaluate.js';

const ROUNDS = 9;
const DECISIONS = 100_000;
const NAMESPACES = 1000;
const GROUP = 'rbac.authorization.k8s.io';

class Objects implements Informer {
  revision = 1;
  private readonly byKey = new Map<string, ApiObject>();
  private readonly byNamespace = new Map<string, ApiObject[]>();
  constructor(private readonly all: readonly ApiObject[]) {
    for (const object of all) {
      const namespace = object.metadata.namespace ?? '';
      this.byKey.set(`${namespace}/${object.metadata.name}`, object);
      this.byNamespace.set(namespace, [...(this.byNamespace.get(namespace) ?? []), object]);
    }
  }
  get = (namespace: string, name: string) => this.byKey.get(`${namespace}/${name}`);
  list = (namespace?: string) => (namespace === undefined ? this.all : (this.byNamespace.get(namespace) ?? []));
}

const binding = (namespace: string, role: string, user: string): ApiObject => ({
  apiVersion: `${GROUP}/v1`,
  kind: 'RoleBinding',
  metadata: { name: `${role}-${user}`, namespace },
  roleRef: { apiGroup: GROUP, kind: 'ClusterRole', name: role },
  subjects: [{ kind: 'User', apiGroup: GROUP, name: user }],
});
const users = ['admin', 'edit', 'view', 'dave', 'erin'];
/** A user with bindings to a fifth of the roles of one namespace. */
const MANY_ROLES = 1000;
const manyRoles = new Objects(
  Array.from({ length: MANY_ROLES }, (_, i) => ({
    apiVersion: `${GROUP}/v1`,
    kind: 'Role',
    metadata: { name: `role-${i}`, namespace: 'many' },
    rules: [
      { apiGroups: [''], resources: ['pods', `things-${i}`], verbs: ['get', 'list'], resourceNames: [`object-${i}`] },
      { apiGroups: ['apps'], resources: ['deployments'], verbs: ['watch'] },
    ],
  })),
);
const manyBindings = Array.from({ length: MANY_ROLES / 5 }, (_, i) => ({
  ...binding('many', `role-${i * 5}`, 'many'),
  roleRef: { apiGroup: GROUP, kind: 'Role', name: `role-${i * 5}` },
}));
const roleBindings = new Objects([
  ...manyBindings,
  ...Array.from({ length: NAMESPACES }, (_, i) =>
    users.map((u, n) => binding(`ns-${i}`, ['admin', 'edit', 'view'][n % 3]!, u)),
  ).flat(),
]);
const naming = namingOf('kubernetes');
const defaults = bootstrapObjects({ naming, isEnabled: () => false });
const of = (kind: string) => new Objects(defaults.filter(object => object.kind === kind));
const authorizer = rbac(
  { roles: manyRoles, clusterRoles: of('ClusterRole'), roleBindings, clusterRoleBindings: of('ClusterRoleBinding') },
  naming,
);

const user = (name: string, ...groups: string[]): User => ({
  name,
  uid: '',
  groups: [...groups, 'system:authenticated'],
  extra: new Map(),
});
const targetOf = (members: Partial<ResourceTarget>): ResourceTarget => ({
  ...{
    is: 'resource',
    verb: 'get',
    group: '',
    version: 'v1',
    resource: 'pods',
    subresource: '',
    namespace: '',
    name: 'x',
    path: '',
  },
  ...members,
});
const inNamespaces = (members: Partial<ResourceTarget>) =>
  Array.from({ length: NAMESPACES }, (_, i) => targetOf({ namespace: `ns-${i}`, ...members }));

const cases = {
  'allow, cluster-admin': [user('root', 'system:masters'), [targetOf({})], false],
  'allow, view in 1,000 namespaces': [
    user('view'),
    inNamespaces({ group: 'networking.orchestrator.io', resource: 'ingresses' }),
    false,
  ],
  'deny, admin in 1,000 namespaces': [
    user('admin'),
    inNamespaces({ group: 'example.com', resource: 'things', verb: 'list' }),
    false,
  ],
  'deny, 200 bindings among 1,000 roles': [
    user('many'),
    [targetOf({ namespace: 'many', verb: 'delete' })],
    false,
    true,
  ],
  'allow, after a change of bindings': [user('edit'), inNamespaces({}), true],
} as const;

function microseconds([subject, targets, stale, fresh]: (typeof cases)[keyof typeof cases]): number {
  const count = stale || fresh ? DECISIONS / 100 : DECISIONS;
  let allowed = 0;
  const start = performance.now();
  for (let i = 0; i < count; i++) {
    if (stale) roleBindings.revision++;
    if (authorizer.authorize(fresh ? { ...subject } : subject, targets[i % targets.length]!).is === 'allow') allowed++;
  }
  const each = ((performance.now() - start) * 1000) / count;
  if (allowed !== 0 && allowed !== count) throw new Error(`${allowed} of ${count} allowed`);
  return each;
}

const results = new Map(Object.keys(cases).map(name => [name, [] as number[]]));
for (let round = 0; round < ROUNDS; round++)
  for (const [name, list] of results) list.push(microseconds(cases[name as keyof typeof cases]));
for (const [name, list] of results) console.log(`${median(list).toFixed(2)} µs  ${name}`);
