import {
  type ApiObject,
  type Authorization,
  authorizer,
  type Change,
  type Host,
  type Mutator,
  mutator,
  type Plugin,
  replaceMembers,
  type ResourceTarget,
  validator,
} from '../../core/api/index.js';
import {
  change,
  fakeHost,
  mutatorConformance,
  partsOf,
  target,
  validatorConformance,
} from '../../core/testing/index.js';
import { approval, signing } from '../../plugins/admission/certificatePermissions.js';
import defaultTolerationSeconds from '../../plugins/admission/defaultTolerationSeconds.js';
import namespaceLifecycle from '../../plugins/admission/namespaceLifecycle.js';
import priority from '../../plugins/admission/priority.js';
import runtimeClass from '../../plugins/admission/runtimeClass.js';
import serviceAccount from '../../plugins/admission/serviceAccount.js';
import taintNewNodes from '../../plugins/admission/taintNewNodes.js';
import { roleEscalation } from '../../plugins/authz/rbac/plugin.js';
import { decoded } from '../kinds/helpers.js';
import { conforms } from './conforms.js';
import { partly } from '../support/values.js';

/* The built-in admission plugins pass the conformance suites that `capstan/testing` exports. */

const node = (spec: object): ApiObject =>
  decoded('core/nodes', { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n' }, spec } as ApiObject);

/** A mutator that gets decoded drafts, as in a server. */
const decoding = (storageName: string, made: Mutator): Mutator => ({
  ...made,
  mutate: (asked, draft, again) => {
    replaceMembers(draft, decoded(storageName, draft));
    return made.mutate(asked, draft, again);
  },
});
const taints = [{ key: 'node.orchestrator.io/not-ready', effect: 'NoSchedule' }];
const newNode = change({ kind: 'Node', target: target({ verb: 'create', resource: 'nodes', namespace: '' }) });
conforms(
  'taint-new-nodes',
  mutatorConformance({
    make: async () =>
      decoding('core/nodes', (await partsOf(taintNewNodes, undefined, mutator, fakeHost('pool').host))[0]!),
    drafts: [
      { change: newNode, draft: node({}), after: node({ taints }) },
      { change: newNode, draft: node({ taints }), after: node({ taints }) },
    ],
  }),
);

const map: ApiObject = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', namespace: 'default' } };
const lifecycle = async () => {
  const fake = fakeHost('pool');
  fake.put('core/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'default' } });
  return fake.host;
};
conforms(
  'namespace-lifecycle, the mutator',
  mutatorConformance({
    make: async () => (await partsOf(namespaceLifecycle, null, mutator, await lifecycle()))[0]!,
    drafts: [
      { change: change(), draft: map, after: map },
      { change: change({ target: target({ verb: 'create', namespace: 'absent' }) }), draft: map },
    ],
  }),
);
const deletion = (name: string) =>
  change({ operation: 'DELETE', target: target({ verb: 'delete', resource: 'namespaces', namespace: '', name }) });
conforms(
  'namespace-lifecycle, the validator',
  validatorConformance({
    make: async () => (await partsOf(namespaceLifecycle, null, validator, await lifecycle()))[0]!,
    objects: [
      { change: deletion('shop'), after: undefined, fields: [] },
      { change: deletion('default'), after: undefined },
    ],
  }),
);

/** A fake host with these objects in its informers. */
const hostWith = (objects: readonly (readonly [storageName: string, object: ApiObject])[]): Host<'pool'> => {
  const fake = fakeHost('pool');
  for (const [storageName, object] of objects) fake.put(storageName, object);
  return fake.host;
};
const mutatorOf = async (plugin: Plugin<undefined>, host: Host<'pool'>) =>
  decoding('core/pods', (await partsOf(plugin, undefined, mutator, host))[0]!);

const pod = (spec: object): ApiObject =>
  decoded('core/pods', {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p', namespace: 'default' },
    spec,
  });
const podChange = (members: Partial<Change> = {}): Change =>
  change({ kind: 'Pod', target: target({ verb: 'create', resource: 'pods', name: 'p' }), ...members });
const container = { name: 'c', image: 'nginx:1' };

const tolerationsOf = (...conditions: readonly string[]) =>
  conditions.map(condition => ({
    key: `node.orchestrator.io/${condition}`,
    operator: 'Exists',
    effect: 'NoExecute',
    tolerationSeconds: 300,
  }));
const tolerated = pod({ tolerations: tolerationsOf('not-ready', 'unreachable') });
conforms(
  'default-toleration-seconds',
  mutatorConformance({
    make: () => mutatorOf(defaultTolerationSeconds, hostWith([])),
    drafts: [
      { change: podChange(), draft: pod({}), after: tolerated },
      { change: podChange(), draft: tolerated, after: tolerated },
    ],
  }),
);

const highPriority = partly<ApiObject>({
  apiVersion: 'scheduling.orchestrator.io/v1',
  kind: 'PriorityClass',
  metadata: { name: 'high' },
  value: 7,
  preemptionPolicy: 'Never',
});
const withPriority = pod({ priorityClassName: 'high', priority: 7, preemptionPolicy: 'Never' });
conforms(
  'priority',
  mutatorConformance({
    make: () => mutatorOf(priority, hostWith([['scheduling.orchestrator.io/priorityclasses', highPriority]])),
    drafts: [
      { change: podChange(), draft: pod({}), after: pod({ priority: 0, preemptionPolicy: 'PreemptLowerPriority' }) },
      { change: podChange(), draft: pod({ priorityClassName: 'high' }), after: withPriority },
      { change: podChange(), draft: pod({ priorityClassName: 'absent' }) },
      { change: podChange(), draft: pod({ priority: 3 }) },
      {
        change: podChange({ operation: 'UPDATE', old: withPriority }),
        draft: pod({}),
        after: pod({ priority: 7, preemptionPolicy: 'Never' }),
      },
    ],
  }),
);

const sandboxed = partly<ApiObject>({
  apiVersion: 'node.orchestrator.io/v1',
  kind: 'RuntimeClass',
  metadata: { name: 'sandboxed' },
  overhead: { podFixed: { cpu: '10m' } },
  scheduling: { nodeSelector: { sandbox: 'true' }, tolerations: [{ key: 'sandbox', operator: 'Exists' }] },
});
conforms(
  'runtime-class, the mutator',
  mutatorConformance({
    make: () => mutatorOf(runtimeClass, hostWith([['node.orchestrator.io/runtimeclasses', sandboxed]])),
    drafts: [
      { change: podChange(), draft: pod({}), after: pod({}) },
      {
        change: podChange(),
        draft: pod({ runtimeClassName: 'sandboxed' }),
        after: pod({
          runtimeClassName: 'sandboxed',
          overhead: { cpu: '10m' },
          nodeSelector: { sandbox: 'true' },
          tolerations: [{ key: 'sandbox', operator: 'Exists' }],
        }),
      },
      { change: podChange(), draft: pod({ runtimeClassName: 'sandboxed', nodeSelector: { sandbox: 'no' } }) },
      { change: podChange(), draft: pod({ runtimeClassName: 'absent' }) },
      { change: podChange(), draft: pod({ runtimeClassName: 'sandboxed', overhead: { cpu: '1' } }) },
    ],
  }),
);
const emptied = new Map([['spec', new Set(['overhead'])]]);
conforms(
  'runtime-class, the validator',
  validatorConformance({
    make: async () => {
      const host = hostWith([['node.orchestrator.io/runtimeclasses', sandboxed]]);
      const { on, validate } = (await partsOf(runtimeClass, undefined, validator, host))[0]!;
      // Like all validators of built-in kinds, it gets decoded objects.
      return { on, validate: (of, after) => validate(of, after && decoded('core/pods', after as ApiObject)) };
    },
    objects: [
      { change: podChange(), after: pod({}), fields: [] },
      { change: podChange(), after: pod({ runtimeClassName: 'sandboxed', overhead: { cpu: '10m' } }), fields: [] },
      { change: podChange(), after: pod({ overhead: { cpu: '1' } }) },
      { change: podChange({ emptied }), after: pod({}) },
    ],
  }),
);

const robot = partly<ApiObject>({
  apiVersion: 'v1',
  kind: 'ServiceAccount',
  metadata: { name: 'robot', namespace: 'default' },
  imagePullSecrets: [{ name: 'registry' }],
  automountServiceAccountToken: false,
});
const asRobot = { serviceAccountName: 'robot', serviceAccount: 'robot', containers: [container] };
conforms(
  'service-account',
  mutatorConformance({
    make: () => mutatorOf(serviceAccount, hostWith([['core/serviceaccounts', robot]])),
    drafts: [
      {
        change: podChange(),
        draft: pod({ serviceAccountName: 'robot', containers: [container] }),
        after: pod({ ...asRobot, imagePullSecrets: [{ name: 'registry' }] }),
      },
      { change: podChange(), draft: pod({ serviceAccountName: 'absent', containers: [container] }) },
    ],
  }),
);

/** Authorizers that allow one verb on one resource and name. */
const allowing = (verb: string, resource: string, name: string): Authorization => ({
  authorize: async (_user, asked) => {
    const { is, verb: v } = asked;
    const isAllowed = is === 'resource' && v === verb && asked.resource === resource && asked.name === name;
    return { decision: { is: isAllowed ? 'allow' : 'noOpinion' }, cacheFor: 'forever', resources: [], opinions: [] };
  },
  explain: async () => [],
  rulesFor: async () => ({ resourceRules: [], pathRules: [], incomplete: true }),
});
const validatorsOf = async (plugin: Plugin<null>, authorization: Authorization, host = fakeHost('pool')) => {
  host.setCombination(authorizer, authorization);
  return await partsOf(plugin, null, validator, host.host);
};

const CERTIFICATES = 'certificates.orchestrator.io';
const requestFor = (signerName: string, status: object = {}): ApiObject => ({
  apiVersion: `${CERTIFICATES}/v1`,
  kind: 'CertificateSigningRequest',
  metadata: { name: 'csr' },
  spec: { signerName },
  status,
});
const writeOf = (subresource: string, signerName: string, members: Partial<ResourceTarget> = {}): Change =>
  change({
    operation: 'UPDATE',
    kind: 'CertificateSigningRequest',
    old: requestFor(signerName),
    target: target({
      verb: 'update',
      group: CERTIFICATES,
      resource: 'certificatesigningrequests',
      namespace: '',
      name: 'csr',
      subresource,
      ...members,
    }),
  });
for (const [plugin, subresource, verb] of [
  [approval, 'approval', 'approve'],
  [signing, 'status', 'sign'],
] as const) {
  const signed = { certificate: 'AAAA' };
  conforms(
    plugin.name,
    validatorConformance({
      make: async () => (await validatorsOf(plugin, allowing(verb, 'signers', 'example.com/a')))[0]!,
      objects: [
        { change: writeOf(subresource, 'example.com/a'), after: requestFor('example.com/a', signed), fields: [] },
        { change: writeOf(subresource, 'example.com/b'), after: requestFor('example.com/b', signed) },
      ],
    }),
  );
}

const RBAC = 'rbac.authorization.orchestrator.io';
const rbacChange = (resource: string, operation: Change['operation'] = 'CREATE'): Change =>
  change({ operation, kind: 'Role', target: target({ verb: 'create', group: RBAC, resource, name: 'r' }) });
const roleNamed = (name: string) =>
  partly<ApiObject>({
    apiVersion: `${RBAC}/v1`,
    kind: 'Role',
    metadata: { name, namespace: 'default' },
    rules: [{ apiGroups: [''], resources: ['secrets'], verbs: ['get'] }],
  });
const bindingTo = (name: string) =>
  partly<ApiObject>({
    apiVersion: `${RBAC}/v1`,
    kind: 'RoleBinding',
    metadata: { name: 'b', namespace: 'default' },
    roleRef: { apiGroup: RBAC, kind: 'Role', name },
    subjects: [{ kind: 'User', apiGroup: RBAC, name: 'tess' }],
  });
conforms(
  'role-escalation, roles',
  validatorConformance({
    make: async () => (await validatorsOf(roleEscalation, allowing('escalate', 'roles', 'free')))[0]!,
    objects: [
      { change: rbacChange('roles'), after: roleNamed('r') },
      {
        change: { ...rbacChange('roles', 'UPDATE'), target: { ...rbacChange('roles').target, name: 'free' } },
        after: roleNamed('free'),
        fields: [],
      },
    ],
  }),
);
conforms(
  'role-escalation, bindings',
  validatorConformance({
    make: async () => {
      const host = fakeHost('pool');
      for (const name of ['r', 'free']) host.put(`${RBAC}/roles`, roleNamed(name));
      return (await validatorsOf(roleEscalation, allowing('bind', 'roles', 'free'), host))[0]!;
    },
    objects: [
      { change: rbacChange('rolebindings'), after: bindingTo('r') },
      { change: rbacChange('rolebindings'), after: bindingTo('free'), fields: [] },
    ],
  }),
);
