import type {
  Container,
  EphemeralContainer,
  SecurityContext,
  PodSpec,
  PodSecurityContext,
} from '../../../../kinds/v1.js';
import { dns1123Subdomain } from '../../../../core/model/names.js';
import { isAbsent } from '../../../../core/model/record.js';
import { forbiddenField, invalid, type Violation } from '../../../../core/model/refusal.js';
import { validatePresent } from '../violations.js';
import { VISITED_CONTAINERS } from './containerLists.js';

const CREDENTIALS_BYTES = 64 * 1024;

const LONGEST_DOMAIN = 256;

const LABEL_LENGTH = 63;

const LONGEST_USER = 104;

const NETBIOS = /^[^\\/:*?|"<>.\r\n\t][^\\/:*?|"<>\r\n\t]{0,14}$/;

const DNS = /^(?:[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?)(?:\.[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?)*\.?$/;

const FORBIDDEN = '"/\\:;|=,+*?<>@[]';

function credentialsComplaints(text: string): string[] {
  if (text === '') return ['gmsaCredentialSpec cannot be an empty string'];
  return Buffer.byteLength(text) > CREDENTIALS_BYTES ? ['gmsaCredentialSpec size must be under 64 KiB'] : [];
}

const isDnsName = (domain: string): boolean =>
  domain.length < LONGEST_DOMAIN && DNS.test(domain) && domain.split('.').every(label => label.length <= LABEL_LENGTH);

function domainComplaints(domain: string): string[] {
  return [
    ...(domain.length >= LONGEST_DOMAIN
      ? [`runAsUserName's Domain length must be under ${LONGEST_DOMAIN} characters`]
      : []),
    ...(NETBIOS.test(domain) || isDnsName(domain)
      ? []
      : ["runAsUserName's Domain doesn't match the NetBios nor the DNS format"]),
  ];
}

function userComplaints(user: string): string[] {
  if (user === '') return ["runAsUserName's User cannot be empty"];
  if (user.length > LONGEST_USER)
    return [`runAsUserName's User length must not be longer than ${LONGEST_USER} characters`];
  return [
    ...(/^[. ]+$/.test(user) ? ["runAsUserName's User cannot contain only periods or spaces"] : []),
    ...([...user].some(letter => FORBIDDEN.includes(letter))
      ? [`runAsUserName's User cannot contain the following characters: ${FORBIDDEN}`]
      : []),
  ];
}

/** Messages about `DOMAIN\USER` or `USER`. */
function userNameComplaints(name: string): string[] {
  if (name === '') return ['runAsUserName cannot be an empty string'];
  if (/[\x00-\x1f\x7f]/.test(name)) return ['runAsUserName cannot contain control characters'];
  const parts = name.split('\\');
  if (parts.length > 2) return ['runAsUserName cannot contain more than one backslash'];
  return [...(parts.length === 2 ? domainComplaints(parts[0]!) : []), ...userComplaints(parts.at(-1)!)];
}

/** Violations of the options for Windows in a security context of a pod or container. */
export function validateWindowsOptions(
  context: PodSecurityContext | SecurityContext | undefined,
  field: string,
): Violation[] {
  const options = context?.windowsOptions;
  const where = `${field}.windowsOptions`;
  return [
    ...validatePresent(options, 'gmsaCredentialSpecName', `${where}.gmsaCredentialSpecName`, dns1123Subdomain),
    ...validatePresent(options, 'gmsaCredentialSpec', `${where}.gmsaCredentialSpec`, credentialsComplaints),
    ...validatePresent(options, 'runAsUserName', `${where}.runAsUserName`, userNameComplaints),
  ];
}

/** All containers of a pod with their fields. */
const containersOf = (pod: PodSpec, field: string): { container: Container | EphemeralContainer; where: string }[] =>
  VISITED_CONTAINERS.flatMap(list =>
    (pod[list] ?? []).map((container: Container | EphemeralContainer, i) => ({
      container,
      where: `${field}.${list}[${i}]`,
    })),
  );

/** The part of a pod or container that has options for Windows. */
type Secured = Pick<PodSpec | Container, 'securityContext'>;

/**
 * Checks that either all containers of a pod are processes of the host or none, and that such a pod uses the host's
 * network.
 */
export function validateHostProcess(pod: PodSpec, field: string): Violation[] {
  const optionOf = (owner: Secured): boolean | undefined => owner.securityContext?.windowsOptions?.hostProcess;
  const ofPod = optionOf(pod);
  const found: Violation[] = [];
  const effective = containersOf(pod, field).map(({ container, where }) => {
    const own = optionOf(container);
    if (!isAbsent(ofPod) && !isAbsent(own) && ofPod !== own) {
      const why = `pod hostProcess value must be identical if both are specified, was ${String(ofPod)}`;
      found.push(invalid(`${where}.securityContext.windowsOptions.hostProcess`, own, why));
    }
    return (isAbsent(own) ? ofPod : own) === true;
  });
  if (!effective.includes(true)) return found;
  if (effective.includes(false))
    found.push(
      invalid(
        field,
        '',
        'If pod contains any hostProcess containers then all containers must be HostProcess containers',
      ),
    );
  if (pod.hostNetwork !== true)
    found.push(
      invalid(`${field}.hostNetwork`, false, 'hostNetwork must be true if pod contains any hostProcess containers'),
    );
  return found;
}

const CONTAINER_CONTEXT = [
  'appArmorProfile',
  'seLinuxOptions',
  'seccompProfile',
  'capabilities',
  'readOnlyRootFilesystem',
  'privileged',
  'allowPrivilegeEscalation',
  'procMount',
  'runAsUser',
  'runAsGroup',
] as const;

const isSet = (value: unknown): boolean => !isAbsent(value) && !(Array.isArray(value) && value.length === 0);

const refuseMembers = <T extends object>(
  owner: T | undefined,
  field: string,
  members: readonly (keyof T & string)[],
): Violation[] =>
  members
    .filter(member => isSet(owner?.[member]))
    .map(member => forbiddenField(`${field}.${member}`, 'cannot be set for a windows pod'));

/** Checks that a pod for Windows sets no fields that only Linux supports. The order is upstream's. */
export function validateForWindows(pod: PodSpec, field: string): Violation[] {
  const { securityContext: context } = pod;
  const ofContext = `${field}.securityContext`;
  return [
    ...refuseMembers(context, ofContext, ['appArmorProfile', 'seLinuxOptions']),
    ...(['hostPID', 'hostIPC'] as const)
      .filter(member => pod[member] === true)
      .map(member => forbiddenField(`${field}.${member}`, 'cannot be set for a windows pod')),
    ...refuseMembers(context, ofContext, ['seccompProfile', 'fsGroup', 'fsGroupChangePolicy', 'sysctls']),
    ...refuseMembers(pod, field, ['shareProcessNamespace']),
    ...refuseMembers(context, ofContext, ['runAsUser', 'runAsGroup', 'supplementalGroups']),
    ...containersOf(pod, field).flatMap(({ container, where }) =>
      refuseMembers(container.securityContext, `${where}.securityContext`, CONTAINER_CONTEXT),
    ),
  ];
}

/** Checks that a pod for Linux has no options for Windows. */
export function validateForLinux(pod: PodSpec, field: string): Violation[] {
  const secured: { container: Secured; where: string }[] = [
    { container: pod, where: field },
    ...containersOf(pod, field),
  ];
  return secured
    .filter(({ container }) => container.securityContext?.windowsOptions)
    .map(({ where }) =>
      forbiddenField(`${where}.securityContext.windowsOptions`, 'windows options cannot be set for a linux pod'),
    );
}
