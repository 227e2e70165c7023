import type { Naming } from '../../../../core/naming.js';
import { validateAppArmorAnnotations, validateAppArmorMatch } from './appArmor.js';
import { validateSeccompAnnotations, validateSeccompMatch } from './seccomp.js';
import type { PodTemplateSpec, PodSpec, EphemeralContainer, Container } from '../../../../kinds/v1.js';
import { toNumber } from '../../../../core/model/scalars.js';
import { dns1123Label, dns1123Subdomain, qualifiedName } from '../../../../core/model/names.js';
import { isAbsent, isSemanticallyEqual } from '../../../../core/model/record.js';
import { goStrings } from '../../../../core/model/text/goText.js';
import {
  duplicate,
  forbiddenField,
  invalid,
  notFoundField,
  notSupported,
  required,
  type Violation,
} from '../../../../core/model/refusal.js';
import { ipComplaints } from '../ipAddresses.js';
import { validateAnnotations, validateLabels } from '../labels.js';
import { validateContainer, validateHostNetworkPorts, validateUniqueHostPorts, type PodContext } from './containers.js';
import { validateLifecycle } from './probes.js';
import { validateResources } from './resources.js';
import {
  validateSchedulingGates,
  validateNodeAffinity,
  validatePodAffinity,
  validateTopologySpread,
  validateTolerations,
} from './scheduling.js';
import { validatePodSecurity } from './securityContext.js';
import { validateVolumes } from './volumes/volumes.js';
import { validateForLinux, validateForWindows, validateHostProcess } from './windowsOptions.js';
import {
  rangeText,
  toViolations,
  validateIfSet,
  validateLabelIfSet,
  validateOneOf,
  validatePresent,
  validateSubdomainIfSet,
} from '../violations.js';

const DEFAULT_GRACE = 30;

function validateContainers(pod: PodSpec, field: string, context: PodContext): Violation[] {
  const found: Violation[] = [];
  const names = new Set<string>();
  const main = pod.containers ?? [];
  if (main.length === 0) found.push(required(`${field}.containers`));
  const check = (container: Container, where: string, hostPorts: Set<string>, ofPolicy: Violation[] = []): void => {
    found.push(...validateContainer(container, where, context), ...ofPolicy);
    const name = container.name;
    if (names.has(name)) found.push(duplicate(`${where}.name`, name));
    names.add(name);
    found.push(...validateUniqueHostPorts(container, where, hostPorts));
  };
  const hostPorts = new Set<string>();
  for (const [i, container] of main.entries()) {
    const where = `${field}.containers[${i}]`;
    check(container, where, hostPorts);
    found.push(...validateLifecycle(container, where, context.grace));
    if (!isAbsent(container.restartPolicy))
      found.push(forbiddenField(`${where}.restartPolicy`, 'may not be set for non-init containers'));
  }
  for (const [i, container] of (pod.initContainers ?? []).entries()) {
    const where = `${field}.initContainers[${i}]`;
    const ofPolicy = isAbsent(container.restartPolicy)
      ? []
      : validateOneOf(container, 'restartPolicy', `${where}.restartPolicy`, ['Always']);
    check(container, where, new Set(), ofPolicy);
    found.push(...validateInitContainer(container, where, context));
  }
  return found;
}

/** Violations of fields that init containers may have only if they run as long as the pod (`restartPolicy: Always`). */
function validateInitContainer(container: Container, where: string, context: PodContext): Violation[] {
  if (container.restartPolicy === 'Always') return validateLifecycle(container, where, context.grace);
  const found: Violation[] = [];
  for (const member of ['lifecycle', 'livenessProbe', 'readinessProbe', 'startupProbe'] as const) {
    if (container[member])
      found.push(
        forbiddenField(`${where}.${member}`, 'may not be set for init containers without restartPolicy=Always'),
      );
  }
  return found;
}

/** Fields that ephemeral containers cannot have, because nothing may rely on such containers. */
const LASTING = [
  'lifecycle',
  'livenessProbe',
  'readinessProbe',
  'startupProbe',
  'ports',
  'resources',
  'resizePolicy',
  'restartPolicy',
] as const;

const NOT_EPHEMERAL = 'cannot be set for an Ephemeral Container';

function isSetIn(container: EphemeralContainer, member: (typeof LASTING)[number]): boolean {
  const value = container[member];
  if (member === 'resources') return !isSemanticallyEqual(value, {});
  return Array.isArray(value) ? value.length > 0 : !isAbsent(value);
}

/** Violations of ephemeral containers, which are added to a running pod for debugging. */
function validateEphemeralContainers(pod: PodSpec, field: string, context: PodContext): Violation[] {
  const found: Violation[] = [];
  const others = [...(pod.containers ?? []), ...(pod.initContainers ?? [])].map(c => c.name);
  const names = new Set(others);
  for (const [i, container] of (pod.ephemeralContainers ?? []).entries()) {
    const where = `${field}.ephemeralContainers[${i}]`;
    found.push(...validateContainer(container, where, { ...context, ofPod: true }));
    const name = container.name;
    if (name !== '' && names.has(name)) found.push(duplicate(`${where}.name`, name));
    names.add(name);
    const target = container.targetContainerName ?? '';
    if (target !== '' && !others.includes(target)) found.push(notFoundField(`${where}.targetContainerName`, target));
    for (const member of LASTING)
      if (isSetIn(container, member)) found.push(forbiddenField(`${where}.${member}`, NOT_EPHEMERAL));
    for (const [j, mount] of (container.volumeMounts ?? []).entries()) {
      for (const member of ['subPath', 'subPathExpr'] as const) {
        if ((mount[member] ?? '') !== '')
          found.push(forbiddenField(`${where}.volumeMounts[${j}].${member}`, NOT_EPHEMERAL));
      }
    }
  }
  return found;
}

/** The maximum number of domains of a search list, and their maximum length with the spaces between them. */
const MOST_SEARCHES = 32;

const SEARCHES_LENGTH = 2048;

function validateSearches(searches: readonly string[], field: string): Violation[] {
  const length = searches.join(' ').length;
  return [
    ...(searches.length > MOST_SEARCHES
      ? [invalid(field, goStrings(searches), `must not have more than ${MOST_SEARCHES} search paths`)]
      : []),
    ...(length > SEARCHES_LENGTH
      ? [
          invalid(
            field,
            goStrings(searches),
            `must not have more than ${SEARCHES_LENGTH} characters (including spaces) in the search list`,
          ),
        ]
      : []),
    ...searches.flatMap((search, i) => {
      const name = search.replace(/\.$/, '');
      return toViolations(`${field}[${i}]`, name, dns1123Subdomain(name));
    }),
  ];
}

const DNS_POLICIES = ['ClusterFirstWithHostNet', 'ClusterFirst', 'Default', 'None'];

function validateDnsConfig(pod: PodSpec, field: string): Violation[] {
  const config = pod.dnsConfig;
  const where = `${field}.dnsConfig`;
  const servers = config?.nameservers ?? [];
  if (pod.dnsPolicy === 'None') {
    if (!config) return [required(where, 'must provide `dnsConfig` when `dnsPolicy` is None')];
    if (servers.length === 0)
      return [required(`${where}.nameservers`, 'must provide at least one DNS nameserver when `dnsPolicy` is None')];
  }
  const found: Violation[] = [];
  if (servers.length > 3)
    found.push(invalid(`${where}.nameservers`, goStrings(servers), 'must not have more than 3 nameservers'));
  for (const [i, server] of servers.entries())
    found.push(...toViolations(`${where}.nameservers[${i}]`, server, ipComplaints(server)));
  found.push(...validateSearches(config?.searches ?? [], `${where}.searches`));
  for (const [i, option] of (config?.options ?? []).entries()) {
    if ((option.name ?? '') === '') found.push(required(`${where}.options[${i}]`, 'must not be empty'));
  }
  return found;
}

const validateReadinessGates = (pod: PodSpec, field: string): Violation[] =>
  (pod.readinessGates ?? []).flatMap(({ conditionType: type }, i) =>
    toViolations(`${field}.readinessGates[${i}].conditionType`, type, qualifiedName(type)),
  );

function validateDeadline(pod: PodSpec, field: string): Violation[] {
  const deadline = pod.activeDeadlineSeconds;
  return deadline !== undefined && (deadline < 1 || deadline > 2147483647)
    ? [invalid(`${field}.activeDeadlineSeconds`, deadline, rangeText(1, 2147483647))]
    : [];
}

const validateHostAliases = (pod: PodSpec, field: string): Violation[] =>
  (pod.hostAliases ?? []).flatMap(({ ip, hostnames }, i) => {
    const where = `${field}.hostAliases[${i}]`;
    return [
      ...toViolations(`${where}.ip`, ip, ipComplaints(ip)),
      ...(hostnames ?? []).flatMap((name, j) => toViolations(`${where}.hostnames[${j}]`, name, dns1123Subdomain(name))),
    ];
  });

/** Checks the account, the node, the host names, the tolerations and the priority of a pod, among others. */
const validateIdentity = (pod: PodSpec, field: string): Violation[] => [
  ...validateSubdomainIfSet(pod, 'serviceAccountName', `${field}.serviceAccountName`),
  ...validateSubdomainIfSet(pod, 'nodeName', `${field}.nodeName`),
  ...validateDeadline(pod, field),
  ...validateIfSet(pod, 'hostname', `${field}.hostname`, dns1123Label),
  ...validateLabelIfSet(pod, 'subdomain', `${field}.subdomain`),
  ...validateTolerations(pod.tolerations ?? [], `${field}.tolerations`),
  ...validateHostAliases(pod, field),
  ...validateSubdomainIfSet(pod, 'priorityClassName', `${field}.priorityClassName`),
  ...validatePresent(pod, 'runtimeClassName', `${field}.runtimeClassName`, dns1123Subdomain),
  ...validatePreemption(pod, `${field}.preemptionPolicy`),
];

function validatePreemption(pod: PodSpec, field: string): Violation[] {
  if (isAbsent(pod.preemptionPolicy)) return [];
  if (pod.preemptionPolicy === '') return [required(field)];
  return validateOneOf(pod, 'preemptionPolicy', field, ['PreemptLowerPriority', 'Never']);
}

/** Checks that the files with tokens belong to an account. */
function validateTokenFiles(pod: PodSpec, field: string): Violation[] {
  if ((pod.serviceAccountName ?? '') !== '') return [];
  return (pod.volumes ?? []).flatMap((volume, i) =>
    (volume.projected?.sources ?? []).flatMap((source, j) =>
      source.serviceAccountToken
        ? [
            forbiddenField(
              `${field}.volumes[${i}].projected.sources[${j}].serviceAccountToken`,
              'must not be specified when serviceAccountName is not set',
            ),
          ]
        : [],
    ),
  );
}

/** Checks that the operating system of the pod supports all fields that are set. */
function validateOs(pod: PodSpec, field: string): Violation[] {
  const os = pod.os;
  if (!os) return [];
  const name = os.name;
  if (name === '') return [required(`${field}.os.name`, 'cannot be empty')];
  if (name === 'windows') return validateForWindows(pod, field);
  return name === 'linux' ? validateForLinux(pod, field) : [notSupported(`${field}.os`, name, ['linux', 'windows'])];
}

/** The context of the validation of containers. Volumes with violations (`violations`, by volume) cannot be mounted. */
function contextOf(pod: PodSpec, violations: readonly Violation[][], ofPod: boolean): PodContext {
  const sound = (pod.volumes ?? []).filter((_, i) => violations[i]?.length === 0);
  return {
    volumes: new Map(sound.map(volume => [volume.name, volume])),
    grace: toNumber(pod.terminationGracePeriodSeconds) ?? DEFAULT_GRACE,
    ofPod,
  };
}

/**
 * Violations of a pod spec; `field` is its field: `spec`, `spec.template.spec`. `podName` is the name of the pod;
 * absent for the spec of a template, which is checked less strictly. The violations are in upstream's order.
 */
export function validatePodSpec(pod: PodSpec, field: string, podName?: string): Violation[] {
  const ofVolumes = validateVolumes(pod, field, podName ?? '');
  const context = contextOf(pod, ofVolumes, podName !== undefined);
  return [
    ...ofVolumes.flat(),
    ...validateContainers(pod, field, context),
    ...validateEphemeralContainers(pod, field, context),
    ...(pod.hostNetwork === true ? validateHostNetworkPorts(pod.containers ?? [], `${field}.containers`) : []),
    ...validateOneOf(pod, 'restartPolicy', `${field}.restartPolicy`, ['Always', 'OnFailure', 'Never']),
    ...validateOneOf(pod, 'dnsPolicy', `${field}.dnsPolicy`, DNS_POLICIES),
    ...validateLabels(Object.entries(pod.nodeSelector ?? {}), `${field}.nodeSelector`),
    ...validatePodSecurity(pod, field),
    ...validateNodeAffinity(pod, field),
    ...validatePodAffinity(pod, 'podAffinity', field),
    ...validatePodAffinity(pod, 'podAntiAffinity', field),
    ...validateDnsConfig(pod, field),
    ...validateReadinessGates(pod, field),
    ...validateSchedulingGates(pod, field),
    ...validateTopologySpread(pod, field),
    ...validateHostProcess(pod, field),
    ...validateIdentity(pod, field),
    ...validateResources({ limits: pod.overhead }, `${field}.overhead`),
    ...validateOs(pod, field),
    ...(podName === undefined ? [] : validateTokenFiles(pod, field)),
  ];
}

/** Violations of the labels and annotations of a template; `field` is the field of the template. */
export function validateTemplateMetadata(template: PodTemplateSpec, field: string, naming: Naming): Violation[] {
  const metadata = template.metadata;
  return [
    ...validateLabels(Object.entries(metadata.labels ?? {}), `${field}.labels`),
    ...validateAnnotations(metadata, `${field}.annotations`),
    ...validateSeccompAnnotations(metadata, `${field}.annotations`, naming),
    ...validateAppArmorAnnotations(metadata, template.spec, `${field}.annotations`, naming),
  ];
}

/** Violations of the template of a workload; `field` is its field. */
export function validateTemplate(template: PodTemplateSpec, field: string, naming: Naming): Violation[] {
  const pod = template.spec;
  const found = [
    ...validateTemplateMetadata(template, field, naming),
    ...validatePodSpec(pod, `${field}.spec`),
    ...validateSeccompMatch(template.metadata, pod, `${field}.spec`, naming),
    ...validateAppArmorMatch(template.metadata, pod, `${field}.spec`, naming),
  ];
  if ((pod.ephemeralContainers ?? []).length > 0) {
    found.push(forbiddenField(`${field}.spec.ephemeralContainers`, 'ephemeral containers not allowed in pod template'));
  }
  return found;
}
