import type { PodSpec, SecurityContext, Volume } from '../../../kinds/v1.js';
import type { Frozen } from '../../../core/model/object.js';
import { goQuote } from '../../../core/model/text/quote.js';
import type { Naming } from '../../../core/naming.js';
import type { AnyContainer } from '../podDraft.js';
import type { Level } from './policy.js';

/** A pod, or the template of pods, as checks see it. */
export interface CheckedPod {
  readonly annotations: { readonly [key: string]: string };
  readonly spec: Frozen<PodSpec>;
  /** Init containers, then containers, then ephemeral containers. */
  readonly containers: readonly AnyContainer[];
  readonly naming: Naming;
  /**
   * Whether the pod has a user namespace of its own and this relaxes checks (feature gate
   * UserNamespacesPodSecurityStandards).
   */
  readonly isRelaxed: boolean;
}

/** Why a pod violates a level. `detail` is '' if the reason says it all. */
export interface Finding {
  readonly reason: string;
  readonly detail: string;
}

type CheckPod = (pod: CheckedPod) => Finding | undefined;

/** One control of the Pod Security Standards. */
export interface Check {
  /** Findings are in the order of the ids. */
  readonly id: string;
  readonly level: Exclude<Level, 'privileged'>;
  /** The forms of the check with the minor version in which each begins, oldest first. */
  readonly versions: readonly (readonly [since: number, check: CheckPod])[];
  /** The check of the baseline level that this one replaces. */
  readonly replaces?: string;
}

const plural = (count: number, one: string, many = `${one}s`): string => (count === 1 ? one : many);
const quoted = (texts: readonly string[]): string => texts.map(text => `"${text}"`).join(', ');
const sorted = (texts: Iterable<string>): readonly string[] => [...new Set(texts)].sort();
/** `container "a"`, `containers "a", "b"`. */
const listed = (what: string, names: readonly string[]): string => `${plural(names.length, what)} ${quoted(names)}`;

const namesOf = (
  { containers }: CheckedPod,
  isBad: (context: Frozen<SecurityContext>, container: AnyContainer) => boolean,
): readonly string[] =>
  containers.filter(container => isBad(container.securityContext ?? {}, container)).map(({ name }) => name);

/** The subject of a detail: `pod`, `container "a"` or `pod and containers "a", "b"`; '' if nothing is bad. */
function settersOf(isPodBad: boolean, containers: readonly string[], ...others: readonly string[]): string {
  const ofContainers = containers.length > 0 ? [listed('container', containers)] : [];
  return [...(isPodBad ? ['pod'] : []), ...ofContainers, ...others].join(' and ');
}

/**
 * A member of the security contexts of a pod and of its containers. Returns who has a bad value, and the bad values,
 * sorted.
 */
function badValues<T>(
  pod: CheckedPod,
  memberOf: (context: Pick<Frozen<SecurityContext>, 'appArmorProfile' | 'seccompProfile'>) => T | undefined,
  badIn: (value: T) => string | undefined,
): { readonly isPodBad: boolean; readonly containers: readonly string[]; readonly values: readonly string[] } {
  const bad = (context: Parameters<typeof memberOf>[0] | undefined): string | undefined => {
    const value = context && memberOf(context);
    return value === undefined ? undefined : badIn(value);
  };
  const ofPod = bad(pod.spec.securityContext);
  const ofContainers = pod.containers.map(({ securityContext }) => bad(securityContext));
  return {
    isPodBad: ofPod !== undefined,
    containers: pod.containers.filter((_, i) => ofContainers[i] !== undefined).map(({ name }) => name),
    values: sorted([ofPod, ...ofContainers].filter(value => value !== undefined)),
  };
}

const isAllowedProfile = (type: string): boolean => type === 'RuntimeDefault' || type === 'Localhost';

function appArmor(pod: CheckedPod): Finding | undefined {
  const found = badValues(
    pod,
    context => context.appArmorProfile,
    ({ type }) => (isAllowedProfile(type) ? undefined : type),
  );
  const prefix = pod.naming.label('container.apparmor.security.beta.orchestrator.io/');
  const annotations = Object.entries(pod.annotations)
    .filter(
      ([key, value]) =>
        key.startsWith(prefix) && value !== '' && value !== 'runtime/default' && !value.startsWith('localhost/'),
    )
    .map(([key, value]) => `${key}=${goQuote(value)}`);
  const others = annotations.length > 0 ? [plural(annotations.length, 'annotation')] : [];
  const setters = settersOf(found.isPodBad, found.containers, ...others);
  if (setters === '') return undefined;
  const values = sorted([...found.values, ...annotations]);
  return {
    reason: plural(values.length, 'forbidden AppArmor profile'),
    detail: `${setters} must not set AppArmor profile type to ${quoted(values)}`,
  };
}

/** The capabilities that containers have unless they drop them, which they may also add. */
const DEFAULT_CAPABILITIES: ReadonlySet<string> = new Set([
  'AUDIT_WRITE',
  'CHOWN',
  'DAC_OVERRIDE',
  'FOWNER',
  'FSETID',
  'KILL',
  'MKNOD',
  'NET_BIND_SERVICE',
  'SETFCAP',
  'SETGID',
  'SETPCAP',
  'SETUID',
  'SYS_CHROOT',
]);

/** `container "a" must not include "X" in securityContext.capabilities.add`; '' if all that are added are allowed. */
function addedCapabilities(pod: CheckedPod, isAllowed: (capability: string) => boolean): string {
  const added = ({ capabilities }: Frozen<SecurityContext>): readonly string[] =>
    (capabilities?.add ?? []).filter(one => !isAllowed(one));
  const containers = namesOf(pod, context => added(context).length > 0);
  if (containers.length === 0) return '';
  const all = sorted(pod.containers.flatMap(({ securityContext }) => added(securityContext ?? {})));
  return `${listed('container', containers)} must not include ${quoted(all)} in securityContext.capabilities.add`;
}

function baselineCapabilities(pod: CheckedPod): Finding | undefined {
  const detail = addedCapabilities(pod, capability => DEFAULT_CAPABILITIES.has(capability));
  return detail === '' ? undefined : { reason: 'non-default capabilities', detail };
}

function restrictedCapabilities(pod: CheckedPod): Finding | undefined {
  const notDropped = namesOf(pod, ({ capabilities }) => !capabilities?.drop?.includes('ALL'));
  const missing =
    notDropped.length > 0
      ? `${listed('container', notDropped)} must set securityContext.capabilities.drop=["ALL"]`
      : '';
  const added = addedCapabilities(pod, capability => capability === 'NET_BIND_SERVICE');
  const details = [missing, added].filter(text => text !== '');
  return details.length > 0 ? { reason: 'unrestricted capabilities', detail: details.join('; ') } : undefined;
}

function hostNamespaces({ spec }: CheckedPod): Finding | undefined {
  const used = (['hostNetwork', 'hostPID', 'hostIPC'] as const).filter(member => spec[member]);
  if (used.length === 0) return undefined;
  return { reason: 'host namespaces', detail: used.map(member => `${member}=true`).join(', ') };
}

function hostPaths({ spec }: CheckedPod): Finding | undefined {
  const names = (spec.volumes ?? []).filter(({ hostPath }) => hostPath).map(({ name }) => name);
  return names.length > 0 ? { reason: 'hostPath volumes', detail: listed('volume', names) } : undefined;
}

function hostPorts(pod: CheckedPod): Finding | undefined {
  const portsOf = ({ ports }: AnyContainer): readonly string[] =>
    (ports ?? []).flatMap(({ hostPort = 0 }) => (hostPort === 0 ? [] : [String(hostPort)]));
  const names = namesOf(pod, (_, container) => portsOf(container).length > 0);
  if (names.length === 0) return undefined;
  const ports = sorted(pod.containers.flatMap(portsOf));
  const what = `${plural(names.length, 'uses', 'use')} ${plural(ports.length, 'hostPort')} ${ports.join(', ')}`;
  return { reason: 'hostPort', detail: `${listed('container', names)} ${what}` };
}

function privileged(pod: CheckedPod): Finding | undefined {
  const names = namesOf(pod, context => context.privileged === true);
  if (names.length === 0) return undefined;
  return { reason: 'privileged', detail: `${listed('container', names)} must not set securityContext.privileged=true` };
}

function procMount(pod: CheckedPod): Finding | undefined {
  if (pod.isRelaxed) return undefined;
  const mountOf = ({ securityContext }: AnyContainer): string => securityContext?.procMount ?? 'Default';
  const names = namesOf(pod, (_, container) => mountOf(container) !== 'Default');
  if (names.length === 0) return undefined;
  const types = sorted(pod.containers.map(mountOf).filter(type => type !== 'Default'));
  return {
    reason: 'procMount',
    detail: `${listed('container', names)} must not set securityContext.procMount to ${quoted(types)}`,
  };
}

/** SELinux types that every version allows; '' is that of the container runtime. */
const SELINUX_TYPES = ['', 'container_t', 'container_init_t', 'container_kvm_t'];

const seLinux =
  (...allowed: readonly string[]): CheckPod =>
  pod => {
    const optionsOf = (context: Pick<Frozen<SecurityContext>, 'seLinuxOptions'> | undefined) => {
      const { type = '', user = '', role = '' } = context?.seLinuxOptions ?? {};
      const found = { type: allowed.includes(type) ? '' : type, user: user !== '', role: role !== '' };
      return found.type !== '' || found.user || found.role ? found : undefined;
    };
    const ofPod = optionsOf(pod.spec.securityContext);
    const containers = namesOf(pod, context => optionsOf(context) !== undefined);
    const setters = settersOf(ofPod !== undefined, containers);
    if (setters === '') return undefined;
    const all = [ofPod, ...pod.containers.map(({ securityContext }) => optionsOf(securityContext))].filter(
      found => found !== undefined,
    );
    const types = sorted(all.map(({ type }) => type).filter(type => type !== ''));
    const details = [
      ...(types.length > 0 ? [listed('type', types)] : []),
      ...(all.some(({ user }) => user) ? ['user may not be set'] : []),
      ...(all.some(({ role }) => role) ? ['role may not be set'] : []),
    ];
    return {
      reason: 'seLinuxOptions',
      detail: `${setters} set forbidden securityContext.seLinuxOptions: ${details.join('; ')}`,
    };
  };

/** Seccomp profiles in annotations: before version 1.19, there were no fields for them. */
function seccompAnnotations({ annotations, containers, naming }: CheckedPod): Finding | undefined {
  const keys = [
    naming.label('seccomp.security.alpha.orchestrator.io/pod'),
    ...containers.map(({ name }) => naming.label(`container.seccomp.security.alpha.orchestrator.io/${name}`)),
  ];
  const isAllowed = (profile: string): boolean =>
    profile === 'runtime/default' || profile === 'docker/default' || profile.startsWith('localhost/');
  const bad = keys
    .filter(key => Object.hasOwn(annotations, key) && !isAllowed(annotations[key]!))
    .map(key => `${key}=${goQuote(annotations[key]!)}`);
  if (bad.length === 0) return undefined;
  const distinct = sorted(bad);
  return {
    reason: 'seccompProfile',
    detail: `forbidden ${plural(distinct.length, 'annotation')} ${distinct.join(', ')}`,
  };
}

/** The containers, or the pod, that set a seccomp profile which is not allowed. */
function badSeccomp(pod: CheckedPod): Finding | undefined {
  const { isPodBad, containers, values } = badValues(
    pod,
    context => context.seccompProfile,
    ({ type }) => (isAllowedProfile(type) ? undefined : type),
  );
  const setters = settersOf(isPodBad, containers);
  if (setters === '') return undefined;
  return {
    reason: 'seccompProfile',
    detail: `${setters} must not set securityContext.seccompProfile.type to ${quoted(values)}`,
  };
}

function restrictedSeccomp(pod: CheckedPod): Finding | undefined {
  const bad = badSeccomp(pod);
  if (bad) return bad;
  if (pod.spec.securityContext?.seccompProfile) return undefined;
  const names = namesOf(pod, context => !context.seccompProfile);
  if (names.length === 0) return undefined;
  return {
    reason: 'seccompProfile',
    detail:
      `pod or ${listed('container', names)} must set securityContext.seccompProfile.type to ` +
      '"RuntimeDefault" or "Localhost"',
  };
}

/** Sysctls that every version allows. */
const SYSCTLS = [
  'kernel.shm_rmid_forced',
  'net.ipv4.ip_local_port_range',
  'net.ipv4.tcp_syncookies',
  'net.ipv4.ping_group_range',
  'net.ipv4.ip_unprivileged_port_start',
];
const SYSCTLS_1_27 = [...SYSCTLS, 'net.ipv4.ip_local_reserved_ports'];
const SYSCTLS_1_29 = [
  ...SYSCTLS_1_27,
  'net.ipv4.tcp_keepalive_time',
  'net.ipv4.tcp_fin_timeout',
  'net.ipv4.tcp_keepalive_intvl',
  'net.ipv4.tcp_keepalive_probes',
];
const SYSCTLS_1_32 = [...SYSCTLS_1_29, 'net.ipv4.tcp_rmem', 'net.ipv4.tcp_wmem'];

const sysctls =
  (allowed: readonly string[]): CheckPod =>
  ({ spec }) => {
    const bad = (spec.securityContext?.sysctls ?? []).map(({ name }) => name).filter(name => !allowed.includes(name));
    return bad.length > 0 ? { reason: 'forbidden sysctls', detail: bad.join(', ') } : undefined;
  };

function hostProcess(pod: CheckedPod): Finding | undefined {
  const isPodBad = pod.spec.securityContext?.windowsOptions?.hostProcess === true;
  const setters = settersOf(
    isPodBad,
    namesOf(pod, ({ windowsOptions }) => windowsOptions?.hostProcess === true),
  );
  if (setters === '') return undefined;
  return { reason: 'hostProcess', detail: `${setters} must not set securityContext.windowsOptions.hostProcess=true` };
}

function privilegeEscalation(pod: CheckedPod): Finding | undefined {
  const names = namesOf(pod, context => context.allowPrivilegeEscalation !== false);
  if (names.length === 0) return undefined;
  return {
    reason: 'allowPrivilegeEscalation != false',
    detail: `${listed('container', names)} must set securityContext.allowPrivilegeEscalation=false`,
  };
}

/** Types of volumes that the restricted level allows. */
const RESTRICTED_VOLUMES: readonly (keyof Volume)[] = [
  'configMap',
  'csi',
  'downwardAPI',
  'emptyDir',
  'ephemeral',
  'persistentVolumeClaim',
  'projected',
  'secret',
];
/** Types of volumes that the restricted level knows and does not allow; others are reported as `unknown`. */
const OTHER_VOLUMES: readonly (keyof Volume)[] = [
  'hostPath',
  'gcePersistentDisk',
  'awsElasticBlockStore',
  'gitRepo',
  'nfs',
  'iscsi',
  'glusterfs',
  'rbd',
  'flexVolume',
  'cinder',
  'cephfs',
  'flocker',
  'fc',
  'azureFile',
  'vsphereVolume',
  'quobyte',
  'azureDisk',
  'portworxVolume',
  'scaleIO',
  'storageos',
  'photonPersistentDisk',
];

function restrictedVolumes({ spec }: CheckedPod): Finding | undefined {
  const bad = (spec.volumes ?? []).filter(volume => !RESTRICTED_VOLUMES.some(type => volume[type]));
  if (bad.length === 0) return undefined;
  const types = sorted(bad.map(volume => OTHER_VOLUMES.find(type => volume[type]) ?? 'unknown'));
  const names = listed(
    'volume',
    bad.map(({ name }) => name),
  );
  const verb = plural(bad.length, 'uses', 'use');
  return {
    reason: 'restricted volume types',
    detail: `${names} ${verb} restricted ${listed('volume type', types)}`,
  };
}

function nonRoot(pod: CheckedPod): Finding | undefined {
  if (pod.isRelaxed) return undefined;
  const reason = 'runAsNonRoot != true';
  const ofPod = pod.spec.securityContext?.runAsNonRoot;
  const setters = settersOf(
    ofPod === false,
    namesOf(pod, ({ runAsNonRoot }) => runAsNonRoot === false),
  );
  if (setters !== '') return { reason, detail: `${setters} must not set securityContext.runAsNonRoot=false` };
  if (ofPod === true) return undefined;
  const names = namesOf(pod, ({ runAsNonRoot }) => runAsNonRoot === undefined);
  if (names.length === 0) return undefined;
  return { reason, detail: `pod or ${listed('container', names)} must set securityContext.runAsNonRoot=true` };
}

function rootUser(pod: CheckedPod): Finding | undefined {
  if (pod.isRelaxed) return undefined;
  const setters = settersOf(
    pod.spec.securityContext?.runAsUser === 0,
    namesOf(pod, ({ runAsUser }) => runAsUser === 0),
  );
  return setters === '' ? undefined : { reason: 'runAsUser=0', detail: `${setters} must not set runAsUser=0` };
}

/** A check that is not made for Windows pods. */
const exceptWindows =
  (check: CheckPod): CheckPod =>
  pod =>
    pod.spec.os?.name === 'windows' ? undefined : check(pod);

/** All checks of the Pod Security Standards. */
export const CHECKS: readonly Check[] = [
  { id: 'appArmorProfile', level: 'baseline', versions: [[0, appArmor]] },
  { id: 'capabilities_baseline', level: 'baseline', versions: [[0, baselineCapabilities]] },
  { id: 'hostNamespaces', level: 'baseline', versions: [[0, hostNamespaces]] },
  { id: 'hostPathVolumes', level: 'baseline', versions: [[0, hostPaths]] },
  { id: 'hostPorts', level: 'baseline', versions: [[0, hostPorts]] },
  { id: 'privileged', level: 'baseline', versions: [[0, privileged]] },
  { id: 'procMount', level: 'baseline', versions: [[0, procMount]] },
  {
    id: 'seLinuxOptions',
    level: 'baseline',
    versions: [
      [0, seLinux(...SELINUX_TYPES)],
      [31, seLinux(...SELINUX_TYPES, 'container_engine_t')],
    ],
  },
  {
    id: 'seccompProfile_baseline',
    level: 'baseline',
    versions: [
      [0, seccompAnnotations],
      [19, badSeccomp],
    ],
  },
  {
    id: 'sysctls',
    level: 'baseline',
    versions: [
      [0, sysctls(SYSCTLS)],
      [27, sysctls(SYSCTLS_1_27)],
      [29, sysctls(SYSCTLS_1_29)],
      [32, sysctls(SYSCTLS_1_32)],
    ],
  },
  { id: 'windowsHostProcess', level: 'baseline', versions: [[0, hostProcess]] },
  {
    id: 'allowPrivilegeEscalation',
    level: 'restricted',
    versions: [
      [8, privilegeEscalation],
      [25, exceptWindows(privilegeEscalation)],
    ],
  },
  {
    id: 'capabilities_restricted',
    level: 'restricted',
    replaces: 'capabilities_baseline',
    versions: [
      [22, restrictedCapabilities],
      [25, exceptWindows(restrictedCapabilities)],
    ],
  },
  {
    id: 'restrictedVolumes',
    level: 'restricted',
    replaces: 'hostPathVolumes',
    versions: [[0, restrictedVolumes]],
  },
  { id: 'runAsNonRoot', level: 'restricted', versions: [[0, nonRoot]] },
  { id: 'runAsUser', level: 'restricted', versions: [[23, rootUser]] },
  {
    id: 'seccompProfile_restricted',
    level: 'restricted',
    replaces: 'seccompProfile_baseline',
    versions: [
      [19, restrictedSeccomp],
      [25, exceptWindows(restrictedSeccomp)],
    ],
  },
];
