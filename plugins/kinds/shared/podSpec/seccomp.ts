import type { ObjectMeta } from '../../../../core/model/object.js';
import type { Naming } from '../../../../core/naming.js';
import { forbiddenField, invalid, type Violation } from '../../../../core/model/refusal.js';
import type { Container, EphemeralContainer, PodSpec, SeccompProfile } from '../../../../kinds/v1.js';
import { checkLocalPath } from '../volumes/volumeSources.js';
import { VISITED_CONTAINERS } from './containerLists.js';

const LOCAL = 'localhost/';
const DEFAULTS = ['runtime/default', 'docker/default'];

/** The annotation of earlier releases for the seccomp profile of a pod. */
const podAnnotation = (naming: Naming): string => naming.label('seccomp.security.alpha.orchestrator.io/pod');

/** The prefix of the annotations for containers; the name of the container follows. */
const containerPrefix = (naming: Naming): string => naming.label('container.seccomp.security.alpha.orchestrator.io/');

/** A part of a pod that may have a seccomp profile, and the annotation of earlier releases for it. */
interface Profiled {
  readonly annotation: string;
  readonly field: string;
  readonly profile: SeccompProfile | undefined;
}

const profiledParts = (pod: PodSpec, field: string, naming: Naming): Profiled[] => [
  { annotation: podAnnotation(naming), field, profile: pod.securityContext?.seccompProfile },
  ...VISITED_CONTAINERS.flatMap(list =>
    (pod[list] ?? []).map((container: Container | EphemeralContainer, i) => ({
      annotation: containerPrefix(naming) + container.name,
      field: `${field}.${list}[${i}]`,
      profile: container.securityContext?.seccompProfile,
    })),
  ),
];

/** Violations of the values of seccomp annotations; `field` is the field of the annotations. */
export function validateSeccompAnnotations(
  { annotations = {} }: ObjectMeta,
  field: string,
  naming: Naming,
): Violation[] {
  const [ofPod, prefix] = [podAnnotation(naming), containerPrefix(naming)];
  return Object.entries(annotations).flatMap(([key, value]) => {
    if (key !== ofPod && !key.startsWith(prefix)) return [];
    const where = `${field}.${key}`;
    if (value === 'unconfined' || DEFAULTS.includes(value)) return [];
    if (value.startsWith(LOCAL)) return checkLocalPath(value.slice(LOCAL.length), where);
    return [invalid(where, value, 'must be a valid seccomp profile')];
  });
}

/** Checks that a profile is the one of its annotation. */
function validateMatch(value: string, { type, localhostProfile }: SeccompProfile, field: string): Violation[] {
  const differs = [forbiddenField(`${field}.type`, 'seccomp type in annotation and field must match')];
  if (type === 'Unconfined') return value === 'unconfined' ? [] : differs;
  if (type === 'RuntimeDefault') return DEFAULTS.includes(value) ? [] : differs;
  if (type !== 'Localhost') return [];
  if (!value.startsWith(LOCAL)) return differs;
  return value === `${LOCAL}${localhostProfile ?? ''}` && localhostProfile
    ? []
    : [forbiddenField(`${field}.localhostProfile`, 'seccomp profile in annotation and field must match')];
}

/** Checks that the seccomp profiles of a pod are those of its annotations; `field` is the field of its spec. */
export const validateSeccompMatch = (
  { annotations = {} }: ObjectMeta,
  pod: PodSpec,
  field: string,
  naming: Naming,
): Violation[] =>
  profiledParts(pod, field, naming).flatMap(part => {
    const value = annotations[part.annotation];
    if (value === undefined || !part.profile) return [];
    return validateMatch(value, part.profile, `${part.field}.securityContext.seccompProfile`);
  });

/** The warning about a seccomp annotation, which has no effect; `field` is the field of the metadata. */
const seccompWarning = (
  { annotations = {} }: ObjectMeta,
  annotation: string,
  profile: SeccompProfile | undefined,
  field: string,
): string[] =>
  annotations[annotation] === undefined || profile
    ? []
    : [`${field}.annotations[${annotation}]: non-functional in v1.27+; use the "seccompProfile" field instead`];

/** Warnings about the seccomp annotation of a pod; `field` is the field of the metadata. */
export const podSeccompWarnings = (metadata: ObjectMeta, pod: PodSpec, field: string, naming: Naming): string[] =>
  seccompWarning(metadata, podAnnotation(naming), pod.securityContext?.seccompProfile, field);

/** Warnings about the seccomp annotation of a container. */
export const containerSeccompWarnings = (
  metadata: ObjectMeta,
  { name, securityContext }: Container | EphemeralContainer,
  field: string,
  naming: Naming,
): string[] => seccompWarning(metadata, containerPrefix(naming) + name, securityContext?.seccompProfile, field);
