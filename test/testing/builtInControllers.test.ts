import { type ApiObject, controller, type Plugin } from '../../core/api/index.js';
import { type ControllerCase, controllerConformance, partsOf } from '../../core/testing/index.js';
import { namingOf } from '../../core/naming.js';
import { reconcileBootstrap } from '../../plugins/authz/bootstrap/index.js';
import { customResources } from '../../plugins/controllers/definitions/customResources.js';
import {
  authenticationObjects,
  claimProtection,
  defaultAccounts,
  garbageCollector,
  namespaceDeletion,
  ownService,
  rbacBootstrap,
  roleAggregation,
  rootCaPublisher,
  systemNamespaces,
  systemObjects,
  tokenCleaner,
  volumeProtection,
} from '../../plugins/controllers/index.js';
import { conforms } from './conforms.js';
import { partly } from '../support/values.js';

/* The built-in controllers pass the conformance suite that `capstan/testing` exports. */

/** Runs the suite for the controllers of a plugin, each with the work that it must do for the objects. */
function controllersConform<C>(
  plugin: Plugin<C>,
  config: unknown,
  objects: ControllerCase['objects'],
  requests: readonly (readonly string[])[],
): void {
  for (const [i, expected] of requests.entries())
    conforms(
      `${plugin.name}, controller ${i}`,
      controllerConformance({
        make: async host => (await partsOf(plugin, config, controller, host))[i]!,
        objects,
        requests: expected,
      }),
    );
}

const core = (kind: string, metadata: ApiObject['metadata'], members: object = {}): ApiObject => ({
  apiVersion: 'v1',
  kind,
  metadata,
  ...members,
});
const namespaces = ['a', 'b'].map(name => ({ storageName: 'core/namespaces', object: core('Namespace', { name }) }));
const inEach = (resource: string): string[] => ['a', 'b'].map(name => `POST /api/v1/namespaces/${name}/${resource}`);

controllersConform(systemNamespaces, {}, [], [Array<string>(4).fill('POST /api/v1/namespaces')]);
controllersConform(defaultAccounts, {}, namespaces, [inEach('serviceaccounts')]);
controllersConform(rootCaPublisher, { rootCa: 'pem' }, namespaces, [inEach('configmaps')]);

const system = {
  storageName: 'core/namespaces',
  object: core('Namespace', { name: 'orchestrator-system' }),
};
controllersConform(
  authenticationObjects,
  { clientCa: 'pem' },
  [system],
  [Array<string>(2).fill('POST /api/v1/namespaces/orchestrator-system/configmaps')],
);
controllersConform(
  tokenCleaner,
  {},
  [
    {
      storageName: 'core/secrets',
      object: core(
        'Secret',
        { name: 'bootstrap-token-abcdef', namespace: 'orchestrator-system', uid: 'u1' },
        { type: 'bootstrap.orchestrator.io/token', data: { expiration: 'MjAwMC0wMS0wMVQwMDowMDowMFo=' } },
      ),
    },
  ],
  [['DELETE /api/v1/namespaces/orchestrator-system/secrets/bootstrap-token-abcdef']],
);

const defaultNamespace = { storageName: 'core/namespaces', object: core('Namespace', { name: 'default' }) };
controllersConform(
  ownService,
  { clusterIP: '10.0.0.1', port: 6443, address: '192.0.2.1' },
  [defaultNamespace],
  [
    [
      'POST /api/v1/namespaces/default/services',
      'POST /api/v1/namespaces/default/endpoints',
      'POST /apis/discovery.orchestrator.io/v1/namespaces/default/endpointslices',
    ],
  ],
);

const deletionTimestamp = '2030-01-01T00:00:00Z';
const protectedObject = (plural: string, kind: string, prefix: string): ControllerCase['objects'][number] => ({
  storageName: `core/${plural}`,
  object: core(kind, {
    name: 'c',
    ...(kind === 'PersistentVolume' ? {} : { namespace: 'a' }),
    uid: 'u1',
    deletionTimestamp,
    finalizers: [`orchestrator.io/${prefix}-protection`],
  }),
});
controllersConform(
  claimProtection,
  {},
  [protectedObject('persistentvolumeclaims', 'PersistentVolumeClaim', 'pvc')],
  [['PUT /api/v1/namespaces/a/persistentvolumeclaims/c']],
);
controllersConform(
  volumeProtection,
  {},
  [protectedObject('persistentvolumes', 'PersistentVolume', 'pv')],
  [['PUT /api/v1/persistentvolumes/c']],
);

const RBAC = 'rbac.authorization.orchestrator.io';
const clusterRole = (name: string, members: object): ControllerCase['objects'][number] => ({
  storageName: `${RBAC}/clusterroles`,
  object: { apiVersion: `${RBAC}/v1`, kind: 'ClusterRole', metadata: { name, ...members }, rules: [] },
});
const aggregating = {
  ...clusterRole('all', {}).object,
  aggregationRule: { clusterRoleSelectors: [{ matchLabels: { part: 'yes' } }] },
};
const rules = [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }];
controllersConform(
  roleAggregation,
  {},
  [
    {
      storageName: `${RBAC}/clusterroles`,
      object: { ...clusterRole('part', { labels: { part: 'yes' } }).object, rules },
    },
    { storageName: `${RBAC}/clusterroles`, object: aggregating },
  ],
  [[`PATCH /apis/${RBAC}/v1/clusterroles/all`]],
);

const PLURALS: Readonly<Record<string, string>> = {
  ClusterRole: 'clusterroles',
  ClusterRoleBinding: 'clusterrolebindings',
  Role: 'roles',
  RoleBinding: 'rolebindings',
};
const bootstrap = reconcileBootstrap([], { naming: namingOf('neutral'), isEnabled: () => false }).create.map(
  ({ kind, metadata: { namespace } }) => {
    const scope = namespace ? `/namespaces/${namespace}` : '';
    return `POST /apis/${RBAC}/v1${scope}/${PLURALS[kind]}`;
  },
);
controllersConform(rbacBootstrap, {}, [], [bootstrap]);

const definition = partly<ApiObject>({
  apiVersion: 'apiextensions.orchestrator.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'orders.tea.example.com' },
  spec: {
    group: 'tea.example.com',
    scope: 'Namespaced',
    names: { kind: 'Order', plural: 'orders', singular: 'order', listKind: 'OrderList' },
    versions: [{ name: 'v1', served: true, storage: true }],
  },
});
const DEFINITIONS = 'apiextensions.orchestrator.io/customresourcedefinitions';
const STATUS = '/apis/apiextensions.orchestrator.io/v1/customresourcedefinitions/orders.tea.example.com/status';
controllersConform(
  customResources,
  { resources: [], takenNames: [] },
  [{ storageName: DEFINITIONS, object: definition }],
  [[`PUT ${STATUS}?fieldManager=orchestrator-apiserver`]],
);

const FLOW = 'flowcontrol.apiserver.orchestrator.io';
const CONSUMER = 'api-priority-and-fairness-config-consumer-v1';
const flowSchema = partly<ApiObject>({
  apiVersion: `${FLOW}/v1`,
  kind: 'FlowSchema',
  metadata: { name: 'own', uid: 'u1' },
  spec: { priorityLevelConfiguration: { name: 'absent' } },
});
conforms(
  'the status of flow schemas',
  controllerConformance({
    make: async host => (await partsOf(systemObjects, { groups: [] }, controller, host))[1]!,
    objects: [{ storageName: `${FLOW}/flowschemas`, object: flowSchema }],
    requests: [`PATCH /apis/${FLOW}/v1/flowschemas/own/status?fieldManager=${CONSUMER}&force=true`],
  }),
);

const resources = [
  {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    plural: 'configmaps',
    namespaced: true,
    storageName: 'core/configmaps',
    verbs: ['delete', 'deletecollection', 'get'],
  },
];
const orphan = core('ConfigMap', {
  name: 'orphan',
  namespace: 'a',
  uid: 'u2',
  ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'gone', uid: 'u1' }],
});
controllersConform(
  garbageCollector,
  { resources, takenNames: [] },
  [{ storageName: 'core/configmaps', object: orphan }],
  [['DELETE /api/v1/namespaces/a/configmaps/orphan']],
);

const terminating = core(
  'Namespace',
  { name: 'gone', uid: 'u3', deletionTimestamp },
  { spec: { finalizers: ['orchestrator'] }, status: { phase: 'Terminating' } },
);
controllersConform(
  namespaceDeletion,
  { resources, takenNames: [] },
  [
    { storageName: 'core/namespaces', object: terminating },
    { storageName: 'core/configmaps', object: core('ConfigMap', { name: 'c', namespace: 'gone' }) },
  ],
  [
    [
      'DELETE /api/v1/namespaces/gone/configmaps',
      'PUT /api/v1/namespaces/gone/status',
      'PUT /api/v1/namespaces/gone/finalize',
    ],
  ],
);
