import type { ApiObject, Host } from '../../../core/api/index.js';
import type { DesiredObject } from '../desiredObjects.js';

type Naming = Host['naming'];

/** A served group in the server's naming. The preferred version comes first. */
export interface ServedGroup {
  readonly group: string;
  readonly priority: number;
  readonly versions: readonly string[];
}

const FLOW = 'flowcontrol.apiserver.orchestrator.io';
const ANYONE = ['system:authenticated', 'system:unauthenticated'];
const SERVICE_ACCOUNTS = ['system:serviceaccounts'];

const priorityClass = (naming: Naming, name: string, value: number, description: string): DesiredObject => ({
  storageName: 'scheduling.orchestrator.io/priorityclasses',
  object: {
    apiVersion: naming.apiVersion('scheduling.orchestrator.io/v1'),
    kind: 'PriorityClass',
    metadata: { name },
    value,
    description,
  } as ApiObject,
});

/** Metadata of flow control objects, with the annotation that marks them as managed by the server. */
const managedMetadata = (naming: Naming, name: string): object => ({
  name,
  annotations: { [naming.label('apf.orchestrator.io/autoupdate-spec')]: 'true' },
});

const priorityLevel = (naming: Naming, name: string, spec: object): DesiredObject => ({
  storageName: `${FLOW}/prioritylevelconfigurations`,
  object: {
    apiVersion: naming.apiVersion(`${FLOW}/v1`),
    kind: 'PriorityLevelConfiguration',
    metadata: managedMetadata(naming, name),
    spec,
  } as unknown as ApiObject,
});

/** The spec of a level with queues of fifty requests each. */
const queuedSpec = (
  nominalConcurrencyShares: number,
  lendablePercent: number,
  queues: number,
  handSize: number,
): object => ({
  type: 'Limited',
  limited: {
    nominalConcurrencyShares,
    lendablePercent,
    limitResponse: { type: 'Queue', queuing: { queues, handSize, queueLengthLimit: 50 } },
  },
});

const EVERYTHING = {
  resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'], clusterScope: true, namespaces: ['*'] }],
  nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
};

const groupSubjects = (names: readonly string[]): object[] => names.map(name => ({ kind: 'Group', group: { name } }));
const userSubject = (name: string): object => ({ kind: 'User', user: { name } });

/** The properties of a flow schema. */
interface FlowSchemaSpec {
  readonly priorityLevel: string;
  readonly precedence: number;
  readonly byUser: boolean;
  readonly rules: readonly object[];
}

const flowSchema = (
  naming: Naming,
  name: string,
  { priorityLevel: levelName, precedence, byUser, rules }: FlowSchemaSpec,
): DesiredObject => ({
  storageName: `${FLOW}/flowschemas`,
  object: {
    apiVersion: naming.apiVersion(`${FLOW}/v1`),
    kind: 'FlowSchema',
    metadata: managedMetadata(naming, name),
    spec: {
      priorityLevelConfiguration: { name: levelName },
      matchingPrecedence: precedence,
      ...(byUser ? { distinguisherMethod: { type: 'ByUser' } } : {}),
      rules,
    },
  } as unknown as ApiObject,
});

/** The rule that matches requests of leader election. */
const leaderElectionRule = (naming: Naming): object => ({
  verbs: ['get', 'create', 'update'],
  apiGroups: [naming.group('coordination.orchestrator.io')],
  resources: ['leases'],
  namespaces: ['*'],
});

/** Rules that match the heartbeats of nodes. */
const nodeRules = (naming: Naming): object[] => [
  {
    verbs: ['*'],
    apiGroups: [''],
    resources: ['nodes', 'nodes/status'],
    clusterScope: true,
    namespaces: ['*'],
  },
  {
    verbs: ['*'],
    apiGroups: [naming.group('coordination.orchestrator.io')],
    resources: ['leases'],
    namespaces: ['*'],
  },
];

function flowSchemas(naming: Naming): DesiredObject[] {
  const system = naming.component('orchestrator-system');
  const account = (name: string): object => ({ kind: 'ServiceAccount', serviceAccount: { name, namespace: system } });
  const manager = naming.component('system:orchestrator-controller-manager');
  const scheduler = naming.component('system:orchestrator-scheduler');
  const oneRule = (subjects: readonly object[], rules: object = EVERYTHING): object[] => [{ subjects, ...rules }];
  const make = (
    name: string,
    levelName: string,
    precedence: number,
    byUser: boolean,
    rules: readonly object[],
  ): DesiredObject => flowSchema(naming, name, { priorityLevel: levelName, precedence, byUser, rules });
  return [
    make('exempt', 'exempt', 1, false, oneRule(groupSubjects(['system:masters']))),
    make(
      'probes',
      'exempt',
      2,
      false,
      oneRule(groupSubjects([...ANYONE].reverse()), {
        nonResourceRules: [{ verbs: ['get'], nonResourceURLs: ['/healthz', '/readyz', '/livez'] }],
      }),
    ),
    make('system-leader-election', 'leader-election', 100, true, [
      {
        subjects: [userSubject(manager), userSubject(scheduler), account('*')],
        resourceRules: [leaderElectionRule(naming)],
      },
    ]),
    make('endpoint-controller', 'workload-high', 150, true, [
      {
        subjects: [userSubject(manager), account('endpoint-controller'), account('endpointslicemirroring-controller')],
        resourceRules: [
          { verbs: ['get', 'create', 'update'], apiGroups: [''], resources: ['endpoints'], namespaces: ['*'] },
        ],
      },
    ]),
    make('workload-leader-election', 'leader-election', 200, true, [
      { subjects: [account('*')], resourceRules: [leaderElectionRule(naming)] },
    ]),
    make('system-node-high', 'node-high', 400, true, [
      {
        subjects: groupSubjects(['system:nodes']),
        resourceRules: nodeRules(naming),
      },
    ]),
    make('system-nodes', 'system', 500, true, oneRule(groupSubjects(['system:nodes']))),
    make(
      naming.component('orchestrator-controller-manager'),
      'workload-high',
      800,
      true,
      oneRule([userSubject(manager)]),
    ),
    make(naming.component('orchestrator-scheduler'), 'workload-high', 800, true, oneRule([userSubject(scheduler)])),
    make(naming.component('orchestrator-system-service-accounts'), 'workload-high', 900, true, oneRule([account('*')])),
    make('service-accounts', 'workload-low', 9000, true, oneRule(groupSubjects(SERVICE_ACCOUNTS))),
    make('global-default', 'global-default', 9900, true, oneRule(groupSubjects([...ANYONE].reverse()))),
    make('catch-all', 'catch-all', 10_000, true, oneRule(groupSubjects([...ANYONE].reverse()))),
  ];
}

/** Priority classes, priority levels and flow schemas of a new server, in its naming. */
export const systemObjectsOf = (naming: Naming): DesiredObject[] => [
  priorityClass(
    naming,
    'system-cluster-critical',
    2_000_000_000,
    'Used for system critical pods that must run in the cluster, but can be moved to another node if necessary.',
  ),
  priorityClass(
    naming,
    'system-node-critical',
    2_000_001_000,
    'Used for system critical pods that must not be moved from their current node.',
  ),
  priorityLevel(naming, 'exempt', { type: 'Exempt', exempt: { nominalConcurrencyShares: 0, lendablePercent: 0 } }),
  priorityLevel(naming, 'catch-all', {
    type: 'Limited',
    limited: { nominalConcurrencyShares: 5, lendablePercent: 0, limitResponse: { type: 'Reject' } },
  }),
  priorityLevel(naming, 'system', queuedSpec(30, 33, 64, 6)),
  priorityLevel(naming, 'node-high', queuedSpec(40, 25, 64, 6)),
  priorityLevel(naming, 'leader-election', queuedSpec(10, 0, 16, 4)),
  priorityLevel(naming, 'workload-high', queuedSpec(40, 50, 128, 6)),
  priorityLevel(naming, 'workload-low', queuedSpec(100, 90, 128, 6)),
  priorityLevel(naming, 'global-default', queuedSpec(20, 50, 128, 6)),
  ...flowSchemas(naming),
];

/** The difference between the priorities of consecutive versions. */
const VERSION_STEP = 15;

/** Versions with a fixed priority upstream, by neutral group. */
const VERSION_PRIORITIES: readonly (readonly [group: string, version: string, priority: number])[] = [
  ['', 'v1', 1],
  ['flowcontrol.apiserver.orchestrator.io', 'v1', 21],
];

/** The APIServices of the built-in group versions, except that of APIServices itself: upstream has the same ones. */
export const apiServices = (groups: readonly ServedGroup[], naming: Naming, now: string): DesiredObject[] => {
  const fixedPriorities = new Map(
    VERSION_PRIORITIES.map(([group, version, n]) => [`${version}.${naming.group(group)}`, n]),
  );
  return groups
    .filter(({ group }) => group !== naming.group('apiregistration.orchestrator.io'))
    .flatMap(({ group, priority, versions }) =>
      versions.map((version, i) => ({
        storageName: 'apiregistration.orchestrator.io/apiservices',
        object: {
          apiVersion: naming.apiVersion('apiregistration.orchestrator.io/v1'),
          kind: 'APIService',
          metadata: {
            name: `${version}.${group}`,
            labels: { [naming.label(`${naming.short}-aggregator.orchestrator.io/automanaged`)]: 'onstart' },
          },
          spec: {
            group,
            version,
            groupPriorityMinimum: priority,
            versionPriority: fixedPriorities.get(`${version}.${group}`) ?? VERSION_STEP * (versions.length - i),
          },
          status: {
            conditions: [
              {
                type: 'Available',
                status: 'True',
                reason: 'Local',
                message: 'Local APIServices are always available',
                lastTransitionTime: now,
              },
            ],
          },
        } as unknown as ApiObject,
      })),
    );
};
