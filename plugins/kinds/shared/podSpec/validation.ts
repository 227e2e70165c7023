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
import { ipText } from '../ipAddresses.js';
import { labelViolations } from '../labels.js';
import { containerViolations, type PodContext } from './containers.js';
import { lifeViolations } from './probes.js';
import { gates, nodeAffinity, podAffinity, spread, tolerationViolations } from './scheduling.js';
import { podSecurity } from './securityContext.js';
import { volumes } from './volumes.js';
import { between, complaints, ifSet, labelIfSet, oneOf, subdomainIfSet } from '../violations.js';

const DEFAULT_GRACE = 30;

function containers(pod: UnknownRecord, field: string, context: PodContext): Violation[] {
  const found: Violation[] = [];
  const names = new Set<string>();
  const main = recordsAt(pod, 'containers');
  if (main.length === 0) found.push(required(`${field}.containers`));
  const check = (container: UnknownRecord, where: string): void => {
    found.push(...containerViolations(container, where, context));
    const name = stringAt(container, 'name');
    if (name !== '' && names.has(name)) found.push(duplicate(`${where}.name`, name));
    names.add(name);
  };
  for (const [i, container] of main.entries()) {
    const where = `${field}.containers[${i}]`;
    check(container, where);
    found.push(...lifeViolations(container, where, context.grace));
    if (!isAbsent(container.restartPolicy))
      found.push(forbiddenField(`${where}.restartPolicy`, 'may not be set for non-init containers'));
  }
  for (const [i, container] of recordsAt(pod, 'initContainers').entries()) {
    const where = `${field}.initContainers[${i}]`;
    check(container, where);
    found.push(...initOnly(container, where, context));
  }
  return found;
}

function initOnly(container: UnknownRecord, where: string, context: PodContext): Violation[] {
  const found = oneOf(container, 'restartPolicy', `${where}.restartPolicy`, ['Always'], false);
  if (container.restartPolicy === 'Always') return [...found, ...lifeViolations(container, where, context.grace)];
  for (const member of ['lifecycle', 'livenessProbe', 'readinessProbe', 'startupProbe']) {
    if (recordAt(container, member))
      found.push(
        forbiddenField(`${where}.${member}`, 'may not be set for init containers without restartPolicy=Always'),
      );
  }
  return found;
}

/** Containers added to a running pod for debugging. */
export function ephemeralViolations(pod: UnknownRecord, field: string): Violation[] {
  const found: Violation[] = [];
  const context = contextOf(pod, volumes(pod, ''));
  const others = new Set(
    [...recordsAt(pod, 'containers'), ...recordsAt(pod, 'initContainers')].map(c => stringAt(c, 'name')),
  );
  const names = new Set(others);
  for (const [i, container] of recordsAt(pod, 'ephemeralContainers').entries()) {
    const where = `${field}[${i}]`;
    found.push(...containerViolations(container, where, context));
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

function dns(pod: UnknownRecord, field: string): Violation[] {
  const found = oneOf(pod, 'dnsPolicy', `${field}.dnsPolicy`, [
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
    found.push(...complaints(`${where}.nameservers[${i}]`, server, ipText(server)));
  for (const [i, search] of stringsAt(config, 'searches').entries()) {
    const name = search.replace(/\.$/, '');
    found.push(...complaints(`${where}.searches[${i}]`, name, dns1123Subdomain(name)));
  }
  for (const [i, option] of recordsAt(config, 'options').entries()) {
    if (stringAt(option, 'name') === '') found.push(required(`${where}.options[${i}]`, 'must not be empty'));
  }
  return found;
}

function identity(pod: UnknownRecord, field: string): Violation[] {
  const found: Violation[] = [];
  const deadline = numberAt(pod, 'activeDeadlineSeconds');
  if (deadline !== undefined && (deadline < 1 || deadline > 2147483647)) {
    found.push(invalid(`${field}.activeDeadlineSeconds`, deadline, between(1, 2147483647)));
  }
  found.push(...subdomainIfSet(pod, 'serviceAccountName', `${field}.serviceAccountName`));
  found.push(
    ...subdomainIfSet(pod, 'nodeName', `${field}.nodeName`),
    ...labelIfSet(pod, 'subdomain', `${field}.subdomain`),
  );
  found.push(...subdomainIfSet(pod, 'priorityClassName', `${field}.priorityClassName`));
  found.push(...subdomainIfSet(pod, 'runtimeClassName', `${field}.runtimeClassName`));
  found.push(
    ...ifSet(pod, 'hostname', `${field}.hostname`, name =>
      name.includes('.') ? ['must not contain dots'] : dns1123Label(name),
    ),
  );
  for (const [i, alias] of recordsAt(pod, 'hostAliases').entries()) {
    const where = `${field}.hostAliases[${i}]`;
    found.push(...complaints(`${where}.ip`, stringAt(alias, 'ip'), ipText(stringAt(alias, 'ip'))));
    for (const [j, name] of stringsAt(alias, 'hostnames').entries()) {
      found.push(...complaints(`${where}.hostnames[${j}]`, name, dns1123Subdomain(name)));
    }
  }
  for (const [i, gate] of recordsAt(pod, 'readinessGates').entries()) {
    const type = stringAt(gate, 'conditionType');
    found.push(...complaints(`${field}.readinessGates[${i}].conditionType`, type, qualifiedName(type)));
  }
  return [...found, ...gates(pod, field)];
}

/**
 * What containers are judged by. They may mount the volumes that nothing is wrong with; `wrong` says what is, volume by
 * volume.
 */
function contextOf(pod: UnknownRecord, wrong: readonly Violation[][]): PodContext {
  const sound = recordsAt(pod, 'volumes').filter((_, i) => wrong[i]?.length === 0);
  return {
    volumes: new Map(sound.map(volume => [stringAt(volume, 'name'), volume])),
    hostNetwork: pod.hostNetwork === true,
    grace: numberAt(pod, 'terminationGracePeriodSeconds') ?? DEFAULT_GRACE,
  };
}

/** What is wrong with a pod spec; `field` is where it stands (`spec`, `spec.template.spec`). */
export function podSpecViolations(pod: UnknownRecord, field: string): Violation[] {
  const ofVolumes = volumes(pod, field);
  return [
    ...ofVolumes.flat(),
    ...containers(pod, field, contextOf(pod, ofVolumes)),
    ...oneOf(pod, 'restartPolicy', `${field}.restartPolicy`, ['Always', 'OnFailure', 'Never']),
    ...dns(pod, field),
    ...labelViolations(entriesAt(pod, 'nodeSelector'), `${field}.nodeSelector`),
    ...podSecurity(pod, field),
    ...nodeAffinity(pod, field),
    ...podAffinity(pod, 'podAffinity', field),
    ...podAffinity(pod, 'podAntiAffinity', field),
    ...identity(pod, field),
    ...tolerationViolations(recordsAt(pod, 'tolerations'), `${field}.tolerations`),
    ...spread(pod, field),
  ];
}

/** What is wrong with the template of a workload; `field` names the template. */
export function templateViolations(template: UnknownRecord | undefined, field: string): Violation[] {
  const annotations = entriesAt(template, 'metadata', 'annotations');
  const pod = recordAt(template, 'spec') ?? {};
  const found = [
    ...labelViolations(entriesAt(template, 'metadata', 'labels'), `${field}.labels`),
    ...annotations.flatMap(([key]) => complaints(`${field}.annotations`, key, qualifiedName(key.toLowerCase()))),
    ...podSpecViolations(pod, `${field}.spec`),
  ];
  if (recordsAt(pod, 'ephemeralContainers').length > 0) {
    found.push(forbiddenField(`${field}.spec.ephemeralContainers`, 'ephemeral containers not allowed in pod template'));
  }
  return found;
}
