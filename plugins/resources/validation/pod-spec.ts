import { dns1123Label, dns1123Subdomain, qualifiedName, labelValue } from '../../../core/model/names.js';
import { duplicate, forbiddenField, invalid, required, type Violation } from '../../../core/model/refusal.js';
import { absent, at, entries, list, num, type Rec, same, strings, text } from '../record.js';
import {
  between,
  complaints,
  ifSet,
  ipText,
  labelViolations,
  oneOf,
  selectorViolations,
  subdomainIfSet,
  labelIfSet,
  userId,
} from './checks.js';
import { containerViolations, lifeViolations, type PodContext, profiles } from './container.js';

const DEFAULT_GRACE = 30;

function containers(pod: Rec, field: string, context: PodContext): Violation[] {
  const found: Violation[] = [];
  const names = new Set<string>();
  const main = list(pod, 'containers');
  if (main.length === 0) found.push(required(`${field}.containers`));
  const check = (container: Rec, where: string): void => {
    found.push(...containerViolations(container, where, context));
    const name = text(container, 'name');
    if (name !== '' && names.has(name)) found.push(duplicate(`${where}.name`, name));
    names.add(name);
  };
  for (const [i, container] of main.entries()) {
    const where = `${field}.containers[${i}]`;
    check(container, where);
    found.push(...lifeViolations(container, where, context.grace));
    if (!absent(container.restartPolicy))
      found.push(forbiddenField(`${where}.restartPolicy`, 'may not be set for non-init containers'));
  }
  for (const [i, container] of list(pod, 'initContainers').entries()) {
    const where = `${field}.initContainers[${i}]`;
    check(container, where);
    found.push(...initOnly(container, where, context));
  }
  return found;
}

function initOnly(container: Rec, where: string, context: PodContext): Violation[] {
  const found = oneOf(container, 'restartPolicy', `${where}.restartPolicy`, ['Always'], false);
  if (container.restartPolicy === 'Always') return [...found, ...lifeViolations(container, where, context.grace)];
  for (const member of ['lifecycle', 'livenessProbe', 'readinessProbe', 'startupProbe']) {
    if (at(container, member))
      found.push(
        forbiddenField(`${where}.${member}`, 'may not be set for init containers without restartPolicy=Always'),
      );
  }
  return found;
}

/** Containers added to a running pod for debugging. */
export function ephemeralViolations(pod: Rec, field: string): Violation[] {
  const found: Violation[] = [];
  const context = contextOf(pod, volumes(pod, ''));
  const others = new Set([...list(pod, 'containers'), ...list(pod, 'initContainers')].map(c => text(c, 'name')));
  const names = new Set(others);
  for (const [i, container] of list(pod, 'ephemeralContainers').entries()) {
    const where = `${field}[${i}]`;
    found.push(...containerViolations(container, where, context));
    const name = text(container, 'name');
    if (name !== '' && names.has(name)) found.push(duplicate(`${where}.name`, name));
    names.add(name);
    const target = text(container, 'targetContainerName');
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
      const set = Array.isArray(value) ? value.length > 0 : member === 'resources' ? !same(value, {}) : !absent(value);
      if (set) found.push(forbiddenField(`${where}.${member}`, 'cannot be set for an Ephemeral Container'));
    }
    for (const [j, mount] of list(container, 'volumeMounts').entries()) {
      for (const member of ['subPath', 'subPathExpr']) {
        if (text(mount, member) !== '')
          found.push(
            forbiddenField(`${where}.volumeMounts[${j}].${member}`, 'cannot be set for an Ephemeral Container'),
          );
      }
    }
  }
  return found;
}

/** What is wrong with each volume, in their order. */
function volumes(pod: Rec, field: string): Violation[][] {
  const names = new Set<string>();
  return list(pod, 'volumes').map((volume, i) => {
    const where = `${field}.volumes[${i}]`;
    const found: Violation[] = [];
    const name = text(volume, 'name');
    if (name === '') found.push(required(`${where}.name`));
    else found.push(...complaints(`${where}.name`, name, dns1123Label(name)));
    if (name !== '' && names.has(name)) found.push(duplicate(`${where}.name`, name));
    names.add(name);
    const sources = Object.keys(volume).filter(member => member !== 'name' && at(volume, member));
    for (const extra of sources.slice(1))
      found.push(forbiddenField(`${where}.${extra}`, 'may not specify more than 1 volume type'));
    return [...found, ...volumeSource(volume, where)];
  });
}

const NEEDED: readonly (readonly [source: string, member: string])[] = [
  ['secret', 'secretName'],
  ['configMap', 'name'],
  ['persistentVolumeClaim', 'claimName'],
  ['nfs', 'server'],
  ['nfs', 'path'],
  ['hostPath', 'path'],
  ['csi', 'driver'],
];

function volumeSource(volume: Rec, where: string): Violation[] {
  const found: Violation[] = [];
  for (const [source, member] of NEEDED) {
    const owner = at(volume, source);
    if (owner && text(owner, member) === '') found.push(required(`${where}.${source}.${member}`));
  }
  for (const source of ['secret', 'configMap', 'downwardAPI', 'projected']) {
    const mode = num(at(volume, source), 'defaultMode');
    if (mode !== undefined && (mode < 0 || mode > 0o777)) {
      found.push(
        invalid(`${where}.${source}.defaultMode`, mode, 'must be a number between 0 and 0777 (octal), both inclusive'),
      );
    }
    for (const [i, item] of list(at(volume, source), 'items').entries()) {
      if (source !== 'downwardAPI' && text(item, 'key') === '')
        found.push(required(`${where}.${source}.items[${i}].key`));
      if (text(item, 'path') === '') found.push(required(`${where}.${source}.items[${i}].path`));
    }
  }
  for (const [i, source] of list(at(volume, 'projected'), 'sources').entries()) {
    const field = `${where}.projected.sources[${i}].serviceAccountToken.expirationSeconds`;
    const seconds = num(at(source, 'serviceAccountToken'), 'expirationSeconds');
    if (seconds !== undefined && seconds < 600)
      found.push(invalid(field, seconds, 'may not specify a duration less than 10 minutes'));
    if (seconds !== undefined && seconds > 2 ** 32)
      found.push(invalid(field, seconds, 'may not specify a duration larger than 2^32 seconds'));
  }
  const path = text(at(volume, 'hostPath'), 'path');
  if (path.split('/').includes('..')) found.push(invalid(`${where}.hostPath.path`, path, "must not contain '..'"));
  return found;
}

function dns(pod: Rec, field: string): Violation[] {
  const found = oneOf(pod, 'dnsPolicy', `${field}.dnsPolicy`, [
    'ClusterFirstWithHostNet',
    'ClusterFirst',
    'Default',
    'None',
  ]);
  const config = at(pod, 'dnsConfig');
  const where = `${field}.dnsConfig`;
  if (pod.dnsPolicy === 'None') {
    if (!config) return [...found, required(where, 'must provide `dnsConfig` when `dnsPolicy` is None')];
    if (strings(config, 'nameservers').length === 0) {
      found.push(required(`${where}.nameservers`, 'must provide at least one DNS nameserver when `dnsPolicy` is None'));
    }
  }
  const servers = strings(config, 'nameservers');
  if (servers.length > 3) found.push(invalid(`${where}.nameservers`, servers, 'must not have more than 3 nameservers'));
  for (const [i, server] of servers.entries())
    found.push(...complaints(`${where}.nameservers[${i}]`, server, ipText(server)));
  for (const [i, search] of strings(config, 'searches').entries()) {
    const name = search.replace(/\.$/, '');
    found.push(...complaints(`${where}.searches[${i}]`, name, dns1123Subdomain(name)));
  }
  for (const [i, option] of list(config, 'options').entries()) {
    if (text(option, 'name') === '') found.push(required(`${where}.options[${i}]`, 'must not be empty'));
  }
  return found;
}

/** What is wrong with tolerations; `field` names the list. */
function tolerationViolations(tolerations: readonly Rec[], field: string): Violation[] {
  const found: Violation[] = [];
  for (const [i, toleration] of tolerations.entries()) {
    const where = `${field}[${i}]`;
    const [key, operator, value] = [text(toleration, 'key'), text(toleration, 'operator'), text(toleration, 'value')];
    if (key !== '') found.push(...complaints(`${where}.key`, key, qualifiedName(key)));
    if (key === '' && operator !== 'Exists') {
      found.push(
        invalid(
          `${where}.operator`,
          operator,
          'operator must be Exists when `key` is empty, which means "match all values and all keys"',
        ),
      );
    }
    if (toleration.tolerationSeconds !== undefined && toleration.effect !== 'NoExecute') {
      found.push(
        invalid(
          `${where}.effect`,
          text(toleration, 'effect'),
          "effect must be 'NoExecute' when `tolerationSeconds` is set",
        ),
      );
    }
    if (operator === 'Exists') {
      if (value !== '')
        found.push(invalid(`${where}.operator`, value, "value must be empty when `operator` is 'Exists'"));
    } else if (operator === '' || operator === 'Equal')
      found.push(...complaints(`${where}.operator`, value, labelValue(value)));
    else found.push(...oneOf(toleration, 'operator', `${where}.operator`, ['Equal', 'Exists']));
    found.push(
      ...oneOf(toleration, 'effect', `${where}.effect`, ['NoSchedule', 'PreferNoSchedule', 'NoExecute'], false),
    );
  }
  return found;
}

function nodeTerms(term: Rec, field: string): Violation[] {
  const found: Violation[] = [];
  for (const [i, expression] of list(term, 'matchExpressions').entries()) {
    const where = `${field}.matchExpressions[${i}]`;
    const [operator, count] = [text(expression, 'operator'), strings(expression, 'values').length];
    if (['In', 'NotIn'].includes(operator) && count === 0) {
      found.push(required(`${where}.values`, "must be specified when `operator` is 'In' or 'NotIn'"));
    } else if (['Exists', 'DoesNotExist'].includes(operator) && count > 0) {
      found.push(
        forbiddenField(`${where}.values`, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"),
      );
    } else if (['Gt', 'Lt'].includes(operator) && count !== 1) {
      found.push(required(`${where}.values`, "must be specified single value when `operator` is 'Lt' or 'Gt'"));
    } else if (!['In', 'NotIn', 'Exists', 'DoesNotExist', 'Gt', 'Lt'].includes(operator)) {
      found.push(invalid(`${where}.operator`, operator, 'not a valid selector operator'));
    }
    found.push(...complaints(`${where}.key`, text(expression, 'key'), qualifiedName(text(expression, 'key'))));
  }
  for (const [i, expression] of list(term, 'matchFields').entries()) {
    const where = `${field}.matchFields[${i}]`;
    const [operator, key] = [text(expression, 'operator'), text(expression, 'key')];
    if (operator !== 'In' && operator !== 'NotIn')
      found.push(invalid(`${where}.operator`, operator, 'not a valid selector operator'));
    else if (strings(expression, 'values').length !== 1) {
      found.push(
        required(
          `${where}.values`,
          "must be only one value when `operator` is 'In' or 'NotIn' for node field selector",
        ),
      );
    }
    if (key !== 'metadata.name') found.push(invalid(`${where}.key`, key, 'not a valid field selector key'));
  }
  return found;
}

const weight = (owner: Rec, field: string): Violation[] => {
  const value = num(owner, 'weight') ?? 0;
  return value < 1 || value > 100 ? [invalid(`${field}.weight`, value, 'must be in the range 1-100')] : [];
};

const REQUIRED = 'requiredDuringSchedulingIgnoredDuringExecution';
const PREFERRED = 'preferredDuringSchedulingIgnoredDuringExecution';

function nodeAffinity(pod: Rec, field: string): Violation[] {
  const affinity = at(pod, 'affinity', 'nodeAffinity');
  const where = `${field}.affinity.nodeAffinity`;
  const found: Violation[] = [];
  const must = at(affinity, REQUIRED);
  if (must) {
    const terms = list(must, 'nodeSelectorTerms');
    if (terms.length === 0)
      found.push(required(`${where}.${REQUIRED}.nodeSelectorTerms`, 'must have at least one node selector term'));
    for (const [i, term] of terms.entries())
      found.push(...nodeTerms(term, `${where}.${REQUIRED}.nodeSelectorTerms[${i}]`));
  }
  for (const [i, wish] of list(affinity, PREFERRED).entries()) {
    const place = `${where}.${PREFERRED}[${i}]`;
    found.push(...weight(wish, place), ...nodeTerms(at(wish, 'preference') ?? {}, `${place}.preference`));
  }
  return found;
}

function podTerm(term: Rec, field: string): Violation[] {
  const found = selectorViolations(at(term, 'labelSelector'), `${field}.labelSelector`);
  const key = text(term, 'topologyKey');
  if (key === '') found.push(required(`${field}.topologyKey`, 'can not be empty'));
  found.push(...complaints(`${field}.topologyKey`, key, qualifiedName(key)));
  for (const name of strings(term, 'namespaces'))
    found.push(...complaints(`${field}.namespace`, name, dns1123Label(name)));
  const mismatched = new Set(strings(term, 'mismatchLabelKeys'));
  for (const [i, name] of strings(term, 'matchLabelKeys').entries()) {
    if (mismatched.has(name)) {
      found.push(invalid(`${field}.matchLabelKeys[${i}]`, name, 'exists in both matchLabelKeys and mismatchLabelKeys'));
    }
  }
  return found;
}

function podAffinity(pod: Rec, kind: string, field: string): Violation[] {
  const affinity = at(pod, 'affinity', kind);
  const where = `${field}.affinity.${kind}`;
  return [
    ...list(affinity, REQUIRED).flatMap((term, i) => podTerm(term, `${where}.${REQUIRED}[${i}]`)),
    ...list(affinity, PREFERRED).flatMap((wish, i) => {
      const place = `${where}.${PREFERRED}[${i}]`;
      return [...weight(wish, place), ...podTerm(at(wish, 'podAffinityTerm') ?? {}, `${place}.podAffinityTerm`)];
    }),
  ];
}

function spread(pod: Rec, field: string): Violation[] {
  const found: Violation[] = [];
  const seen = new Set<string>();
  for (const [i, constraint] of list(pod, 'topologySpreadConstraints').entries()) {
    const where = `${field}.topologySpreadConstraints[${i}]`;
    const [skew, key, when] = [
      num(constraint, 'maxSkew') ?? 0,
      text(constraint, 'topologyKey'),
      text(constraint, 'whenUnsatisfiable'),
    ];
    if (skew <= 0) found.push(invalid(`${where}.maxSkew`, skew, 'must be greater than zero'));
    if (key === '') found.push(required(`${where}.topologyKey`, 'can not be empty'));
    else found.push(...complaints(`${where}.topologyKey`, key, qualifiedName(key)));
    found.push(
      ...oneOf(constraint, 'whenUnsatisfiable', `${where}.whenUnsatisfiable`, ['DoNotSchedule', 'ScheduleAnyway']),
    );
    const pair = `{${key}, ${when}}`;
    if (seen.has(pair)) found.push(duplicate(`${where}.{topologyKey, whenUnsatisfiable}`, pair));
    seen.add(pair);
    const domains = num(constraint, 'minDomains');
    if (domains !== undefined && domains <= 0)
      found.push(invalid(`${where}.minDomains`, domains, 'must be greater than zero'));
    if (domains !== undefined && when !== 'DoNotSchedule') {
      found.push(
        invalid(
          `${where}.minDomains`,
          domains,
          `can only use minDomains if whenUnsatisfiable=DoNotSchedule, not ${when}`,
        ),
      );
    }
    for (const policy of ['nodeAffinityPolicy', 'nodeTaintsPolicy']) {
      if (!absent(constraint[policy]))
        found.push(...oneOf(constraint, policy, `${where}.${policy}`, ['Honor', 'Ignore']));
    }
    if (strings(constraint, 'matchLabelKeys').length > 0 && !at(constraint, 'labelSelector')) {
      found.push(forbiddenField(`${where}.matchLabelKeys`, 'must not be specified when labelSelector is not set'));
    }
    found.push(...selectorViolations(at(constraint, 'labelSelector'), `${where}.labelSelector`));
  }
  return found;
}

const SYSCTL = /^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$/;
const SYSCTL_TEXT =
  'must have at most 253 characters and match regex ^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$';

function security(pod: Rec, field: string): Violation[] {
  const context = at(pod, 'securityContext');
  const where = `${field}.securityContext`;
  const found: Violation[] = ['fsGroup', 'runAsUser', 'runAsGroup'].flatMap(id =>
    userId(context, id, `${where}.${id}`),
  );
  const groups = Array.isArray(context?.supplementalGroups) ? context.supplementalGroups : [];
  for (const [i, group] of groups.entries())
    found.push(...userId({ group }, 'group', `${where}.supplementalGroups[${i}]`));
  if (!absent(context?.fsGroupChangePolicy)) {
    found.push(...oneOf(context, 'fsGroupChangePolicy', `${where}.fsGroupChangePolicy`, ['Always', 'OnRootMismatch']));
  }
  for (const [i, sysctl] of list(context, 'sysctls').entries()) {
    const name = text(sysctl, 'name');
    if (name === '') found.push(required(`${where}.sysctls[${i}].name`));
    else if (name.length > 253 || !SYSCTL.test(name))
      found.push(invalid(`${where}.sysctls[${i}].name`, name, SYSCTL_TEXT));
  }
  if (pod.hostPID === true && pod.shareProcessNamespace === true) {
    found.push(
      invalid(`${where}.shareProcessNamespace`, true, 'ShareProcessNamespace and HostPID cannot both be enabled'),
    );
  }
  return context ? [...found, ...profiles(context, where)] : found;
}

function identity(pod: Rec, field: string): Violation[] {
  const found: Violation[] = [];
  const deadline = num(pod, 'activeDeadlineSeconds');
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
  for (const [i, alias] of list(pod, 'hostAliases').entries()) {
    const where = `${field}.hostAliases[${i}]`;
    found.push(...complaints(`${where}.ip`, text(alias, 'ip'), ipText(text(alias, 'ip'))));
    for (const [j, name] of strings(alias, 'hostnames').entries()) {
      found.push(...complaints(`${where}.hostnames[${j}]`, name, dns1123Subdomain(name)));
    }
  }
  for (const [i, gate] of list(pod, 'readinessGates').entries()) {
    const type = text(gate, 'conditionType');
    found.push(...complaints(`${field}.readinessGates[${i}].conditionType`, type, qualifiedName(type)));
  }
  return [...found, ...gates(pod, field)];
}

function gates(pod: Rec, field: string): Violation[] {
  const found: Violation[] = [];
  const seen = new Set<string>();
  for (const [i, gate] of list(pod, 'schedulingGates').entries()) {
    const name = text(gate, 'name');
    found.push(...complaints(`${field}.schedulingGates[${i}]`, name, qualifiedName(name)));
    if (seen.has(name)) found.push(duplicate(`${field}.schedulingGates[${i}]`, name));
    seen.add(name);
  }
  return found;
}

/**
 * What containers are judged by. They may mount the volumes that nothing is wrong with; `wrong` says what is, volume by
 * volume.
 */
function contextOf(pod: Rec, wrong: readonly Violation[][]): PodContext {
  const sound = list(pod, 'volumes').filter((_, i) => wrong[i]?.length === 0);
  return {
    volumes: new Map(sound.map(volume => [text(volume, 'name'), volume])),
    hostNetwork: pod.hostNetwork === true,
    grace: num(pod, 'terminationGracePeriodSeconds') ?? DEFAULT_GRACE,
  };
}

/** What is wrong with a pod spec; `field` is where it stands (`spec`, `spec.template.spec`). */
export function podSpecViolations(pod: Rec, field: string): Violation[] {
  const ofVolumes = volumes(pod, field);
  return [
    ...ofVolumes.flat(),
    ...containers(pod, field, contextOf(pod, ofVolumes)),
    ...oneOf(pod, 'restartPolicy', `${field}.restartPolicy`, ['Always', 'OnFailure', 'Never']),
    ...dns(pod, field),
    ...labelViolations(entries(pod, 'nodeSelector'), `${field}.nodeSelector`),
    ...security(pod, field),
    ...nodeAffinity(pod, field),
    ...podAffinity(pod, 'podAffinity', field),
    ...podAffinity(pod, 'podAntiAffinity', field),
    ...identity(pod, field),
    ...tolerationViolations(list(pod, 'tolerations'), `${field}.tolerations`),
    ...spread(pod, field),
  ];
}

/** What is wrong with the template of a workload; `field` names the template. */
export function templateViolations(template: Rec | undefined, field: string): Violation[] {
  const annotations = entries(at(template, 'metadata'), 'annotations');
  const pod = at(template, 'spec') ?? {};
  const found = [
    ...labelViolations(entries(at(template, 'metadata'), 'labels'), `${field}.labels`),
    ...annotations.flatMap(([key]) => complaints(`${field}.annotations`, key, qualifiedName(key.toLowerCase()))),
    ...podSpecViolations(pod, `${field}.spec`),
  ];
  if (list(pod, 'ephemeralContainers').length > 0) {
    found.push(forbiddenField(`${field}.spec.ephemeralContainers`, 'ephemeral containers not allowed in pod template'));
  }
  return found;
}
