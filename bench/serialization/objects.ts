import type { Json } from '../../core/model/object.js';

/** A JSON object without undefined members. */
export type JsonObject = { [key: string]: Json };

/** Words of generated texts. */
const WORDS = 'the of field value list object when default name set must be used for container volume policy'.split(
  ' ',
);
/** The number of top-level properties of the generated definition, which together have about 100 KB. */
const DEFINITION_PROPERTIES = 23;
const CREATED = '2026-03-01T09:30:00Z';

/** A generator of numbers in [0, 1), the same for the same seed (a linear congruential generator). */
function makeRandom(seed: number): () => number {
  let state = (seed * 2654435761 + 1) >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

const hexDigits = (next: () => number, length: number): string =>
  Array.from({ length }, () => Math.floor(next() * 16).toString(16)).join('');

const uid = (next: () => number): string => [8, 4, 4, 4, 12].map(length => hexDigits(next, length)).join('-');

const text = (next: () => number, words: number): string =>
  Array.from({ length: words }, () => WORDS[Math.floor(next() * WORDS.length)]).join(' ');

/** The fields of a value in the form of `managedFields[].fieldsV1`. List items are identified by their name. */
function fieldsOf(value: Json): JsonObject {
  if (typeof value !== 'object' || value === null) return {};
  if (!Array.isArray(value))
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [`f:${name}`, fieldsOf(member)]));
  const named = value.filter(item => typeof item === 'object' && item !== null && 'name' in item) as JsonObject[];
  return Object.fromEntries(named.map(item => [`k:{"name":"${item['name']}"}`, { '.': {}, ...fieldsOf(item) }]));
}

/** The values that differ between objects. */
interface ObjectParts {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly namespace?: string;
  readonly labels?: JsonObject;
  readonly rest: JsonObject;
  /** Managers, and the members of the object that each owns. */
  readonly managers?: readonly (readonly [manager: string, members: readonly string[]])[];
}

/** Makes an object with the metadata that a server adds. */
function makeObject(
  next: () => number,
  { apiVersion, kind, name, namespace, labels, rest, managers = [] }: ObjectParts,
): JsonObject {
  const managedFields = managers.map(([manager, members]) => ({
    manager,
    operation: 'Update',
    apiVersion,
    time: CREATED,
    fieldsType: 'FieldsV1',
    fieldsV1: fieldsOf(Object.fromEntries(members.map(member => [member, rest[member]!]))),
  }));
  const metadata: JsonObject = {
    name,
    ...(namespace && { namespace }),
    uid: uid(next),
    resourceVersion: String(1000 + Math.floor(next() * 1e6)),
    creationTimestamp: CREATED,
    ...(labels && { labels }),
    ...(managedFields.length > 0 && { managedFields }),
  };
  return { kind, apiVersion, metadata, ...rest };
}

/** A ConfigMap of about 0.3 KB. */
export function makeConfigMap(at: number): JsonObject {
  const next = makeRandom(at);
  const data = { 'log.level': 'info', 'cache.size': String(Math.floor(next() * 4096)), motd: text(next, 6) };
  return makeObject(next, {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    name: `settings-${at}`,
    namespace: 'shop',
    rest: { data },
  });
}

const probe = (path: string): JsonObject => ({
  httpGet: { path, port: 8080, scheme: 'HTTP' },
  timeoutSeconds: 1,
  periodSeconds: 10,
  successThreshold: 1,
  failureThreshold: 3,
});

const container = (name: string, next: () => number): JsonObject => ({
  name,
  image: `registry.example.com/shop/${name}@sha256:${hexDigits(next, 64)}`,
  args: ['--listen=:8080', `--workers=${1 + Math.floor(next() * 8)}`],
  ports: [{ name: 'http', containerPort: 8080, protocol: 'TCP' }],
  env: [
    { name: 'REGION', value: 'north' },
    { name: 'POD_IP', valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath: 'status.podIP' } } },
  ],
  resources: { limits: { cpu: '500m', memory: '256Mi' }, requests: { cpu: '100m', memory: '128Mi' } },
  volumeMounts: [{ name: 'config', mountPath: '/etc/shop' }],
  livenessProbe: probe('/livez'),
  readinessProbe: probe('/readyz'),
  terminationMessagePath: '/dev/termination-log',
  terminationMessagePolicy: 'File',
  imagePullPolicy: 'IfNotPresent',
});

const podSpec = (containers: readonly JsonObject[], at: number): JsonObject => ({
  volumes: [{ name: 'config', configMap: { name: `settings-${at}`, defaultMode: 420 } }],
  containers: [...containers],
  restartPolicy: 'Always',
  terminationGracePeriodSeconds: 30,
  dnsPolicy: 'ClusterFirst',
  serviceAccountName: 'default',
  securityContext: {},
  schedulerName: 'default-scheduler',
});

const condition = (type: string, more: JsonObject = {}): JsonObject => ({
  type,
  status: 'True',
  lastTransitionTime: CREATED,
  ...more,
});

/** A Deployment of about 3 KB, with managed fields. */
export function makeDeployment(at: number): JsonObject {
  const next = makeRandom(at);
  const labels = { app: `web-${at}` };
  const spec: JsonObject = {
    replicas: 3,
    selector: { matchLabels: labels },
    template: { metadata: { creationTimestamp: null, labels }, spec: podSpec([container('web', next)], at) },
    strategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: '25%', maxSurge: '25%' } },
    revisionHistoryLimit: 10,
    progressDeadlineSeconds: 600,
  };
  const status: JsonObject = {
    observedGeneration: 1,
    replicas: 3,
    updatedReplicas: 3,
    readyReplicas: 3,
    availableReplicas: 3,
    conditions: [
      condition('Available', { lastUpdateTime: CREATED, reason: 'MinimumReplicasAvailable', message: text(next, 8) }),
    ],
  };
  return makeObject(next, {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    name: `web-${at}`,
    namespace: 'shop',
    labels,
    rest: { spec, status },
    managers: [['deployer', ['spec']]],
  });
}

const containerStatus = (name: string, next: () => number): JsonObject => ({
  name,
  state: { running: { startedAt: CREATED } },
  lastState: {},
  ready: true,
  restartCount: Math.floor(next() * 3),
  image: `registry.example.com/shop/${name}:1.${Math.floor(next() * 100)}`,
  imageID: `registry.example.com/shop/${name}@sha256:${hexDigits(next, 64)}`,
  containerID: `containerd://${hexDigits(next, 64)}`,
  started: true,
});

/** A running Pod of about 10 KB, with status and managed fields. */
export function makePod(at: number): JsonObject {
  const next = makeRandom(at);
  const names = ['web', 'proxy', 'metrics'];
  const address = `10.1.${at >> 8}.${at & 255}`;
  const status: JsonObject = {
    phase: 'Running',
    conditions: ['PodReadyToStartContainers', 'Initialized', 'Ready', 'ContainersReady', 'PodScheduled'].map(type =>
      condition(type, { lastProbeTime: null }),
    ),
    hostIP: '10.0.0.7',
    hostIPs: [{ ip: '10.0.0.7' }],
    podIP: address,
    podIPs: [{ ip: address }],
    startTime: CREATED,
    containerStatuses: names.map(name => containerStatus(name, next)),
    qosClass: 'Burstable',
  };
  return makeObject(next, {
    apiVersion: 'v1',
    kind: 'Pod',
    name: `web-${hexDigits(next, 9)}-${at}`,
    namespace: 'shop',
    labels: { app: `web-${at % 50}`, 'pod-template-hash': hexDigits(next, 9), tier: 'front' },
    rest: {
      spec: {
        ...podSpec(
          names.map(name => container(name, next)),
          at,
        ),
        nodeName: 'node-7',
      },
      status,
    },
    managers: [
      ['replicaset-controller', ['spec']],
      ['node-agent', ['status']],
    ],
  });
}

/** A property of a structural schema: an object of scalars, lists and maps, nested `depth` deep. */
function property(next: () => number, depth: number): JsonObject {
  const describe = (schema: JsonObject): JsonObject => ({ description: text(next, 18), ...schema });
  const properties: JsonObject = {
    name: describe({ type: 'string', maxLength: 63, pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$' }),
    replicas: describe({ type: 'integer', format: 'int32', minimum: 0, maximum: 100 }),
    paused: describe({ type: 'boolean' }),
    labels: describe({ type: 'object', additionalProperties: { type: 'string' } }),
    hosts: describe({ type: 'array', items: { type: 'string', minLength: 1 }, 'x-kubernetes-list-type': 'set' }),
  };
  if (depth > 0) properties['template'] = property(next, depth - 1);
  return describe({ type: 'object', required: ['name'], properties });
}

/** A CustomResourceDefinition of about 100 KB, most of which is the schema. */
export function makeDefinition(at: number): JsonObject {
  const next = makeRandom(at);
  const properties = Object.fromEntries(
    Array.from({ length: DEFINITION_PROPERTIES }, (_, i) => [`part${i}`, property(next, 3)]),
  );
  const names = { plural: 'shops', singular: 'shop', kind: 'Shop', listKind: 'ShopList' };
  const schema = { openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object', properties } } } };
  return makeObject(next, {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    name: 'shops.example.com',
    rest: {
      spec: {
        group: 'example.com',
        names,
        scope: 'Namespaced',
        versions: [{ name: 'v1', served: true, storage: true, schema, subresources: { status: {} } }],
        conversion: { strategy: 'None' },
      },
      status: {
        conditions: [condition('Established', { reason: 'InitialNamesAccepted', message: text(next, 8) })],
        acceptedNames: names,
        storedVersions: ['v1'],
      },
    },
  });
}
