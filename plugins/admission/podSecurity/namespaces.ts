import type { Pod } from '../../../kinds/v1.js';
import type { CheckedPod } from './checks.js';
import { findingsOf, reasonText } from './evaluate.js';
import { type LevelVersion, levelText } from './policy.js';
import { PODS_CHECKED } from '../../../core/limits.js';

/** Pods with the same violations. */
interface Violators {
  /** The first one by name. */
  readonly first: string;
  readonly count: number;
}

/** The pods in the order in which they are checked: one of each controller, then the others. */
function prioritize(pods: readonly Pod[]): readonly Pod[] {
  const seen = new Set<string>();
  const [firsts, others]: [Pod[], Pod[]] = [[], []];
  for (const pod of pods) {
    const owner = pod.metadata.ownerReferences?.find(({ controller }) => controller === true)?.uid;
    (owner !== undefined && seen.has(owner) ? others : firsts).push(pod);
    if (owner !== undefined) seen.add(owner);
  }
  return [...firsts, ...others];
}

const withOthers = ({ first, count }: Violators): string => {
  if (count === 1) return first;
  return `${first} (and ${count === 2 ? '1 other pod' : `${count - 1} other pods`})`;
};

/**
 * Warnings about the pods of a namespace that violate a level which is going to be enforced there. `pods` may be
 * only some of the `total` pods. `toCheck` returns undefined for pods that are exempt.
 */
export function warningsOfPods(
  namespace: string,
  level: LevelVersion,
  { pods, total }: { readonly pods: readonly Pod[]; readonly total: number },
  toCheck: (pod: Pod) => CheckedPod | undefined,
): readonly string[] {
  const violators = new Map<string, Violators>();
  const chosen = prioritize(pods).slice(0, PODS_CHECKED);
  for (const pod of chosen) {
    const checked = toCheck(pod);
    const reasons = checked ? reasonText(findingsOf(level, checked)) : '';
    if (reasons === '') continue;
    const name = pod.metadata.name ?? '';
    const { first = name, count = 0 } = violators.get(reasons) ?? {};
    violators.set(reasons, { first: [first, name].sort()[0]!, count: count + 1 });
  }
  const ofPods = [...violators].map(([reasons, found]) => `${withOthers(found)}: ${reasons}`).sort();
  return [
    ...(total > chosen.length
      ? [`new PodSecurity enforce level only checked against the first ${chosen.length} of ${total} existing pods`]
      : []),
    ...(ofPods.length > 0
      ? [`existing pods in namespace "${namespace}" violate the new PodSecurity enforce level "${levelText(level)}"`]
      : []),
    ...ofPods,
  ];
}
