import type { ApiObject, Host } from '../../core/api/index.js';
import type { Kept } from './keeper.js';

type Naming = Host['naming'];

/** A group as discovery shows it, in served names; versions with the preferred one first. */
export interface ServedGroup {
  readonly group: string;
  readonly priority: number;
  readonly versions: readonly string[];
}

const FLOW = 'flowcontrol.apiserver.orchestrator.io';
const ANYONE = ['system:authenticated', 'system:unauthenticated'];
const SERVICE_ACCOUNTS = ['system:serviceaccounts'];

const priorityClass = (naming: Naming, name: string, value: number, description: string): Kept => ({
  storageName: 'scheduling.orchestrator.io/priorityclasses',
  object: {
    apiVersion: naming.apiVersion('scheduling.orchestrator.io/v1'),
    kind: 'PriorityClass',
    metadata: { name },
    value,
    description,
  } as ApiObject,
});

/** What objects of flow control carry that the server keeps up to date. */
const kept = (naming: Naming, name: string): object => ({
  name,
  annotations: { [naming.label('apf.orchestrator.io/autoupdate-spec')]: 'true' },
});

const level = (naming: Naming, name: string, spec: object): Kept => ({
  storageName: `${FLOW}/prioritylevelconfigurations`,
  object: {
    apiVersion: naming.apiVersion(`${FLOW}/v1`),
    kind: 'PriorityLevelConfiguration',
    metadata: kept(naming, name),
    spec,
  } as unknown as ApiObject,
});

/** A level with queues of fifty requests each. */
const queued = (
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

/** What a flow schema says besides its name. */
interface Flow {
  readonly level: string;
  readonly precedence: number;
  readonly byUser: boolean;
  readonly rules: readonly object[];
}

const flow = (naming: Naming, name: string, { level: levelName, precedence, byUser, rules }: Flow): Kept => ({
  storageName: `${FLOW}/flowschemas`,
  object: {
    apiVersion: naming.apiVersion(`${FLOW}/v1`),
    kind: 'FlowSchema',
    metadata: kept(naming, name),
    spec: {
      priorityLevelConfiguration: { name: levelName },
      matchingPrecedence: precedence,
      ...(byUser ? { distinguisherMethod: { type: 'ByUser' } } : {}),
      rules,
    },
  } as unknown as ApiObject,
});

/** Verbs and resources of leader election. */
const electing = (naming: Naming): object => ({
  verbs: ['get', 'create', 'update'],
  apiGroups: [naming.group('coordination.orchestrator.io')],
  resources: ['leases'],
  namespaces: ['*'],
});

function flows(naming: Naming): Kept[] {
  const system = naming.component('orchestrator-system');
  const account = (name: string): object => ({ kind: 'ServiceAccount', serviceAccount: { name, namespace: system } });
  const manager = naming.component('system:orchestrator-controller-manager');
  const scheduler = naming.component('system:orchestrator-scheduler');
  const one = (subjects: readonly object[], rules: object = EVERYTHING): object[] => [{ subjects, ...rules }];
  const make = (name: string, levelName: string, precedence: number, byUser: boolean, rules: readonly object[]): Kept =>
    flow(naming, name, { level: levelName, precedence, byUser, rules });
  return [
    make('exempt', 'exempt', 1, false, one(groupSubjects(['system:masters']))),
    make(
      'probes',
      'exempt',
      2,
      false,
      one(groupSubjects([...ANYONE].reverse()), {
        nonResourceRules: [{ verbs: ['get'], nonResourceURLs: ['/healthz', '/readyz', '/livez'] }],
      }),
    ),
    make('system-leader-election', 'leader-election', 100, true, [
      { subjects: [userSubject(manager), userSubject(scheduler), account('*')], resourceRules: [electing(naming)] },
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
      { subjects: [account('*')], resourceRules: [electing(naming)] },
    ]),
    make('system-node-high', 'node-high', 400, true, [
      {
        subjects: groupSubjects(['system:nodes']),
        resourceRules: [
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
        ],
      },
    ]),
    make('system-nodes', 'system', 500, true, one(groupSubjects(['system:nodes']))),
    make(naming.component('orchestrator-controller-manager'), 'workload-high', 800, true, one([userSubject(manager)])),
    make(naming.component('orchestrator-scheduler'), 'workload-high', 800, true, one([userSubject(scheduler)])),
    make(naming.component('orchestrator-system-service-accounts'), 'workload-high', 900, true, one([account('*')])),
    make('service-accounts', 'workload-low', 9000, true, one(groupSubjects(SERVICE_ACCOUNTS))),
    make('global-default', 'global-default', 9900, true, one(groupSubjects([...ANYONE].reverse()))),
    make('catch-all', 'catch-all', 10_000, true, one(groupSubjects([...ANYONE].reverse()))),
  ];
}

/**
 * Priority classes, priority levels and flow schemas of a new server (spec, "Objects of the system"), in the names it
 * serves.
 */
export const systemObjectsOf = (naming: Naming): Kept[] => [
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
  level(naming, 'exempt', { type: 'Exempt', exempt: { nominalConcurrencyShares: 0, lendablePercent: 0 } }),
  level(naming, 'catch-all', {
    type: 'Limited',
    limited: { nominalConcurrencyShares: 5, lendablePercent: 0, limitResponse: { type: 'Reject' } },
  }),
  level(naming, 'system', queued(30, 33, 64, 6)),
  level(naming, 'node-high', queued(40, 25, 64, 6)),
  level(naming, 'leader-election', queued(10, 0, 16, 4)),
  level(naming, 'workload-high', queued(40, 50, 128, 6)),
  level(naming, 'workload-low', queued(100, 90, 128, 6)),
  level(naming, 'global-default', queued(20, 50, 128, 6)),
  ...flows(naming),
];

/** How much a version goes before the next one. */
const VERSION_STEP = 15;

/** Versions that upstream gives a priority of their own, by neutral group. */
const VERSION_PRIORITIES: readonly (readonly [group: string, version: string, priority: number])[] = [
  ['', 'v1', 1],
  ['flowcontrol.apiserver.orchestrator.io', 'v1', 21],
];

/**
 * The API services of what the server itself serves. Upstream lists every group version but that of the API services
 * themselves.
 */
export const apiServices = (groups: readonly ServedGroup[], naming: Naming, now: string): Kept[] => {
  const own = new Map(VERSION_PRIORITIES.map(([group, version, n]) => [`${version}.${naming.group(group)}`, n]));
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
            versionPriority: own.get(`${version}.${group}`) ?? VERSION_STEP * (versions.length - i),
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
