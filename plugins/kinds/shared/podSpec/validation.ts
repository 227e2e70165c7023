import { dns1123Label, dns1123Subdomain, qualifiedName } from '../../../../core/model/names.js';
import {
  entriesAt,
  isAbsent,
  isSemanticallyEqual,
  numberAt,
  recordAt,
  recordsAt,
  stringAt,
  stringsAt,
  type UnknownRecord,
} from '../../../../core/model/record.js';
import { duplicate, forbiddenField, invalid, required, type Violation } from '../../../../core/model/refusal.js';
import { ipComplaints } from '../ipAddresses.js';
import { validateLabels } from '../labels.js';
import { validateContainer, type PodContext } from './containers.js';
import { validateLifecycle } from './probes.js';
import {
  validateSchedulingGates,
  validateNodeAffinity,
  validatePodAffinity,
  validateTopologySpread,
  validateTolerations,
} from './scheduling.js';
import { validatePodSecurity } from './securityContext.js';
import { validateVolumes } from './volumes.js';
import {
  rangeText,
  toViolations,
  validateIfSet,
  validateLabelIfSet,
  validateOneOf,
  validateSubdomainIfSet,
} from '../violations.js';

const DEFAULT_GRACE = 30;

function validateContainers(pod: UnknownRecord, field: string, context: PodContext): Violation[] {
  const found: Violation[] = [];
  const names = new Set<string>();
  const main = recordsAt(pod, 'containers');
  if (main.length === 0) found.push(required(`${field}.containers`));
  const check = (container: UnknownRecord, where: string): void => {
    found.push(...validateContainer(container, where, context));
    const name = stringAt(container, 'name');
    if (name !== '' && names.has(name)) found.push(duplicate(`${where}.name`, name));
    names.add(name);
  };
  for (const [i, container] of main.entries()) {
    const where = `${field}.containers[${i}]`;
    check(container, where);
    found.push(...validateLifecycle(container, where, context.grace));
    if (!isAbsent(container.restartPolicy))
      found.push(forbiddenField(`${where}.restartPolicy`, 'may not be set for non-init containers'));
  }
  for (const [i, container] of recordsAt(pod, 'initContainers').entries()) {
    const where = `${field}.initContainers[${i}]`;
    check(container, where);
    found.push(...validateInitContainer(container, where, context));
  }
  return found;
}

function validateInitContainer(container: UnknownRecord, where: string, context: PodContext): Violation[] {
  const found = validateOneOf(container, 'restartPolicy', `${where}.restartPolicy`, ['Always'], false);
  if (container.restartPolicy === 'Always') return [...found, ...validateLifecycle(container, where, context.grace)];
  for (const member of ['lifecycle', 'livenessProbe', 'readinessProbe', 'startupProbe']) {
    if (recordAt(container, member))
      found.push(
        forbiddenField(`${where}.${member}`, 'may not be set for init containers without restartPolicy=Always'),
      );
  }
  return found;
}

/** Violations of ephemeral containers, which are added to a running pod for debugging. */
export function validateEphemeralContainers(pod: UnknownRecord, field: string): Violation[] {
  const found: Violation[] = [];
  const context = contextOf(pod, validateVolumes(pod, ''));
  const others = new Set(
    [...recordsAt(pod, 'containers'), ...recordsAt(pod, 'initContainers')].map(c => stringAt(c, 'name')),
  );
  const names = new Set(others);
  for (const [i, container] of recordsAt(pod, 'ephemeralContainers').entries()) {
    const where = `${field}[${i}]`;
    found.push(...validateContainer(container, where, context));
    const name = stringAt(container, 'name');
    if (name !== '' && names.has(name)) found.push(duplicate(`${where}.name`, name));
    names.add(name);
    const target = stringAt(container, 'targetContainerName');
    if (target !== '' && !others.has(target))
      found.push({
        reason: 'FieldValueNotFound',
        field: `${where}.targetContainerName`,
        message: `Not found: ${JSON.stringify(target)}`,
      });
    for (const member of [
      'lifecycle',
      'livenessProbe',
      'readinessProbe',
      'startupProbe',
      'ports',
      'resources',
      'restartPolicy',
    ]) {
      const value = container[member];
      const set = Array.isArray(value)
        ? value.length > 0
        : member === 'resources'
          ? !isSemanticallyEqual(value, {})
          : !isAbsent(value);
      if (set) found.push(forbiddenField(`${where}.${member}`, 'cannot be set for an Ephemeral Container'));
    }
    for (const [j, mount] of recordsAt(container, 'volumeMounts').entries()) {
      for (const member of ['subPath', 'subPathExpr']) {
        if (stringAt(mount, member) !== '')
          found.push(
            forbiddenField(`${where}.volumeMounts[${j}].${member}`, 'cannot be set for an Ephemeral Container'),
          );
      }
    }
  }
  return found;
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
    if (stringsAt(config, 'nameservers').length === 0) {
      found.push(required(`${where}.nameservers`, 'must provide at least one DNS nameserver when `dnsPolicy` is None'));
    }
  }
  const servers = stringsAt(config, 'nameservers');
  if (servers.length > 3) found.push(invalid(`${where}.nameservers`, servers, 'must not have more than 3 nameservers'));
  for (const [i, server] of servers.entries())
    found.push(...toViolations(`${where}.nameservers[${i}]`, server, ipComplaints(server)));
  for (const [i, search] of stringsAt(config, 'searches').entries()) {
    const name = search.replace(/\.$/, '');
    found.push(...toViolations(`${where}.searches[${i}]`, name, dns1123Subdomain(name)));
  }
  for (const [i, option] of recordsAt(config, 'options').entries()) {
    if (stringAt(option, 'name') === '') found.push(required(`${where}.options[${i}]`, 'must not be empty'));
  }
  return found;
}

function validateNames(pod: UnknownRecord, field: string): Violation[] {
  const found: Violation[] = [];
  const deadline = numberAt(pod, 'activeDeadlineSeconds');
  if (deadline !== undefined && (deadline < 1 || deadline > 2147483647)) {
    found.push(invalid(`${field}.activeDeadlineSeconds`, deadline, rangeText(1, 2147483647)));
  }
  found.push(...validateSubdomainIfSet(pod, 'serviceAccountName', `${field}.serviceAccountName`));
  found.push(
    ...validateSubdomainIfSet(pod, 'nodeName', `${field}.nodeName`),
    ...validateLabelIfSet(pod, 'subdomain', `${field}.subdomain`),
  );
  found.push(...validateSubdomainIfSet(pod, 'priorityClassName', `${field}.priorityClassName`));
  found.push(...validateSubdomainIfSet(pod, 'runtimeClassName', `${field}.runtimeClassName`));
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

/** The context of the validation of containers. Volumes with violations (`violations`, by volume) cannot be mounted. */
function contextOf(pod: UnknownRecord, violations: readonly Violation[][]): PodContext {
  const sound = recordsAt(pod, 'volumes').filter((_, i) => violations[i]?.length === 0);
  return {
    volumes: new Map(sound.map(volume => [stringAt(volume, 'name'), volume])),
    hostNetwork: pod.hostNetwork === true,
    grace: numberAt(pod, 'terminationGracePeriodSeconds') ?? DEFAULT_GRACE,
  };
}

/** Violations of a pod spec; `field` is its field: `spec`, `spec.template.spec`. */
export function validatePodSpec(pod: UnknownRecord, field: string): Violation[] {
  const ofVolumes = validateVolumes(pod, field);
  return [
    ...ofVolumes.flat(),
    ...validateContainers(pod, field, contextOf(pod, ofVolumes)),
    ...validateOneOf(pod, 'restartPolicy', `${field}.restartPolicy`, ['Always', 'OnFailure', 'Never']),
    ...validateDns(pod, field),
    ...validateLabels(entriesAt(pod, 'nodeSelector'), `${field}.nodeSelector`),
    ...validatePodSecurity(pod, field),
    ...validateNodeAffinity(pod, field),
    ...validatePodAffinity(pod, 'podAffinity', field),
    ...validatePodAffinity(pod, 'podAntiAffinity', field),
    ...validateNames(pod, field),
    ...validateTolerations(recordsAt(pod, 'tolerations'), `${field}.tolerations`),
    ...validateTopologySpread(pod, field),
  ];
}

/** Violations of the template of a workload; `field` is its field. */
export function validateTemplate(template: UnknownRecord | undefined, field: string): Violation[] {
  const annotations = entriesAt(template, 'metadata', 'annotations');
  const pod = recordAt(template, 'spec') ?? {};
  const found = [
    ...validateLabels(entriesAt(template, 'metadata', 'labels'), `${field}.labels`),
    ...annotations.flatMap(([key]) => toViolations(`${field}.annotations`, key, qualifiedName(key.toLowerCase()))),
    ...validatePodSpec(pod, `${field}.spec`),
  ];
  if (recordsAt(pod, 'ephemeralContainers').length > 0) {
    found.push(forbiddenField(`${field}.spec.ephemeralContainers`, 'ephemeral containers not allowed in pod template'));
  }
  return found;
}
