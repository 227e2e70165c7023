import type { PodAffinityTerm, PodSpec, ResourceQuota, WeightedPodAffinityTerm } from '../../../../kinds/v1.js';
import type { Frozen } from '../../../../core/model/object.js';
import { qosClassOf } from '../../../../core/model/qosClass.js';

/** A scope of a quota, with the values of a scope that has values. */
export interface ScopeTerm {
  readonly scopeName: string;
  readonly operator: string;
  readonly values?: readonly string[];
}

/** The scopes of a quota, those of its selector last. */
export const scopesOf = ({ spec }: Frozen<ResourceQuota>): readonly ScopeTerm[] => [
  ...(spec.scopes ?? []).map(scopeName => ({ scopeName, operator: 'Exists' })),
  ...(spec.scopeSelector?.matchExpressions ?? []),
];

const isTerminating = ({ activeDeadlineSeconds }: Frozen<PodSpec>): boolean =>
  activeDeadlineSeconds !== undefined && activeDeadlineSeconds >= 0;

type Term = Frozen<PodAffinityTerm>;
type Preferred = readonly Frozen<WeightedPodAffinityTerm>[];

/** Whether a pod selects other pods by (anti-)affinity outside of its namespace. */
function hasCrossNamespaceAffinity({ affinity }: Frozen<PodSpec>): boolean {
  return [affinity?.podAffinity, affinity?.podAntiAffinity].some(rules => {
    const preferred: Preferred = rules?.preferredDuringSchedulingIgnoredDuringExecution ?? [];
    const required: readonly Term[] = rules?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
    const terms = [...required, ...preferred.map(({ podAffinityTerm }) => podAffinityTerm)];
    return terms.some(term => (term.namespaces?.length ?? 0) > 0 || term.namespaceSelector !== undefined);
  });
}

/** Whether the priority class of a pod is selected. A pod without one is in none. */
function hasPriorityClass({ priorityClassName = '' }: Frozen<PodSpec>, { operator, values = [] }: ScopeTerm): boolean {
  switch (operator) {
    case 'Exists':
      return priorityClassName !== '';
    case 'DoesNotExist':
      return priorityClassName === '';
    case 'In':
      return priorityClassName !== '' && values.includes(priorityClassName);
    default:
      return !(priorityClassName !== '' && values.includes(priorityClassName));
  }
}

/** Whether a pod is in a scope. */
export function isInScope(pod: Frozen<PodSpec>, term: ScopeTerm): boolean {
  switch (term.scopeName) {
    case 'Terminating':
      return isTerminating(pod);
    case 'NotTerminating':
      return !isTerminating(pod);
    case 'BestEffort':
      return qosClassOf(pod) === 'BestEffort';
    case 'NotBestEffort':
      return qosClassOf(pod) !== 'BestEffort';
    case 'PriorityClass':
      return hasPriorityClass(pod, term);
    case 'CrossNamespacePodAffinity':
      return hasCrossNamespaceAffinity(pod);
    default:
      return false;
  }
}
