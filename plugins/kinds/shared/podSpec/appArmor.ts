import type { AppArmorProfile, Container, EphemeralContainer, PodSpec } from '../../../../kinds/v1.js';
import type { ObjectMeta } from '../../../../core/model/object.js';
import { isAbsent } from '../../../../core/model/record.js';
import { forbiddenField, invalid, type Violation } from '../../../../core/model/refusal.js';
import type { Naming } from '../../../../core/naming.js';
import { VISITED_CONTAINERS } from './containerLists.js';

/** Annotations with this prefix and the name of a container have the AppArmor profile that the field replaced. */
export const appArmorPrefix = (naming: Naming): string =>
  naming.label('container.apparmor.security.beta.orchestrator.io/');

/** A container, and its place in the object. */
export interface NamedContainer {
  readonly container: Container | EphemeralContainer;
  readonly name: string;
  readonly field: string;
}

/** The containers of a pod, whose spec is at `field`. */
export const namedContainers = (pod: PodSpec, field: string): NamedContainer[] =>
  VISITED_CONTAINERS.flatMap(list =>
    (pod[list] ?? []).map((container: Container | EphemeralContainer, i) => ({
      container,
      name: container.name,
      field: `${field}.${list}[${i}]`,
    })),
  );

/** The beginning of the values of annotations for profiles that nodes have. */
export const LOCAL = 'localhost/';

/** The annotation for a profile; empty for an invalid one. */
export function toAnnotation(profile: Partial<AppArmorProfile>): string {
  const { type, localhostProfile } = profile;
  if (type === 'Unconfined') return 'unconfined';
  if (type === 'RuntimeDefault') return 'runtime/default';
  return type === 'Localhost' && !isAbsent(localhostProfile) ? LOCAL + localhostProfile : '';
}

/** The profile of a pod or a container itself. */
export const profileOf = (owner: Pick<PodSpec | Container, 'securityContext'>): AppArmorProfile | undefined =>
  owner.securityContext?.appArmorProfile;

/** Whether a pod is for Windows. */
export const isWindows = (pod: PodSpec): boolean => (pod.os?.name ?? '') === 'windows';

/** Checks that the profiles of a pod, whose spec is at `field`, are those of its annotations. */
export function validateAppArmorMatch(
  { annotations = {} }: ObjectMeta,
  pod: PodSpec,
  field: string,
  naming: Naming,
): Violation[] {
  if (isWindows(pod)) return [];
  return namedContainers(pod, field).flatMap(({ container, name, field: where }) => {
    const annotation = annotations[appArmorPrefix(naming) + name];
    const profile = profileOf(container) ?? profileOf(pod);
    if (annotation === undefined || !profile) return [];
    const place = `${where}.securityContext.appArmorProfile`;
    const expected = toAnnotation(profile);
    if (annotation === expected) return [];
    return profile.type === 'Localhost' && annotation.startsWith(LOCAL)
      ? [forbiddenField(`${place}.localhostProfile`, 'apparmor profile in annotation and field must match')]
      : [forbiddenField(`${place}.type`, 'apparmor type in annotation and field must match')];
  });
}

const isKnownForm = (profile: string): boolean =>
  ['', 'unconfined', 'runtime/default'].includes(profile) || profile.startsWith(LOCAL);

/** Violations of the AppArmor annotations of a pod; `field` is the field of the annotations. */
export function validateAppArmorAnnotations(
  { annotations = {} }: ObjectMeta,
  pod: PodSpec,
  field: string,
  naming: Naming,
): Violation[] {
  const names = new Set(namedContainers(pod, '').map(({ name }) => name));
  const prefix = appArmorPrefix(naming);
  return Object.entries(annotations).flatMap(([key, profile]) => {
    if (!key.startsWith(prefix)) return [];
    const name = key.slice(prefix.length);
    return [
      ...(names.has(name) ? [] : [invalid(`${field}[${key}]`, name, 'container not found')]),
      ...(isKnownForm(profile)
        ? []
        : [invalid(`${field}[${key}]`, profile, `invalid AppArmor profile name: ${JSON.stringify(profile)}`)]),
    ];
  });
}

/**
 * Warnings about the AppArmor annotation of a container of a template; `field` is the field of the metadata. Those of a
 * pod are reported when they set its fields.
 */
export function appArmorWarnings(
  { annotations = {} }: ObjectMeta,
  pod: PodSpec,
  container: Container | EphemeralContainer,
  field: string,
  naming: Naming,
): string[] {
  const key = appArmorPrefix(naming) + container.name;
  if (field === 'metadata' || annotations[key] === undefined || profileOf(container) || profileOf(pod)) return [];
  return [`${field}.annotations[${key}]: deprecated since v1.30; use the "appArmorProfile" field instead`];
}
