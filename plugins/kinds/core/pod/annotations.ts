import type { AppArmorProfile, Container, EphemeralContainer, Pod, PodSpec } from '../../../../kinds/v1.js';
import type { StrategyContext } from '../../../../core/api/strategy.js';
import { isAbsent, isSemanticallyEqual } from '../../../../core/model/record.js';
import { forbiddenField, invalid, type Violation } from '../../../../core/model/refusal.js';
import type { Naming } from '../../../../core/naming.js';
import { validateSeccompAnnotations } from '../../shared/podSpec/seccomp.js';
import { validateProfile } from '../../shared/podSpec/securityContext.js';

/** Annotations with this prefix and the name of a container have the AppArmor profile that the field replaced. */
const appArmorPrefix = (naming: Naming): string => naming.label('container.apparmor.security.beta.orchestrator.io/');

/** The annotation of pods that a node agent has read from a file. */
/** The annotation of mirror pods, which show the static pods of a node. */
export const mirrorAnnotation = (naming: Naming): string => naming.label('orchestrator.io/config.mirror');

/** The annotation with the cost of deleting a pod: controllers delete the pods of a set with the lowest cost first. */
const costAnnotation = (naming: Naming): string => naming.label('controller.orchestrator.io/pod-deletion-cost');

const LISTS = ['initContainers', 'containers', 'ephemeralContainers'] as const;

interface NamedContainer {
  readonly container: Container | EphemeralContainer;
  readonly name: string;
  readonly field: string;
}

const containersOf = (pod: PodSpec): NamedContainer[] =>
  LISTS.flatMap(list =>
    (pod[list] ?? []).map((container: Container | EphemeralContainer, i) => ({
      container,
      name: container.name,
      field: `spec.${list}[${i}]`,
    })),
  );

const LOCAL = 'localhost/';

/** The annotation for a profile; empty for an invalid one. */
function toAnnotation(profile: Partial<AppArmorProfile>): string {
  const { type, localhostProfile } = profile;
  if (type === 'Unconfined') return 'unconfined';
  if (type === 'RuntimeDefault') return 'runtime/default';
  return type === 'Localhost' && !isAbsent(localhostProfile) ? LOCAL + localhostProfile : '';
}

/** The profile for an annotation; undefined for one that no field can have. */
function toProfile(annotation: string): AppArmorProfile | undefined {
  if (annotation === 'unconfined') return { type: 'Unconfined' };
  if (annotation === 'runtime/default') return { type: 'RuntimeDefault' };
  if (!annotation.startsWith(LOCAL) || annotation === LOCAL) return undefined;
  const profile = { type: 'Localhost', localhostProfile: annotation.slice(LOCAL.length) };
  return validateProfile({ appArmorProfile: profile }, 'appArmorProfile', '').length === 0 ? profile : undefined;
}

const profileOf = (owner: Pick<PodSpec | Container, 'securityContext'>): AppArmorProfile | undefined =>
  owner.securityContext?.appArmorProfile;

const isWindows = (pod: PodSpec): boolean => (pod.os?.name ?? '') === 'windows';

/**
 * Adds annotations for the AppArmor profiles of a new pod, and profiles for its annotations, with a warning: nodes and
 * clients may know only one of the two forms.
 */
export function alignAppArmor(object: Pod, naming: Naming, { warn }: Pick<StrategyContext, 'warn'>): void {
  const pod = object.spec;
  if (isWindows(pod)) return;
  const ofPod = profileOf(pod);
  const annotations = { ...object.metadata.annotations };
  for (const { container, name } of containersOf(pod)) {
    const key = appArmorPrefix(naming) + name;
    const own = profileOf(container);
    const annotation = annotations[key];
    if (annotation === undefined) {
      const text = toAnnotation(own ?? ofPod ?? {});
      if (text !== '') annotations[key] = text;
      continue;
    }
    if (own) continue;
    const profile = toProfile(annotation);
    if (profile && isSemanticallyEqual(profile, ofPod)) continue;
    if (profile) (container.securityContext ??= {}).appArmorProfile = profile;
    warn?.(`metadata.annotations[${key}]: deprecated since v1.30; use the "appArmorProfile" field instead`);
  }
  if (Object.keys(annotations).length > 0) object.metadata.annotations = annotations;
}

/** Checks that the profiles of a new pod are those of its annotations. */
export function validateAppArmorMatch(object: Pod, naming: Naming): Violation[] {
  const pod = object.spec;
  if (isWindows(pod)) return [];
  return containersOf(pod).flatMap(({ container, name, field }) => {
    const annotation = object.metadata.annotations?.[appArmorPrefix(naming) + name];
    const profile = profileOf(container) ?? profileOf(pod);
    if (annotation === undefined || !profile) return [];
    const where = `${field}.securityContext.appArmorProfile`;
    const expected = toAnnotation(profile);
    if (annotation === expected) return [];
    return profile.type === 'Localhost' && annotation.startsWith(LOCAL)
      ? [forbiddenField(`${where}.localhostProfile`, 'apparmor profile in annotation and field must match')]
      : [forbiddenField(`${where}.type`, 'apparmor type in annotation and field must match')];
  });
}

const isKnownForm = (profile: string): boolean =>
  ['', 'unconfined', 'runtime/default'].includes(profile) || profile.startsWith(LOCAL);

/** Integers as Go prints them. */
const INTEGER = /^(?:0|-?[1-9]\d*)$/;

const isInt32 = (text: string): boolean => INTEGER.test(text) && Number(text) === (Number(text) | 0);

/** Violations of the annotations that have a meaning for pods. */
export function validatePodAnnotations(object: Pod, naming: Naming): Violation[] {
  const [pod, annotations] = [object.spec, object.metadata.annotations ?? {}];
  const [mirror, cost] = [mirrorAnnotation(naming), costAnnotation(naming)];
  const found: Violation[] = [];
  const fieldOf = (key: string): string => `metadata.annotations[${key}]`;
  if (annotations[mirror] !== undefined && (pod.nodeName ?? '') === '')
    found.push(invalid(fieldOf(mirror), annotations[mirror], 'must set spec.nodeName if mirror pod annotation is set'));
  if (annotations[cost] !== undefined && !isInt32(annotations[cost]))
    found.push(invalid(fieldOf(cost), annotations[cost], 'must be a 32bit integer'));
  found.push(...validateSeccompAnnotations(object.metadata, 'metadata.annotations', naming));
  const names = new Set(containersOf(pod).map(({ name }) => name));
  const prefix = appArmorPrefix(naming);
  for (const [key, profile] of Object.entries(annotations).filter(([name]) => name.startsWith(prefix))) {
    const name = key.slice(prefix.length);
    if (!names.has(name)) found.push(invalid(fieldOf(key), name, 'container not found'));
    if (!isKnownForm(profile))
      found.push(invalid(fieldOf(key), profile, `invalid AppArmor profile name: ${JSON.stringify(profile)}`));
  }
  return found;
}

/** Checks that an update keeps the annotations that only a new pod can have. */
export function validateAnnotationUpdate(object: Pod, old: Pod, naming: Naming): Violation[] {
  const [now, before] = [object.metadata.annotations ?? {}, old.metadata.annotations ?? {}];
  const nameOf = (key: string): string | undefined => {
    if (key === mirrorAnnotation(naming)) return 'mirror pod annotation';
    return key.startsWith(appArmorPrefix(naming)) ? 'AppArmor annotations' : undefined;
  };
  const refuse = (keys: readonly string[], verb: string): Violation[] =>
    keys.flatMap(key => {
      const name = nameOf(key);
      return name === undefined ? [] : [forbiddenField(`metadata.annotations[${key}]`, `may not ${verb} ${name}`)];
    });
  return [
    ...refuse(
      Object.keys(before).filter(key => now[key] !== before[key]),
      'remove or update',
    ),
    ...refuse(
      Object.keys(now).filter(key => before[key] === undefined),
      'add',
    ),
  ];
}
