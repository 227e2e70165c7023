import type { Int64 } from '../../../../core/model/scalars.js';
import type {
  SecurityContext,
  PodSpec,
  PodSecurityContext,
  SeccompProfile,
  AppArmorProfile,
  EphemeralContainer,
} from '../../../../kinds/v1.js';
import { isAbsent } from '../../../../core/model/record.js';
import { duplicate, invalid, required, tooLong, Verbatim, type Violation } from '../../../../core/model/refusal.js';
import { rangeText, validateOneOf } from '../violations.js';
import { checkLocalPath } from '../volumes/volumeSources.js';
import { validateWindowsOptions } from './windowsOptions.js';

/** Checks a user or group id, if set. */
const validateUserId = (value: Int64 | undefined, field: string): Violation[] => {
  return value !== undefined && (value < 0 || value > 2147483647)
    ? [invalid(field, value, rangeText(0, 2147483647))]
    : [];
};

/** Violations of the security context of a container. */
export function validateContainerSecurity(container: EphemeralContainer, field: string): Violation[] {
  const context = container.securityContext;
  if (!context) return [];
  const where = `${field}.securityContext`;
  const found = [
    ...validateUserId(context.runAsUser, `${where}.runAsUser`),
    ...validateUserId(context.runAsGroup, `${where}.runAsGroup`),
  ];
  found.push(...validateProfile(context, 'seccompProfile', where));
  if (context.allowPrivilegeEscalation === false) {
    if (context.privileged === true) {
      found.push(invalid(where, context, 'cannot set `allowPrivilegeEscalation` to false and `privileged` to true'));
    }
    if ((context.capabilities?.add ?? []).includes('CAP_SYS_ADMIN')) {
      found.push(
        invalid(where, context, 'cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN'),
      );
    }
  }
  return [...found, ...validateWindowsOptions(context, where), ...validateProfile(context, 'appArmorProfile', where)];
}

/** The longest name of an AppArmor profile. */
const PROFILE_BYTES = 4095;

/** Checks the name of an AppArmor profile of the node. */
function validateAppArmorName(name: string, field: string): Violation[] {
  const bare = name.trim();
  if (bare !== name) return [invalid(field, name, 'must not be padded with whitespace')];
  if (bare === '') return [required(field, 'must be set when AppArmor type is Localhost')];
  return Buffer.byteLength(name) > PROFILE_BYTES ? [tooLong(field, PROFILE_BYTES)] : [];
}

/** The kinds of profiles, with the words for them in messages and the checks of their names. */
const PROFILES = {
  seccompProfile: {
    word: 'seccomp',
    check: checkLocalPath,
    // Upstream shows the profile instead of its name.
    shown: (profile: SeccompProfile | AppArmorProfile) =>
      new Verbatim(`core.SeccompProfile{Type:${JSON.stringify(profile.type)}, LocalhostProfile:(*string)(0x0)}`),
  },
  appArmorProfile: {
    word: 'AppArmor',
    check: validateAppArmorName,
    shown: (profile: SeccompProfile | AppArmorProfile) => profile.localhostProfile,
  },
} as const;

/** Violations of the seccomp or AppArmor profile of a pod or a container. */
export function validateProfile(
  context: PodSecurityContext | SecurityContext | undefined,
  member: keyof typeof PROFILES,
  where: string,
): Violation[] {
  const { word, check, shown } = PROFILES[member];
  const profile = context?.[member];
  if (!profile) return [];
  const [type, name] = [profile.type, profile.localhostProfile];
  const [field, nameField] = [`${where}.${member}`, `${where}.${member}.localhostProfile`];
  const found =
    type === ''
      ? [required(`${field}.type`, `type is required when ${member} is set`)]
      : validateOneOf(profile, 'type', `${field}.type`, ['Localhost', 'RuntimeDefault', 'Unconfined']);
  // The name is reported in addition to another type only for seccomp.
  if (found.length > 0 && member === 'appArmorProfile') return found;
  if (type === 'Localhost')
    return isAbsent(name)
      ? [required(nameField, `must be set when ${word} type is Localhost`)]
      : check(profile.localhostProfile ?? '', nameField);
  return isAbsent(name)
    ? found
    : [...found, invalid(nameField, shown(profile), `can only be set when ${word} type is Localhost`)];
}

const SYSCTL = /^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$/;

const SYSCTL_TEXT =
  'must have at most 253 characters and match regex ^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$';

/** Kernel settings that a pod cannot have if it uses a namespace of the host. */
const OF_HOST = [
  { member: 'hostNetwork', settings: /^net[./]/ },
  { member: 'hostIPC', settings: /^(kernel[./](shm|msg|sem)|fs[./]mqueue[./])/ },
] as const;

function validateSysctls(pod: PodSpec, where: string): Violation[] {
  const names = new Set<string>();
  return (pod.securityContext?.sysctls ?? []).flatMap((sysctl, i) => {
    const [field, name] = [`${where}.sysctls[${i}].name`, sysctl.name];
    const ofHost = OF_HOST.filter(({ member, settings }) => pod[member] === true && settings.test(name)).map(
      ({ member }) => invalid(field, name, `may not be specified when '${member}' is true`),
    );
    if (name === '') return [required(field), ...ofHost];
    if (name.length > 253 || !SYSCTL.test(name)) return [invalid(field, name, SYSCTL_TEXT), ...ofHost];
    const known = names.has(name);
    names.add(name);
    return [...(known ? [duplicate(field, name)] : []), ...ofHost];
  });
}

/** Violations of the security context of a pod. */
export function validatePodSecurity(pod: PodSpec, field: string): Violation[] {
  const context = pod.securityContext;
  const where = `${field}.securityContext`;
  const found: Violation[] = (['fsGroup', 'runAsUser', 'runAsGroup'] as const).flatMap(id =>
    validateUserId(context?.[id], `${where}.${id}`),
  );
  const groups = context?.supplementalGroups ?? [];
  for (const [i, group] of groups.entries()) found.push(...validateUserId(group, `${where}.supplementalGroups[${i}]`));
  if (pod.hostPID === true && pod.shareProcessNamespace === true) {
    found.push(
      invalid(`${where}.shareProcessNamespace`, true, 'ShareProcessNamespace and HostPID cannot both be enabled'),
    );
  }
  found.push(...validateSysctls(pod, where));
  if (!isAbsent(context?.fsGroupChangePolicy)) {
    found.push(
      ...validateOneOf(context, 'fsGroupChangePolicy', `${where}.fsGroupChangePolicy`, ['Always', 'OnRootMismatch']),
    );
  }
  return [
    ...found,
    ...validateProfile(context, 'seccompProfile', where),
    ...validateWindowsOptions(context, where),
    ...validateProfile(context, 'appArmorProfile', where),
  ];
}
