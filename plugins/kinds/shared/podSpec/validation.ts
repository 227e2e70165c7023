import { dns1123Label, dns1123Subdomain, qualifiedName } from '../../../../core/model/names.js';
import {
  entriesAt,
  exactNumberAt,
  isAbsent,
  isSemanticallyEqual,
  numberAt,
  recordAt,
  recordsAt,
  stringAt,
  stringsAt,
  type UnknownRecord,
} from '../../../../core/model/record.js';
import { goStrings } from '../../../../core/model/goText.js';
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
import { validateVolumes } from './volumes.js';
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

function validateContainers(pod: UnknownRecord, field: string, context: PodContext): Violation[] {
  const found: Violation[] = [];
  const names = new Set<string>();
  const main = recordsAt(pod, 'containers');
  if (main.length === 0) found.push(required(`${field}.containers`));
  const check = (container: UnknownRecord, where: string, hostPorts: Set<string>): void => {
    found.push(...validateContainer(container, where, context));
    const name = stringAt(container, 'name');
    if (name !== '' && names.has(name)) found.push(duplicate(`${where}.name`, name));
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
  for (const [i, container] of recordsAt(pod, 'initContainers').entries()) {
    const where = `${field}.initContainers[${i}]`;
    check(container, where, new Set());
    found.push(...validateInitContainer(container, where, context));
  }
  if (pod.hostNetwork === true) found.push(...validateHostNetworkPorts(main, `${field}.containers`));
  return found;
}

function validateInitContainer(container: UnknownRecord, where: string, context: PodContext): Violation[] {
  const found = isAbsent(container.restartPolicy)
    ? []
    : validateOneOf(container, 'restartPolicy', `${where}.restartPolicy`, ['Always']);
  if (container.restartPolicy === 'Always') return [...found, ...validateLifecycle(container, where, context.grace)];
  for (const member of ['lifecycle', 'livenessProbe', 'readinessProbe', 'startupProbe']) {
    if (recordAt(container, member))
      found.push(
        forbiddenField(`${where}.${member}`, 'may not be set for init containers without restartPolicy=Always'),
      );
  }
  return found;
}

/** What ephemeral containers cannot have, because they cannot be relied upon. */
const LASTING = [
  'lifecycle',
  'livenessProbe',
  'readinessProbe',
  'startupProbe',
  'ports',
  'resources',
  'resizePolicy',
  'restartPolicy',
];

const NOT_EPHEMERAL = 'cannot be set for an Ephemeral Container';

function isSetIn(container: UnknownRecord, member: string): boolean {
  const value = container[member];
  if (member === 'resources') return !isSemanticallyEqual(value, {});
  return Array.isArray(value) ? value.length > 0 : !isAbsent(value);
}

/** Violations of ephemeral containers, which are added to a running pod for debugging. */
function validateEphemeralContainers(pod: UnknownRecord, field: string, context: PodContext): Violation[] {
  const found: Violation[] = [];
  const others = [...recordsAt(pod, 'containers'), ...recordsAt(pod, 'initContainers')].map(c => stringAt(c, 'name'));
  const names = new Set(others);
  for (const [i, container] of recordsAt(pod, 'ephemeralContainers').entries()) {
    const where = `${field}.ephemeralContainers[${i}]`;
    found.push(...validateContainer(container, where, { ...context, ofPod: true }));
    const name = stringAt(container, 'name');
    if (name !== '' && names.has(name)) found.push(duplicate(`${where}.name`, name));
    names.add(name);
    const target = stringAt(container, 'targetContainerName');
    if (target !== '' && !others.includes(target)) found.push(notFoundField(`${where}.targetContainerName`, target));
    for (const member of LASTING)
      if (isSetIn(container, member)) found.push(forbiddenField(`${where}.${member}`, NOT_EPHEMERAL));
    for (const [j, mount] of recordsAt(container, 'volumeMounts').entries()) {
      for (const member of ['subPath', 'subPathExpr']) {
        if (stringAt(mount, member) !== '')
          found.push(forbiddenField(`${where}.volumeMounts[${j}].${member}`, NOT_EPHEMERAL));
      }
    }
  }
  return found;
}

/** The most domains of a search list, and their length with the spaces between them. */
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

function validateDns(pod: UnknownRecord, field: string): Violation[] {
  const found = validateOneOf(pod, 'dnsPolicy', `${field}.dnsPolicy`, [
    'ClusterFirstWithHostNet',
    'ClusterFirst',
    'Default',
    'None',
  ]);
  const config = recordAt(pod, 'dnsConfig');
  const where = `${field}.dnsConfig`;
  if (pod.dnsPolicy === 'None') {
    if (!config) return [...found, required(where, 'must provide `dnsConfig` when `dnsPolicy` is None')];
    if (stringsAt(config, 'nameservers').length === 0)
      return [
        ...found,
        required(`${where}.nameservers`, 'must provide at least one DNS nameserver when `dnsPolicy` is None'),
      ];
  }
  const servers = stringsAt(config, 'nameservers');
  if (servers.length > 3)
    found.push(invalid(`${where}.nameservers`, goStrings(servers), 'must not have more than 3 nameservers'));
  for (const [i, server] of servers.entries())
    found.push(...toViolations(`${where}.nameservers[${i}]`, server, ipComplaints(server)));
  found.push(...validateSearches(stringsAt(config, 'searches'), `${where}.searches`));
  for (const [i, option] of recordsAt(config, 'options').entries()) {
    if (stringAt(option, 'name') === '') found.push(required(`${where}.options[${i}]`, 'must not be empty'));
  }
  return found;
}

function validateNames(pod: UnknownRecord, field: string): Violation[] {
  const found: Violation[] = [];
  const deadline = exactNumberAt(pod, 'activeDeadlineSeconds');
  if (deadline !== undefined && (deadline < 1 || deadline > 2147483647)) {
    found.push(invalid(`${field}.activeDeadlineSeconds`, deadline, rangeText(1, 2147483647)));
  }
  found.push(...validateSubdomainIfSet(pod, 'serviceAccountName', `${field}.serviceAccountName`));
  found.push(
    ...validateSubdomainIfSet(pod, 'nodeName', `${field}.nodeName`),
    ...validateLabelIfSet(pod, 'subdomain', `${field}.subdomain`),
  );
  found.push(...validateSubdomainIfSet(pod, 'priorityClassName', `${field}.priorityClassName`));
  found.push(...validatePresent(pod, 'runtimeClassName', `${field}.runtimeClassName`, dns1123Subdomain));
  found.push(
    ...validateIfSet(pod, 'hostname', `${field}.hostname`, name =>
      name.includes('.') ? ['must not contain dots'] : dns1123Label(name),
    ),
  );
  for (const [i, alias] of recordsAt(pod, 'hostAliases').entries()) {
    const where = `${field}.hostAliases[${i}]`;
    found.push(...toViolations(`${where}.ip`, stringAt(alias, 'ip'), ipComplaints(stringAt(alias, 'ip'))));
    for (const [j, name] of stringsAt(alias, 'hostnames').entries()) {
      found.push(...toViolations(`${where}.hostnames[${j}]`, name, dns1123Subdomain(name)));
    }
  }
  for (const [i, gate] of recordsAt(pod, 'readinessGates').entries()) {
    const type = stringAt(gate, 'conditionType');
    found.push(...toViolations(`${field}.readinessGates[${i}].conditionType`, type, qualifiedName(type)));
  }
  return [...found, ...validateSchedulingGates(pod, field)];
}

/** Checks that the files with tokens belong to an account. */
function validateTokenFiles(pod: UnknownRecord, field: string): Violation[] {
  if (stringAt(pod, 'serviceAccountName') !== '') return [];
  return recordsAt(pod, 'volumes').flatMap((volume, i) =>
    recordsAt(volume, 'projected', 'sources').flatMap((source, j) =>
      recordAt(source, 'serviceAccountToken')
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

/** Checks that what is set can be had on the operating system of the pod. */
function validateOs(pod: UnknownRecord, field: string): Violation[] {
  const os = recordAt(pod, 'os');
  if (!os) return [];
  const name = stringAt(os, 'name');
  if (name === '') return [required(`${field}.os.name`, 'cannot be empty')];
  if (name === 'windows') return validateForWindows(pod, field);
  return name === 'linux' ? validateForLinux(pod, field) : [notSupported(`${field}.os`, name, ['linux', 'windows'])];
}

/** The context of the validation of containers. Volumes with violations (`violations`, by volume) cannot be mounted. */
function contextOf(pod: UnknownRecord, violations: readonly Violation[][], ofPod: boolean): PodContext {
  const sound = recordsAt(pod, 'volumes').filter((_, i) => violations[i]?.length === 0);
  return {
    volumes: new Map(sound.map(volume => [stringAt(volume, 'name'), volume])),
    grace: numberAt(pod, 'terminationGracePeriodSeconds') ?? DEFAULT_GRACE,
    ofPod,
  };
}

/**
 * Violations of a pod spec; `field` is its field: `spec`, `spec.template.spec`. `podName` is the name of the pod;
 * absent for the spec of a template, which is checked less strictly.
 */
export function validatePodSpec(pod: UnknownRecord, field: string, podName?: string): Violation[] {
  const ofVolumes = validateVolumes(pod, field, podName ?? '');
  const context = contextOf(pod, ofVolumes, podName !== undefined);
  return [
    ...ofVolumes.flat(),
    ...validateContainers(pod, field, context),
    ...validateEphemeralContainers(pod, field, context),
    ...validateOneOf(pod, 'restartPolicy', `${field}.restartPolicy`, ['Always', 'OnFailure', 'Never']),
    ...validateDns(pod, field),
    ...validateLabels(entriesAt(pod, 'nodeSelector'), `${field}.nodeSelector`),
    ...validatePodSecurity(pod, field),
    ...validateHostProcess(pod, field),
    ...validateNodeAffinity(pod, field),
    ...validatePodAffinity(pod, 'podAffinity', field),
    ...validatePodAffinity(pod, 'podAntiAffinity', field),
    ...validateNames(pod, field),
    ...validateTolerations(recordsAt(pod, 'tolerations'), `${field}.tolerations`),
    ...validateTopologySpread(pod, field),
    ...(isAbsent(pod.preemptionPolicy)
      ? []
      : pod.preemptionPolicy === ''
        ? [required(`${field}.preemptionPolicy`)]
        : validateOneOf(pod, 'preemptionPolicy', `${field}.preemptionPolicy`, ['PreemptLowerPriority', 'Never'])),
    ...validateResources({ limits: recordAt(pod, 'overhead') }, `${field}.overhead`),
    ...validateOs(pod, field),
    ...(podName === undefined ? [] : validateTokenFiles(pod, field)),
  ];
}

/** Violations of the labels and annotations of a template; `field` is the field of the template. */
export function validateTemplateMetadata(template: UnknownRecord | undefined, field: string): Violation[] {
  const metadata = recordAt(template, 'metadata');
  return [
    ...validateLabels(entriesAt(metadata, 'labels'), `${field}.labels`),
    ...validateAnnotations(metadata, `${field}.annotations`),
  ];
}

/** Violations of the template of a workload; `field` is its field. */
export function validateTemplate(template: UnknownRecord | undefined, field: string): Violation[] {
  const pod = recordAt(template, 'spec') ?? {};
  const found = [...validateTemplateMetadata(template, field), ...validatePodSpec(pod, `${field}.spec`)];
  if (recordsAt(pod, 'ephemeralContainers').length > 0) {
    found.push(forbiddenField(`${field}.spec.ephemeralContainers`, 'ephemeral containers not allowed in pod template'));
  }
  return found;
}
