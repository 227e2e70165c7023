import { on, onUrls, READ, READ_WRITE, type RoleSpec, WRITE } from './spec.js';

const RBAC = 'rbac.authorization.orchestrator.io';
const POD_STREAMS = 'pods/attach pods/proxy pods/exec pods/portforward';
const OLD_SCALES = 'deployments deployments/scale replicasets replicasets/scale replicationcontrollers/scale';

const edit: RoleSpec = {
  name: 'system:aggregate-to-edit',
  aggregateTo: 'edit',
  rules: [
    on('core', `${POD_STREAMS} secrets services/proxy`, READ),
    on('core', 'serviceaccounts', 'impersonate'),
    on('core', `pods ${POD_STREAMS}`, WRITE),
    on('core', 'pods/eviction', 'create'),
    on(
      'core',
      'configmaps events persistentvolumeclaims replicationcontrollers replicationcontrollers/scale secrets serviceaccounts services services/proxy',
      WRITE,
    ),
    on('core', 'serviceaccounts/token', 'create'),
    on(
      'apps',
      'daemonsets deployments deployments/rollback deployments/scale replicasets replicasets/scale statefulsets statefulsets/scale',
      WRITE,
    ),
    on('autoscaling', 'horizontalpodautoscalers', WRITE),
    on('batch', 'jobs cronjobs', WRITE),
    on('extensions', `daemonsets deployments/rollback ingresses networkpolicies ${OLD_SCALES}`, WRITE),
    on('policy', 'poddisruptionbudgets', WRITE),
    on('networking.orchestrator.io', 'networkpolicies ingresses', WRITE),
    on('coordination.orchestrator.io', 'leases', READ_WRITE),
  ],
};

const view: RoleSpec = {
  name: 'system:aggregate-to-view',
  aggregateTo: 'view',
  rules: [
    on(
      'core',
      'configmaps endpoints persistentvolumeclaims persistentvolumeclaims/status pods replicationcontrollers replicationcontrollers/scale serviceaccounts services services/status',
      READ,
    ),
    on(
      'core',
      'bindings events limitranges namespaces/status pods/log pods/status replicationcontrollers/status resourcequotas resourcequotas/status',
      READ,
    ),
    on('core', 'namespaces', READ),
    on('discovery.orchestrator.io', 'endpointslices', READ),
    on(
      'apps',
      'controllerrevisions daemonsets daemonsets/status deployments deployments/scale deployments/status replicasets replicasets/scale replicasets/status statefulsets statefulsets/scale statefulsets/status',
      READ,
    ),
    on('autoscaling', 'horizontalpodautoscalers horizontalpodautoscalers/status', READ),
    on('batch', 'cronjobs cronjobs/status jobs jobs/status', READ),
    on(
      'extensions',
      `daemonsets daemonsets/status deployments/status ingresses ingresses/status networkpolicies replicasets/status ${OLD_SCALES}`,
      READ,
    ),
    on('policy', 'poddisruptionbudgets poddisruptionbudgets/status', READ),
    on('networking.orchestrator.io', 'ingresses ingresses/status networkpolicies', READ),
  ],
};

/**
 * Roles for users: the one with all permissions, and the three that aggregate other roles (spec, "Default roles and
 * bindings").
 */
export const USER_ROLES: readonly RoleSpec[] = [
  { name: 'cluster-admin', rules: [on('*', '*', '*'), onUrls('*', '*')] },
  { name: 'admin', rules: [], aggregates: true },
  { name: 'edit', rules: [], aggregates: true, aggregateTo: 'admin' },
  { name: 'view', rules: [], aggregates: true, aggregateTo: 'edit' },
  {
    name: 'system:aggregate-to-admin',
    aggregateTo: 'admin',
    rules: [
      on('authorization.orchestrator.io', 'localsubjectaccessreviews', 'create'),
      on(RBAC, 'roles rolebindings', READ_WRITE),
    ],
  },
  edit,
  view,
];
