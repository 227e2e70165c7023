import type { Frozen, ObjectMeta } from '../../../core/model/object.js';
import type { Naming } from '../../../core/naming.js';
import type { PodSpec } from '../../../kinds/v1.js';
import { type Check, type CheckedPod, CHECKS, type Finding } from './checks.js';
import { type Level, type LevelVersion, minorOf } from './policy.js';

/** The latest minor version in which a check changes: later ones, and `latest`, are the same. */
const LATEST = Math.max(...CHECKS.flatMap(({ versions }) => versions.map(([since]) => since)));

const formOf = ({ versions }: Check, minor: number) => versions.findLast(([since]) => since <= minor)?.[1];

/** The checks of a level in a minor version, in their order. */
function checksOf(level: Level, minor: number): readonly ((pod: CheckedPod) => Finding | undefined)[] {
  if (level === 'privileged') return [];
  const made = CHECKS.filter(check => check.level === 'baseline' || level === 'restricted').filter(
    check => formOf(check, minor) !== undefined,
  );
  const replaced = new Set(made.map(({ replaces }) => replaces));
  return made.filter(({ id }) => !replaced.has(id)).map(check => formOf(check, minor)!);
}

/** The checks of each level, by minor version. */
const BY_VERSION = Array.from({ length: LATEST + 1 }, (_, minor) => ({
  privileged: checksOf('privileged', minor),
  baseline: checksOf('baseline', minor),
  restricted: checksOf('restricted', minor),
}));

/** A pod, or the template of pods, as checks see it. */
export const checkedPod = (
  { annotations }: Pick<Frozen<ObjectMeta>, 'annotations'>,
  spec: Frozen<PodSpec>,
  naming: Naming,
  hasUserNamespaces: boolean,
): CheckedPod => ({
  annotations: annotations ?? {},
  spec,
  containers: [...(spec.initContainers ?? []), ...(spec.containers ?? []), ...(spec.ephemeralContainers ?? [])],
  naming,
  isRelaxed: hasUserNamespaces && spec.hostUsers === false,
});

/** All violations of a level by a pod, in the order of the checks. */
export function findingsOf({ level, version }: LevelVersion, pod: CheckedPod): readonly Finding[] {
  const minor = Math.min(minorOf(version) ?? LATEST, LATEST);
  return BY_VERSION[minor]![level].flatMap(check => check(pod) ?? []);
}

/** `reason (detail), reason (detail)`. */
export const detailText = (findings: readonly Finding[]): string =>
  findings.map(({ reason, detail }) => (detail === '' ? reason : `${reason} (${detail})`)).join(', ');

/** `reason, reason`. */
export const reasonText = (findings: readonly Finding[]): string => findings.map(({ reason }) => reason).join(', ');
