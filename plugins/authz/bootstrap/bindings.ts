import { CONTROLLER_NAMES } from './controller-roles.js';
import { type BindingSpec, EVENTS, on, PUBLIC, READ, type RoleSpec, SYSTEM } from './spec.js';

const LEASES = 'coordination.orchestrator.io';
const account = (name: string): string => `ServiceAccount:${SYSTEM}/${name}`;

const lock = (component: string): RoleSpec['rules'] => [
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
    rules: lock('orchestrator-controller-manager'),
  },
  {
    namespace: SYSTEM,
    name: 'system::leader-locking-orchestrator-scheduler',
    rules: lock('orchestrator-scheduler'),
  },
  {
    namespace: PUBLIC,
    name: 'system:controller:bootstrap-signer',
    rules: [on('core', 'configmaps', READ), on('core', 'configmaps', 'update', 'cluster-info'), EVENTS],
  },
];

const locker = (component: string, ...accounts: readonly string[]): BindingSpec => ({
  namespace: SYSTEM,
  name: `system::leader-locking-${component}`,
  role: `system::leader-locking-${component}`,
  subjects: [`User:system:${component}`, account(component), ...accounts.map(account)],
});
const signer = (namespace: string, controller: string): BindingSpec => ({
  namespace,
  name: `system:controller:${controller}`,
  role: `system:controller:${controller}`,
  subjects: [account(controller)],
});

/** Bindings in the system namespaces, each to a role of the same namespace. */
export const NAMESPACED_BINDINGS: readonly BindingSpec[] = [
  {
    namespace: SYSTEM,
    name: 'system::extension-apiserver-authentication-reader',
    role: 'extension-apiserver-authentication-reader',
    subjects: ['User:system:orchestrator-controller-manager', 'User:system:orchestrator-scheduler'],
  },
  locker('orchestrator-controller-manager', 'leader-election-controller'),
  locker('orchestrator-scheduler'),
  signer(SYSTEM, 'bootstrap-signer'),
  signer(SYSTEM, 'cloud-provider'),
  signer(SYSTEM, 'token-cleaner'),
  signer(PUBLIC, 'bootstrap-signer'),
];

const same = (name: string, ...subjects: string[]): BindingSpec => ({ name, role: name, subjects });

/** Bindings of cluster roles in the whole cluster. */
export const CLUSTER_BINDINGS: readonly BindingSpec[] = [
  same('cluster-admin', 'Group:system:masters'),
  same('system:monitoring', 'Group:system:monitoring'),
  same('system:discovery', 'Group:system:authenticated'),
  same('system:basic-user', 'Group:system:authenticated'),
  same('system:public-info-viewer', 'Group:system:authenticated', 'Group:system:unauthenticated'),
  same('system:node-proxier', 'User:system:orchestrator-proxy'),
  same('system:orchestrator-controller-manager', 'User:system:orchestrator-controller-manager'),
  same('system:orchestrator-dns', account('orchestrator-dns')),
  same('system:orchestrator-scheduler', 'User:system:orchestrator-scheduler'),
  same('system:volume-scheduler', 'User:system:orchestrator-scheduler'),
  same('system:node'),
  same('system:service-account-issuer-discovery', 'Group:system:serviceaccounts'),
  ...CONTROLLER_NAMES.map(name => same(`system:controller:${name}`, account(name))),
];
