import type { PolicyRule } from '../rbac/policy.js';
import { EVENTS, on, onUrls, READ, READ_UPDATE, type RoleSpec, SYSTEM } from './spec.js';

const CERTIFICATES = 'certificates.orchestrator.io';
const NETWORKING = 'networking.orchestrator.io';
const STORAGE = 'storage.orchestrator.io';
const RESOURCE = 'resource.orchestrator.io';
const VERSIONS = 'internal.apiserver.orchestrator.io';

const TRUST_BUNDLES = 'ClusterTrustBundle';
const DEVICES = 'DynamicResourceAllocation';
const CIDRS = 'MultiCIDRServiceAllocator';

/** A cluster role that exists only while all of the feature gates are on, with its binding. */
export interface GatedRole extends RoleSpec {
  readonly gates: readonly string[];
  /** The subject of the binding, which has the name of the role. */
  readonly subject: string;
}

/** Rules that a default cluster role has only while the feature gate is on. */
interface GatedRules {
  readonly gate: string;
  readonly role: string;
  readonly rules: readonly PolicyRule[];
  /** Number of the role's other rules that follow these; absent: none. */
  readonly before?: number;
}

const forController = (name: string, gates: readonly string[], ...rules: readonly PolicyRule[]): GatedRole => ({
  name: `system:controller:${name}`,
  gates,
  subject: `ServiceAccount:${SYSTEM}/${name}`,
  rules,
});

/** Cluster roles of features that are off by default, most of them of their controllers. */
export const GATED_ROLES: readonly GatedRole[] = [
  {
    name: 'system:cluster-trust-bundle-discovery',
    gates: [TRUST_BUNDLES],
    subject: 'Group:system:serviceaccounts',
    rules: [on(CERTIFICATES, 'clustertrustbundles', READ)],
  },
  forController(
    'orchestrator-apiserver-serving-clustertrustbundle-publisher',
    [TRUST_BUNDLES],
    on(CERTIFICATES, 'signers', 'attest', 'orchestrator.io/orchestrator-apiserver-serving'),
    on(CERTIFICATES, 'clustertrustbundles', 'create update delete list watch'),
    EVENTS,
  ),
  forController(
    'resource-claim-controller',
    [DEVICES],
    on('core', 'pods', READ),
    on('core', 'pods/finalizers', 'update'),
    on(RESOURCE, 'resourceclaims', `${READ} create delete`),
    on(RESOURCE, 'resourceclaims resourceclaims/status', 'update patch'),
    on('core', 'pods/status', 'update patch'),
    EVENTS,
  ),
  forController(
    'selinux-warning-controller',
    ['SELinuxChangePolicy'],
    EVENTS,
    on('core', 'persistentvolumes', READ),
    on('core', 'persistentvolumeclaims', READ),
    on('core', 'pods', READ),
    on(STORAGE, 'csidrivers', READ),
  ),
  forController(
    'service-cidrs-controller',
    [CIDRS],
    on(NETWORKING, 'servicecidrs', READ_UPDATE),
    on(NETWORKING, 'servicecidrs/finalizers', 'patch update'),
    on(NETWORKING, 'servicecidrs/status', 'patch update'),
    on(NETWORKING, 'ipaddresses', READ),
    EVENTS,
  ),
  forController(
    'storage-version-garbage-collector',
    ['APIServerIdentity', 'StorageVersionAPI'],
    on('coordination.orchestrator.io', 'leases', READ),
    on(VERSIONS, 'storageversions', `${READ_UPDATE} delete`),
    on(VERSIONS, 'storageversions/status', 'get patch update'),
  ),
  forController(
    'storage-version-migrator-controller',
    ['StorageVersionMigrator'],
    on('*', '*', 'list create watch patch'),
    on('storagemigration.orchestrator.io', 'storageversionmigrations/status', 'update'),
  ),
  forController(
    'volumeattributesclass-protection-controller',
    ['VolumeAttributesClass'],
    on('core', 'persistentvolumeclaims', READ),
    on('core', 'persistentvolumes', READ),
    on(STORAGE, 'volumeattributesclasses', `${READ} update`),
    EVENTS,
  ),
];

/** Rules that features which are off by default add to other cluster roles. */
const GATED_RULES: readonly GatedRules[] = [
  {
    gate: DEVICES,
    role: 'system:orchestrator-scheduler',
    rules: [
      on(RESOURCE, 'deviceclasses', READ),
      on(RESOURCE, 'resourceclaims', READ_UPDATE),
      on(RESOURCE, 'resourceclaims/status', READ_UPDATE),
      on('core', 'pods/finalizers', READ_UPDATE),
      on(RESOURCE, 'resourceslices', READ),
    ],
  },
  {
    gate: DEVICES,
    role: 'system:node',
    rules: [on(RESOURCE, 'resourceclaims', 'get'), on(RESOURCE, 'resourceslices', 'deletecollection')],
  },
  { gate: TRUST_BUNDLES, role: 'system:node', rules: [on(CERTIFICATES, 'clustertrustbundles', READ)] },
  {
    gate: CIDRS,
    role: 'system:node-proxier',
    rules: [on(NETWORKING, 'servicecidrs', 'list watch')],
    before: 1,
  },
  {
    gate: 'KubeletFineGrainedAuthz',
    role: 'system:node-agent-api-admin',
    rules: [on('core', 'nodes/configz nodes/healthz nodes/pods', '*')],
  },
  { gate: 'ComponentFlagz', role: 'system:monitoring', rules: [onUrls('/flagz')] },
  { gate: 'ComponentStatusz', role: 'system:monitoring', rules: [onUrls('/statusz')] },
];

/** The rules of a default cluster role with those of the features that are on. */
export function withGatedRules(
  role: string,
  rules: readonly PolicyRule[],
  isEnabled: (gate: string) => boolean,
): readonly PolicyRule[] {
  const added = GATED_RULES.filter(one => one.role === role && isEnabled(one.gate));
  return added.reduce((all, one) => all.toSpliced(all.length - (one.before ?? 0), 0, ...one.rules), rules);
}
