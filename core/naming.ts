/** Which names the server speaks to its clients. */
export type NamingName = 'neutral' | 'kubernetes';

/** Group names whose upstream form is not `*.k8s.io`, neutral to upstream. */
const GROUPS = new Map([
  ['flowcontrol.orchestrator.io', 'flowcontrol.apiserver.k8s.io'],
  ['internal.apiserver.orchestrator.io', 'internal.apiserver.k8s.io'],
  ['abac.authorization.orchestrator.io', 'abac.authorization.kubernetes.io'],
]);

/**
 * Whole names of users, roles, signers and namespaces that are not `orchestrator` read as `kube`, neutral to upstream.
 */
const WORDS = new Map([
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
]);

/**
 * The only place that knows brand names. Code and tables are written in neutral names; these functions give what
 * clients see.
 */
export interface Naming {
  readonly name: NamingName;
  /** Bare name of the system: the namespace finalizer, the server's own service. */
  readonly product: string;
  /** Its short form, as in `<short>-system`. */
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
}

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
    WORDS.get(n) ?? n.replace(/(^|:)orchestrator-/, '$1kube-').replace(/^(system:)node-agent/, '$1kubelet'),
  mediaType: n => n.replace('vnd.orchestrator.', 'vnd.kubernetes.'),
  typeName: n => n.replace(/^io\.orchestrator\./, 'io.k8s.').replace(/^orchestrator\.io\./, 'k8s.io.'),
  variable: n => n.replace(/^ORCHESTRATOR_/, 'KUBERNETES_').replace(/^orchestrator_/, 'kubernetes_'),
};

/** The naming table of that name. */
export const namingOf = (name: NamingName): Naming => (name === 'kubernetes' ? kubernetes : neutral);

/** The names of the system in either naming. */
export const PRODUCTS: readonly string[] = [neutral.product, kubernetes.product];

/** Either spelling of a media type's vendor or of the `g=` parameter of a Table request, made neutral. */
export const neutralMediaType = (given: string): string =>
  given.replace('vnd.kubernetes.', 'vnd.orchestrator.').replace(/\bg="?meta\.k8s\.io"?/, 'g=meta.orchestrator.io');
