import type { PolicyRule } from '../rbac/policy.js';
import { EVENTS, on, READ, type RoleSpec } from './spec.js';

const CERTIFICATES = 'certificates.orchestrator.io';
const STORAGE = 'storage.orchestrator.io';
const SLICES = 'discovery.orchestrator.io';

/**
 * The rules of a workload controller for its own kind: to read it, to write its status, and to set owner references of
 * dependents that block deletion.
 */
const ownKindRules = (groups: string, kind: string, verbs: string): PolicyRule[] => [
  on(groups, kind, verbs),
  on(groups, `${kind}/status`, 'update'),
  on(groups, `${kind}/finalizers`, 'update'),
];

const WORKLOADS: Readonly<Record<string, readonly PolicyRule[]>> = {
  'cronjob-controller': [
    on('batch', 'cronjobs', `${READ} update`),
    on('batch', 'jobs', `${READ} create update delete patch`),
    on('batch', 'cronjobs/status', 'update'),
    on('batch', 'cronjobs/finalizers', 'update'),
    on('core', 'pods', 'list watch delete'),
    EVENTS,
  ],
  'daemon-set-controller': [
    ...ownKindRules('extensions apps', 'daemonsets', READ),
    on('core', 'nodes', 'list watch'),
    on('core', 'pods', 'list watch create delete patch'),
    on('core', 'pods/binding', 'create'),
    on('apps', 'controllerrevisions', `${READ} create delete update patch`),
    EVENTS,
  ],
  'deployment-controller': [
    ...ownKindRules('extensions apps', 'deployments', `${READ} update`),
    on('extensions apps', 'replicasets', `${READ} create update patch delete`),
    on('core', 'pods', `${READ} update`),
    EVENTS,
  ],
  'job-controller': [
    on('batch', 'jobs', `${READ} update patch`),
    on('batch', 'jobs/status', 'update'),
    on('batch', 'jobs/finalizers', 'update'),
    on('core', 'pods', 'list watch create delete patch'),
    EVENTS,
  ],
  'replicaset-controller': [
    ...ownKindRules('apps extensions', 'replicasets', `${READ} update`),
    on('core', 'pods', 'list watch patch create delete'),
    EVENTS,
  ],
  'replication-controller': [
    ...ownKindRules('core', 'replicationcontrollers', `${READ} update`),
    on('core', 'pods', 'list watch patch create delete'),
    EVENTS,
  ],
  'statefulset-controller': [
    on('core', 'pods', 'list watch'),
    ...ownKindRules('apps', 'statefulsets', READ),
    on('core', 'pods', 'get create delete update patch'),
    on('apps', 'controllerrevisions', `${READ} create delete update patch`),
    on('core', 'persistentvolumeclaims', `${READ} create`),
    on('core', 'persistentvolumeclaims', 'update delete'),
    on('core', 'pods/finalizers', 'update'),
    EVENTS,
  ],
  'ttl-after-finished-controller': [on('batch', 'jobs', `${READ} delete`), EVENTS],
  'horizontal-pod-autoscaler': [
    on('autoscaling', 'horizontalpodautoscalers', READ),
    on('autoscaling', 'horizontalpodautoscalers/status', 'update'),
    on('*', '*/scale', 'get update'),
    on('core', 'pods', 'list watch'),
    on('metrics.orchestrator.io', 'pods', 'list watch'),
    on('custom.metrics.orchestrator.io', '*', READ),
    on('external.metrics.orchestrator.io', '*', READ),
    EVENTS,
  ],
  'disruption-controller': [
    on('extensions apps', 'deployments', READ),
    on('extensions apps', 'replicasets', READ),
    on('core', 'replicationcontrollers', READ),
    on('policy', 'poddisruptionbudgets', READ),
    on('apps', 'statefulsets', READ),
    on('policy', 'poddisruptionbudgets/status', 'update'),
    on('core', 'pods/status', 'patch update'),
    on('*', '*/scale', 'get'),
    EVENTS,
  ],
};

const VOLUMES: Readonly<Record<string, readonly PolicyRule[]>> = {
  'attachdetach-controller': [
    on('core', 'persistentvolumes persistentvolumeclaims', 'list watch'),
    on('core', 'nodes', READ),
    on('core', 'nodes/status', 'patch update'),
    on('core', 'pods', 'list watch'),
    EVENTS,
    on(STORAGE, 'volumeattachments', `${READ} create delete`),
    on(STORAGE, 'csidrivers', READ),
    on(STORAGE, 'csinodes', READ),
  ],
  'ephemeral-volume-controller': [
    on('core', 'pods', READ),
    on('core', 'pods/finalizers', 'update'),
    on('core', 'persistentvolumeclaims', `${READ} create`),
    EVENTS,
  ],
  'expand-controller': [
    on('core', 'persistentvolumes', `${READ} update patch`),
    on('core', 'persistentvolumeclaims/status', 'update patch'),
    on('core', 'persistentvolumeclaims', READ),
    on('core', 'services', 'get'),
    EVENTS,
  ],
  'persistent-volume-binder': [
    on('core', 'persistentvolumes', `${READ} update create delete`),
    on('core', 'persistentvolumes/status', 'update'),
    on('core', 'persistentvolumeclaims', `${READ} update`),
    on('core', 'persistentvolumeclaims/status', 'update'),
    on('core', 'pods', `${READ} create delete`),
    on(STORAGE, 'storageclasses', READ),
    on('core', 'nodes', 'list watch'),
    EVENTS,
    on('core', 'events', 'watch'),
    on('core', 'services', 'get'),
  ],
  'pvc-protection-controller': [
    on('core', 'persistentvolumeclaims', `${READ} update`),
    on('core', 'pods', READ),
    EVENTS,
  ],
  'pv-protection-controller': [on('core', 'persistentvolumes', `${READ} update`), EVENTS],
};

const SERVICES: Readonly<Record<string, readonly PolicyRule[]>> = {
  'endpoint-controller': [
    on('core', 'services pods', READ),
    on('core', 'endpoints', `${READ} create update delete`),
    on('core', 'endpoints/restricted', 'create'),
    EVENTS,
  ],
  'endpointslice-controller': [
    on('core', 'services pods nodes', READ),
    on('core', 'services/finalizers', 'update'),
    on(SLICES, 'endpointslices', `${READ} create update delete`),
    on(SLICES, 'endpointslices/restricted', 'create'),
    EVENTS,
  ],
  'endpointslicemirroring-controller': [
    on('core', 'endpoints services', READ),
    on('core', 'services/finalizers', 'update'),
    on('core', 'endpoints/finalizers', 'update'),
    on(SLICES, 'endpointslices', `${READ} create update delete`),
    on(SLICES, 'endpointslices/restricted', 'create'),
    EVENTS,
  ],
  'route-controller': [on('core', 'nodes', 'list watch'), on('core', 'nodes/status', 'patch'), EVENTS],
  'service-controller': [
    on('core', 'services', READ),
    on('core', 'services/status', 'patch update'),
    on('core', 'nodes', 'list watch'),
    EVENTS,
  ],
};

const CLUSTER: Readonly<Record<string, readonly PolicyRule[]>> = {
  'clusterrole-aggregation-controller': [
    on('rbac.authorization.orchestrator.io', 'clusterroles', `escalate ${READ} update patch`),
  ],
  'certificate-controller': [
    on(CERTIFICATES, 'certificatesigningrequests', `${READ} delete`),
    on(CERTIFICATES, 'certificatesigningrequests/status certificatesigningrequests/approval', 'update'),
    on(CERTIFICATES, 'signers', 'approve', 'orchestrator.io/orchestrator-apiserver-client-node-agent'),
    on(
      CERTIFICATES,
      'signers',
      'sign',
      'orchestrator.io/legacy-unknown',
      'orchestrator.io/node-agent-serving',
      'orchestrator.io/orchestrator-apiserver-client',
      'orchestrator.io/orchestrator-apiserver-client-node-agent',
    ),
    on('authorization.orchestrator.io', 'subjectaccessreviews', 'create'),
    EVENTS,
  ],
  'generic-garbage-collector': [on('*', '*', `${READ} patch update delete`), EVENTS],
  'legacy-service-account-token-cleaner': [
    on('core', 'configmaps', 'get', 'orchestrator-apiserver-legacy-service-account-token-tracking'),
    on('core', 'secrets', 'patch delete'),
  ],
  'namespace-controller': [
    on('core', 'namespaces', `${READ} delete`),
    on('core', 'namespaces/finalize namespaces/status', 'update'),
    on('*', '*', `${READ} delete deletecollection`),
  ],
  'node-controller': [
    on('core', 'nodes', `${READ} update delete patch`),
    on('core', 'nodes/status', 'patch update'),
    on('core', 'pods/status', 'patch update'),
    on('core', 'pods', `${READ} delete`),
    EVENTS,
  ],
  'pod-garbage-collector': [
    on('core', 'pods', 'list watch delete'),
    on('core', 'nodes', READ),
    on('core', 'pods/status', 'patch'),
  ],
  'resourcequota-controller': [on('*', '*', 'list watch'), on('core', 'resourcequotas/status', 'update'), EVENTS],
  'root-ca-cert-publisher': [on('core', 'configmaps', 'create update'), EVENTS],
  'service-account-controller': [on('core', 'serviceaccounts', 'create'), EVENTS],
  'ttl-controller': [on('core', 'nodes', 'update patch list watch'), EVENTS],
  'validatingadmissionpolicy-status-controller': [
    on('admissionregistration.orchestrator.io', 'validatingadmissionpolicies', READ),
    on('admissionregistration.orchestrator.io', 'validatingadmissionpolicies/status', 'get patch update'),
    EVENTS,
  ],
};

/** Rules of the controllers, by the name of their service account in the system namespace. */
const CONTROLLERS = { ...WORKLOADS, ...VOLUMES, ...SERVICES, ...CLUSTER };

/** Names of the controllers with a default role. */
export const CONTROLLER_NAMES: readonly string[] = Object.keys(CONTROLLERS).sort();

/** Cluster roles of the controllers. */
export const CONTROLLER_ROLES: readonly RoleSpec[] = CONTROLLER_NAMES.map(name => ({
  name: `system:controller:${name}`,
  rules: CONTROLLERS[name] ?? [],
}));
