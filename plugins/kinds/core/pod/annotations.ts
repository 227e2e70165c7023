import type { AppArmorProfile, Pod } from '../../../../kinds/v1.js';
import type { StrategyContext } from '../../../../core/api/strategy.js';
import { isSemanticallyEqual } from '../../../../core/model/record.js';
import { forbiddenField, invalid, type Violation } from '../../../../core/model/refusal.js';
import type { Naming } from '../../../../core/naming.js';
import {
  appArmorPrefix,
  isWindows,
  LOCAL,
  namedContainers,
  profileOf,
  toAnnotation,
  validateAppArmorAnnotations,
} from '../../shared/podSpec/appArmor.js';
import { validateSeccompAnnotations } from '../../shared/podSpec/seccomp.js';
import { validateProfile } from '../../shared/podSpec/securityContext.js';

/** The annotation of pods that a node agent has read from a file. */
/** The annotation of mirror pods, which show the static pods of a node. */
export const mirrorAnnotation = (naming: Naming): string => naming.label('orchestrator.io/config.mirror');

/** The annotation with the cost of deleting a pod: controllers delete the pods of a set with the lowest cost first. */
const costAnnotation = (naming: Naming): string => naming.label('controller.orchestrator.io/pod-deletion-cost');

/** The profile for an annotation; undefined for one that no field can have. */
function toProfile(annotation: string): AppArmorProfile | undefined {
  if (annotation === 'unconfined') return { type: 'Unconfined' };
  if (annotation === 'runtime/default') return { type: 'RuntimeDefault' };
  if (!annotation.startsWith(LOCAL) || annotation === LOCAL) return undefined;
  const profile = { type: 'Localhost', localhostProfile: annotation.slice(LOCAL.length) };
  return validateProfile({ appArmorProfile: profile }, 'appArmorProfile', '').length === 0 ? profile : undefined;
}

/**
 * Adds annotations for the AppArmor profiles of a new pod, and profiles for its annotations, with a warning: nodes and
 * clients may know only one of the two forms.
 */
export function alignAppArmor(object: Pod, naming: Naming, { warn }: Pick<StrategyContext, 'warn'>): void {
  const pod = object.spec;
  if (isWindows(pod)) return;
  const ofPod = profileOf(pod);
  const annotations = { ...object.metadata.annotations };
  for (const { container, name } of namedContainers(pod, 'spec')) {
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
  found.push(...validateAppArmorAnnotations(object.metadata, pod, 'metadata.annotations', naming));
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
