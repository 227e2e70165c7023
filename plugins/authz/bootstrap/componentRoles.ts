import { EVENTS, on, onUrls, READ, READ_UPDATE, READ_WRITE, type RoleSpec } from './spec.js';
import type { PolicyRule } from '../rbac/policy.js';

const AUTHN = 'authentication.orchestrator.io';
const AUTHZ = 'authorization.orchestrator.io';
const CERTIFICATES = 'certificates.orchestrator.io';
const LEASES = 'coordination.orchestrator.io';
const STORAGE = 'storage.orchestrator.io';
const DELEGATE = [on(AUTHN, 'tokenreviews', 'create'), on(AUTHZ, 'subjectaccessreviews', 'create')];

const PUBLIC_ROLES: readonly RoleSpec[] = [
  {
    name: 'system:discovery',
    rules: [onUrls('/livez /readyz /healthz /version /version/ /openapi /openapi/* /api /api/* /apis /apis/*')],
  },
  {
    name: 'system:monitoring',
    rules: [onUrls('/metrics /metrics/slis /livez /readyz /healthz /livez/* /readyz/* /healthz/*')],
  },
  {
    name: 'system:basic-user',
    rules: [
      on(AUTHZ, 'selfsubjectaccessreviews selfsubjectrulesreviews', 'create'),
      on(AUTHN, 'selfsubjectreviews', 'create'),
    ],
  },
  { name: 'system:public-info-viewer', rules: [onUrls('/livez /readyz /healthz /version /version/')] },
  {
    name: 'system:service-account-issuer-discovery',
    rules: [
      onUrls('/.well-known/openid-configuration /.well-known/openid-configuration/ /openid/v1/jwks /openid/v1/jwks/'),
    ],
  },
];

/** The permissions of nodes; the authorizer of nodes and admission restrict some of them to the objects of the node. */
export const NODE_RULES: readonly PolicyRule[] = [
  on(AUTHN, 'tokenreviews', 'create'),
  on(AUTHZ, 'localsubjectaccessreviews subjectaccessreviews', 'create'),
  on('core', 'services', READ),
  on('core', 'nodes', `create ${READ}`),
  on('core', 'nodes/status', 'update patch'),
  on('core', 'nodes', 'update patch'),
  on('core', 'events', 'create update patch'),
  on('core', 'pods', READ),
  on('core', 'pods', 'create delete'),
  on('core', 'pods/status', 'update patch'),
  on('core', 'pods/eviction', 'create'),
  on('core', 'configmaps secrets', READ),
  on('core', 'persistentvolumeclaims persistentvolumes', 'get'),
  on('core', 'endpoints', 'get'),
  on(CERTIFICATES, 'certificatesigningrequests', `create ${READ}`),
  on(LEASES, 'leases', 'get create update patch delete'),
  on(STORAGE, 'volumeattachments', 'get'),
  on('core', 'serviceaccounts/token', 'create'),
  on('core', 'persistentvolumeclaims/status', 'get update patch'),
  on(STORAGE, 'csidrivers', READ),
  on(STORAGE, 'csinodes', 'get create update patch delete'),
  on('node.orchestrator.io', 'runtimeclasses', READ),
];

const NODE_ROLES: readonly RoleSpec[] = [
  {
    name: 'system:node',
    rules: NODE_RULES,
  },
  {
    name: 'system:node-problem-detector',
    rules: [on('core', 'nodes', 'get'), on('core', 'nodes/status', 'patch'), EVENTS],
  },
  {
    name: 'system:node-agent-api-admin',
    rules: [
      on('core', 'nodes', READ),
      on('core', 'nodes', 'proxy'),
      on('core', 'nodes/log nodes/metrics nodes/proxy nodes/stats', '*'),
    ],
  },
  { name: 'system:node-bootstrapper', rules: [on(CERTIFICATES, 'certificatesigningrequests', `create ${READ}`)] },
  {
    name: 'system:node-proxier',
    rules: [
      on('core', 'services endpoints', 'list watch'),
      on('core', 'nodes', READ),
      EVENTS,
      on('discovery.orchestrator.io', 'endpointslices', 'list watch'),
    ],
  },
];

const approverRole = (name: string, signer: string): RoleSpec => ({
  name: `system:${CERTIFICATES}:${name}-approver`,
  rules: [on(CERTIFICATES, 'signers', 'approve', signer)],
});
const requesterRole = (kind: string): RoleSpec => ({
  name: `system:${CERTIFICATES}:certificatesigningrequests:${kind}`,
  rules: [on(CERTIFICATES, `certificatesigningrequests/${kind}`, 'create')],
});

const CERTIFICATE_ROLES: readonly RoleSpec[] = [
  requesterRole('nodeclient'),
  requesterRole('selfnodeclient'),
  approverRole('legacy-unknown', 'orchestrator.io/legacy-unknown'),
  approverRole('node-agent-serving', 'orchestrator.io/node-agent-serving'),
  approverRole('orchestrator-apiserver-client', 'orchestrator.io/orchestrator-apiserver-client'),
  approverRole('orchestrator-apiserver-client-node-agent', 'orchestrator.io/orchestrator-apiserver-client-node-agent'),
];

const scheduler: RoleSpec = {
  name: 'system:orchestrator-scheduler',
  rules: [
    EVENTS,
    on(LEASES, 'leases', 'create'),
    on(LEASES, 'leases', `${READ} update`, 'orchestrator-scheduler'),
    on(LEASES, 'leasecandidates', READ_WRITE),
    on('core', 'nodes', READ),
    on('core', 'pods', `delete ${READ}`),
    on('core', 'bindings pods/binding', 'create'),
    on('core', 'pods/status', 'patch update'),
    on('core', 'replicationcontrollers services', READ),
    on('apps extensions', 'replicasets', READ),
    on('apps', 'statefulsets', READ),
    on('policy', 'poddisruptionbudgets', READ),
    on('core', 'persistentvolumeclaims persistentvolumes', READ),
    ...DELEGATE,
    on(STORAGE, 'csinodes', READ),
    on('core', 'namespaces', READ),
    on(STORAGE, 'csidrivers', READ),
    on(STORAGE, 'csistoragecapacities', READ),
    on(STORAGE, 'volumeattachments', READ),
  ],
};

const controllerManager: RoleSpec = {
  name: 'system:orchestrator-controller-manager',
  rules: [
    EVENTS,
    on(LEASES, 'leases', 'create'),
    on(LEASES, 'leases', 'get update', 'orchestrator-controller-manager'),
    on('core', 'secrets serviceaccounts', 'create'),
    on('core', 'secrets', 'delete'),
    on('core', 'configmaps namespaces secrets serviceaccounts', 'get'),
    on('core', 'secrets serviceaccounts', 'update'),
    ...DELEGATE,
    on('core', 'serviceaccounts/token', 'create'),
    on('*', '*', 'list watch'),
  ],
};

/** Roles of components, of nodes, and of all users (spec, "Default roles and bindings"). */
export const COMPONENT_ROLES: readonly RoleSpec[] = [
  ...PUBLIC_ROLES,
  {
    name: 'system:heapster',
    rules: [on('core', 'events namespaces nodes pods', READ), on('extensions', 'deployments', READ)],
  },
  ...NODE_ROLES,
  { name: 'system:auth-delegator', rules: DELEGATE },
  { name: 'system:orchestrator-aggregator', rules: [on('core', 'services endpoints', READ)] },
  controllerManager,
  scheduler,
  { name: 'system:orchestrator-dns', rules: [on('core', 'endpoints services', 'list watch')] },
  {
    name: 'system:persistent-volume-provisioner',
    rules: [
      on('core', 'persistentvolumes', `${READ} create delete`),
      on('core', 'persistentvolumeclaims', `${READ} update`),
      on(STORAGE, 'storageclasses', READ),
      on('core', 'events', 'watch'),
      EVENTS,
    ],
  },
  {
    name: 'system:volume-scheduler',
    rules: [
      on('core', 'persistentvolumes', READ_UPDATE),
      on(STORAGE, 'storageclasses', READ),
      on('core', 'persistentvolumeclaims', READ_UPDATE),
    ],
  },
  ...CERTIFICATE_ROLES,
];
