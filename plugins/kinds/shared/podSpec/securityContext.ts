import {
  isAbsent,
  numberAt,
  recordAt,
  recordsAt,
  stringAt,
  stringsAt,
  type UnknownRecord,
} from '../../../../core/model/record.js';
import { invalid, required, type Violation } from '../../../../core/model/refusal.js';
import { rangeText, validateOneOf } from '../violations.js';

/** Checks a user or group id, if set. */
const validateUserId = (owner: unknown, member: string, field: string): Violation[] => {
  const value = numberAt(owner, member);
  return value !== undefined && (value < 0 || value > 2147483647)
    ? [invalid(field, value, rangeText(0, 2147483647))]
    : [];
};

/** Violations of the security context of a container. */
export function validateContainerSecurity(container: UnknownRecord, field: string): Violation[] {
  const context = recordAt(container, 'securityContext');
  if (!context) return [];
  const where = `${field}.securityContext`;
  const found = [
    ...validateUserId(context, 'runAsUser', `${where}.runAsUser`),
    ...validateUserId(context, 'runAsGroup', `${where}.runAsGroup`),
  ];
  found.push(...validateProfiles(context, where));
  if (context.allowPrivilegeEscalation === false) {
    if (context.privileged === true) {
      found.push(invalid(where, context, 'cannot set `allowPrivilegeEscalation` to false and `privileged` to true'));
    }
    if (stringsAt(context, 'capabilities', 'add').includes('CAP_SYS_ADMIN')) {
      found.push(
        invalid(where, context, 'cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN'),
      );
    }
  }
  for (const member of ['gmsaCredentialSpec', 'runAsUserName']) {
    if (recordAt(context, 'windowsOptions')?.[member] === '') {
      found.push(invalid(`${where}.windowsOptions.${member}`, '', `${member} cannot be an empty string`));
    }
  }
  return found;
}

/** Violations of the seccomp and AppArmor profiles of a pod or a container. */
function validateProfiles(context: UnknownRecord, where: string): Violation[] {
  const found: Violation[] = [];
  for (const [member, word] of [
    ['seccompProfile', 'seccomp'],
    ['appArmorProfile', 'AppArmor'],
  ] as const) {
    const profile = recordAt(context, member);
    if (!profile) continue;
    const local = stringAt(profile, 'type') === 'Localhost';
    found.push(
      ...validateOneOf(profile, 'type', `${where}.${member}.type`, ['Localhost', 'RuntimeDefault', 'Unconfined']),
    );
    if (local && stringAt(profile, 'localhostProfile') === '') {
      found.push(required(`${where}.${member}.localhostProfile`, `must be set when ${word} type is Localhost`));
    }
    if (!local && !isAbsent(profile.localhostProfile)) {
      found.push(
        invalid(
          `${where}.${member}.localhostProfile`,
          profile.localhostProfile,
          `can only be set when ${word} type is Localhost`,
        ),
      );
    }
  }
  return found;
}

const SYSCTL = /^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$/;

const SYSCTL_TEXT =
  'must have at most 253 characters and match regex ^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$';

/** Violations of the security context of a pod. */
export function validatePodSecurity(pod: UnknownRecord, field: string): Violation[] {
  const context = recordAt(pod, 'securityContext');
  const where = `${field}.securityContext`;
  const found: Violation[] = ['fsGroup', 'runAsUser', 'runAsGroup'].flatMap(id =>
    validateUserId(context, id, `${where}.${id}`),
  );
  const groups = Array.isArray(context?.supplementalGroups) ? context.supplementalGroups : [];
  for (const [i, group] of groups.entries())
    found.push(...validateUserId({ group }, 'group', `${where}.supplementalGroups[${i}]`));
  if (!isAbsent(context?.fsGroupChangePolicy)) {
    found.push(
      ...validateOneOf(context, 'fsGroupChangePolicy', `${where}.fsGroupChangePolicy`, ['Always', 'OnRootMismatch']),
    );
  }
  for (const [i, sysctl] of recordsAt(context, 'sysctls').entries()) {
    const name = stringAt(sysctl, 'name');
    if (name === '') found.push(required(`${where}.sysctls[${i}].name`));
    else if (name.length > 253 || !SYSCTL.test(name))
      found.push(invalid(`${where}.sysctls[${i}].name`, name, SYSCTL_TEXT));
  }
  if (pod.hostPID === true && pod.shareProcessNamespace === true) {
    found.push(
      invalid(`${where}.shareProcessNamespace`, true, 'ShareProcessNamespace and HostPID cannot both be enabled'),
    );
  }
  return context ? [...found, ...validateProfiles(context, where)] : found;
}
