import { CONTROLLER_NAMES } from './controllerRoles.js';
import { type BindingSpec, EVENTS, on, PUBLIC, READ, type RoleSpec, SYSTEM } from './spec.js';

const LEASES = 'coordination.orchestrator.io';
const serviceAccount = (name: string): string => `ServiceAccount:${SYSTEM}/${name}`;

const electionRules = (component: string): RoleSpec['rules'] => [
  on('core', 'configmaps', 'watch'),
  on('core', 'configmaps', 'get update', component),
  on(LEASES, 'leases', `create ${READ} update`),
  on(LEASES, 'leasecandidates', `create ${READ} update`),
];

/** Roles in the system namespaces. */
export const NAMESPACED_ROLES: readonly RoleSpec[] = [
  {
    namespace: SYSTEM,
    name: 'extension-apiserver-authentication-reader',
    rules: [on('core', 'configmaps', READ, 'extension-apiserver-authentication')],
  },
  { namespace: SYSTEM, name: 'system:controller:bootstrap-signer', rules: [on('core', 'secrets', READ)] },
  { namespace: SYSTEM, name: 'system:controller:cloud-provider', rules: [on('core', 'configmaps', `create ${READ}`)] },
  {
    namespace: SYSTEM,
    name: 'system:controller:token-cleaner',
    rules: [on('core', 'secrets', `${READ} delete`), EVENTS],
  },
  {
    namespace: SYSTEM,
    name: 'system::leader-locking-orchestrator-controller-manager',
    rules: electionRules('orchestrator-controller-manager'),
  },
  {
    namespace: SYSTEM,
    name: 'system::leader-locking-orchestrator-scheduler',
    rules: electionRules('orchestrator-scheduler'),
  },
  {
    namespace: PUBLIC,
    name: 'system:controller:bootstrap-signer',
    rules: [on('core', 'configmaps', READ), on('core', 'configmaps', 'update', 'cluster-info'), EVENTS],
  },
];

const electionBinding = (component: string, ...accounts: readonly string[]): BindingSpec => ({
  namespace: SYSTEM,
  name: `system::leader-locking-${component}`,
  role: `system::leader-locking-${component}`,
  subjects: [`User:system:${component}`, serviceAccount(component), ...accounts.map(serviceAccount)],
});
const controllerBinding = (namespace: string, controller: string): BindingSpec => ({
  namespace,
  name: `system:controller:${controller}`,
  role: `system:controller:${controller}`,
  subjects: [serviceAccount(controller)],
});

/** Bindings in the system namespaces, each to a role of the same namespace. */
export const NAMESPACED_BINDINGS: readonly BindingSpec[] = [
  {
    namespace: SYSTEM,
    name: 'system::extension-apiserver-authentication-reader',
    role: 'extension-apiserver-authentication-reader',
    subjects: ['User:system:orchestrator-controller-manager', 'User:system:orchestrator-scheduler'],
  },
  electionBinding('orchestrator-controller-manager', 'leader-election-controller'),
  electionBinding('orchestrator-scheduler'),
  controllerBinding(SYSTEM, 'bootstrap-signer'),
  controllerBinding(SYSTEM, 'cloud-provider'),
  controllerBinding(SYSTEM, 'token-cleaner'),
  controllerBinding(PUBLIC, 'bootstrap-signer'),
];

const sameNameBinding = (name: string, ...subjects: string[]): BindingSpec => ({ name, role: name, subjects });

/** Bindings of cluster roles in the whole cluster. */
export const CLUSTER_BINDINGS: readonly BindingSpec[] = [
  sameNameBinding('cluster-admin', 'Group:system:masters'),
  sameNameBinding('system:monitoring', 'Group:system:monitoring'),
  sameNameBinding('system:discovery', 'Group:system:authenticated'),
  sameNameBinding('system:basic-user', 'Group:system:authenticated'),
  sameNameBinding('system:public-info-viewer', 'Group:system:authenticated', 'Group:system:unauthenticated'),
  sameNameBinding('system:node-proxier', 'User:system:orchestrator-proxy'),
  sameNameBinding('system:orchestrator-controller-manager', 'User:system:orchestrator-controller-manager'),
  sameNameBinding('system:orchestrator-dns', serviceAccount('orchestrator-dns')),
  sameNameBinding('system:orchestrator-scheduler', 'User:system:orchestrator-scheduler'),
  sameNameBinding('system:volume-scheduler', 'User:system:orchestrator-scheduler'),
  sameNameBinding('system:node'),
  sameNameBinding('system:service-account-issuer-discovery', 'Group:system:serviceaccounts'),
  ...CONTROLLER_NAMES.map(name => sameNameBinding(`system:controller:${name}`, serviceAccount(name))),
];
