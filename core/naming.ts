/** A naming scheme. */
export type NamingName = 'neutral' | 'kubernetes';

/** Upstream group names that do not end in `k8s.io`, by neutral name. */
const GROUPS = new Map([
  ['flowcontrol.orchestrator.io', 'flowcontrol.apiserver.k8s.io'],
  ['internal.apiserver.orchestrator.io', 'internal.apiserver.k8s.io'],
  ['abac.authorization.orchestrator.io', 'abac.authorization.kubernetes.io'],
  // A group of this project, whose name must not look like one of upstream's.
  ['why.orchestrator.io', 'why.capstan.dev'],
]);

/** Upstream names of users, roles, signers and namespaces that do not follow the rules below, by neutral name. */
const IRREGULAR_NAMES = new Map([
  ['system:node-agent-api-admin', 'system:kubelet-api-admin'],
  [
    'system:certificates.orchestrator.io:certificatesigningrequests:nodeclient',
    'system:certificates.k8s.io:certificatesigningrequests:nodeclient',
  ],
  [
    'system:certificates.orchestrator.io:certificatesigningrequests:selfnodeclient',
    'system:certificates.k8s.io:certificatesigningrequests:selfnodeclient',
  ],
  ['system:certificates.orchestrator.io:legacy-unknown-approver', 'system:certificates.k8s.io:legacy-unknown-approver'],
  [
    'system:certificates.orchestrator.io:node-agent-serving-approver',
    'system:certificates.k8s.io:kubelet-serving-approver',
  ],
  [
    'system:certificates.orchestrator.io:orchestrator-apiserver-client-approver',
    'system:certificates.k8s.io:kube-apiserver-client-approver',
  ],
  [
    'system:certificates.orchestrator.io:orchestrator-apiserver-client-node-agent-approver',
    'system:certificates.k8s.io:kube-apiserver-client-kubelet-approver',
  ],
  ['system::leader-locking-orchestrator-controller-manager', 'system::leader-locking-kube-controller-manager'],
  ['system::leader-locking-orchestrator-scheduler', 'system::leader-locking-kube-scheduler'],
  ['orchestrator.io/legacy-unknown', 'kubernetes.io/legacy-unknown'],
  ['orchestrator.io/node-agent-serving', 'kubernetes.io/kubelet-serving'],
  ['orchestrator.io/orchestrator-apiserver-client', 'kubernetes.io/kube-apiserver-client'],
  ['orchestrator.io/orchestrator-apiserver-client-node-agent', 'kubernetes.io/kube-apiserver-client-kubelet'],
  ['orchestrator.io/orchestrator-apiserver-serving', 'kubernetes.io/kube-apiserver-serving'],
]);

/**
 * Translates neutral names, which code and tables use, into the names that clients see. This file is the only one that
 * contains brand names.
 */
export interface Naming {
  readonly name: NamingName;
  /** The name of the system, used for the namespace finalizer and the server's own Service. */
  readonly product: string;
  /** Its short form, a prefix of names such as `<short>-system`. */
  readonly short: string;
  /** API group: `apps` stays, `rbac.authorization.orchestrator.io` becomes `rbac.authorization.k8s.io`. */
  group(neutral: string): string;
  /** `v1`, `apps/v1`, `rbac.authorization.orchestrator.io/v1`. */
  apiVersion(neutral: string): string;
  /**
   * Label, annotation, taint, finalizer, condition and secret-type names: `orchestrator.io/x` becomes
   * `kubernetes.io/x`, subdomains too.
   */
  label(neutral: string): string;
  /**
   * System namespaces, component users and roles: `orchestrator-system`, `system:orchestrator-scheduler`,
   * `orchestrator-root-ca.crt`.
   */
  component(neutral: string): string;
  /** Media types: `application/vnd.orchestrator.protobuf`. */
  mediaType(neutral: string): string;
  /** OpenAPI and protobuf type names: `io.orchestrator.api.core.v1.Pod`, `orchestrator.io.api.core.v1.Pod`. */
  typeName(neutral: string): string;
  /** Environment variables and metric names: `ORCHESTRATOR_EXEC_INFO`, `orchestrator_healthcheck`. */
  variable(neutral: string): string;
  /** Whether an API group, as clients see it, is in a domain of the system: definitions of others need an approval. */
  isReservedGroup(group: string): boolean;
  /** Whether an API group is in a domain that belongs to the system in the other naming. */
  isOtherNamingGroup(group: string): boolean;
}

const inDomains =
  (...domains: readonly string[]) =>
  (group: string): boolean =>
    domains.some(domain => group === domain || group.endsWith(`.${domain}`));

const isNeutralGroup = inDomains('orchestrator.io');
const isUpstreamGroup = inDomains('k8s.io', 'kubernetes.io', 'why.capstan.dev');

const neutral: Naming = {
  name: 'neutral',
  product: 'orchestrator',
  short: 'orchestrator',
  group: n => n,
  apiVersion: n => n,
  label: n => n,
  component: n => n,
  mediaType: n => n,
  typeName: n => n,
  variable: n => n,
  isReservedGroup: isNeutralGroup,
  isOtherNamingGroup: isUpstreamGroup,
};

const groupToUpstream = (n: string): string => GROUPS.get(n) ?? n.replace(/(^|\.)orchestrator\.io$/, '$1k8s.io');

const kubernetes: Naming = {
  name: 'kubernetes',
  product: 'kubernetes',
  short: 'kube',
  group: groupToUpstream,
  apiVersion: n => {
    const slash = n.indexOf('/');
    return slash < 0 ? n : groupToUpstream(n.slice(0, slash)) + n.slice(slash);
  },
  label: n => n.replace(/(^|\.)orchestrator\.io(?=\/|$)/, '$1kubernetes.io'),
  component: n =>
    IRREGULAR_NAMES.get(n) ?? n.replace(/(^|:)orchestrator-/, '$1kube-').replace(/^(system:)node-agent/, '$1kubelet'),
  mediaType: n => n.replace('vnd.orchestrator.', 'vnd.kubernetes.'),
  typeName: n =>
    n
      .replace(/^io\.orchestrator\.api\.why\./, 'dev.capstan.api.why.')
      .replace(/^io\.orchestrator\./, 'io.k8s.')
      .replace(/^orchestrator\.io\./, 'k8s.io.'),
  variable: n => n.replace(/^ORCHESTRATOR_/, 'KUBERNETES_').replace(/^orchestrator_/, 'kubernetes_'),
  isReservedGroup: isUpstreamGroup,
  isOtherNamingGroup: isNeutralGroup,
};

/** Neutral group names, by upstream's that do not end in `k8s.io`. */
const UPSTREAM_GROUPS: ReadonlyMap<string, string> = new Map(Array.from(GROUPS, ([ours, theirs]) => [theirs, ours]));

/** All spellings of an API group that is written in either naming: `apps` has one. */
export function groupSpellings(group: string): readonly string[] {
  const theirs = groupToUpstream(group);
  const ours = theirs.replace(/(^|\.)k8s\.io$/, '$1orchestrator.io');
  return [...new Set([theirs, ours, UPSTREAM_GROUPS.get(theirs) ?? ours])];
}

/** The naming scheme of a name. */
export const namingOf = (name: NamingName): Naming => (name === 'kubernetes' ? kubernetes : neutral);

/** The system's name in each scheme. */
export const PRODUCTS: readonly string[] = [neutral.product, kubernetes.product];

/** Replaces upstream's spelling of the vendor or of the parameter `g` in a media type by the neutral one. */
export const neutralMediaType = (given: string): string =>
  given.replace('vnd.kubernetes.', 'vnd.orchestrator.').replace(/\bg="?meta\.k8s\.io"?/, 'g=meta.orchestrator.io');

/** The beginning of a WebSocket subprotocol that carries a bearer token in base64url, in either naming. */
export const BEARER_SUBPROTOCOL = /^base64url\.bearer\.authorization\.(?:k8s|orchestrator)\.io\./;
