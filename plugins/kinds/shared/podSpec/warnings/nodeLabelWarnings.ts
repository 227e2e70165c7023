import type { NodeSelector, NodeSelectorTerm, PodSpec, TopologySpreadConstraint } from '../../../../../kinds/v1.js';
import type { Naming } from '../../../../../core/naming.js';

/** Labels of nodes that have newer names, with the release that deprecated them. */
export const OLD_LABELS = [
  ['beta.orchestrator.io/arch', 'orchestrator.io/arch', 'v1.14'],
  ['beta.orchestrator.io/os', 'orchestrator.io/os', 'v1.14'],
  ['failure-domain.beta.orchestrator.io/region', 'topology.orchestrator.io/region', 'v1.17'],
  ['failure-domain.beta.orchestrator.io/zone', 'topology.orchestrator.io/zone', 'v1.17'],
  ['beta.orchestrator.io/instance-type', 'node.orchestrator.io/instance-type', 'v1.17'],
] as const;

/** The text of the warning about a deprecated label of nodes; undefined for other labels. */
const oldNodeLabelText = (label: string, naming: Naming): string | undefined => {
  const [, name, release] = OLD_LABELS.find(([old]) => naming.label(old) === label) ?? [];
  return name && `deprecated since ${release}; use ${JSON.stringify(naming.label(name))} instead`;
};

const keyWarnings = (label: string, field: string, naming: Naming): string[] => {
  const why = oldNodeLabelText(label, naming);
  return why === undefined ? [] : [`${field}: ${label} is ${why}`];
};

const termWarnings = (term: NodeSelectorTerm, field: string, naming: Naming): string[] =>
  (term.matchExpressions ?? []).flatMap((expression, i) =>
    keyWarnings(expression.key, `${field}.matchExpressions[${i}].key`, naming),
  );

const REQUIRED = 'requiredDuringSchedulingIgnoredDuringExecution';
const PREFERRED = 'preferredDuringSchedulingIgnoredDuringExecution';

/** Warnings about deprecated labels in the terms of a selector of nodes. */
export const nodeSelectorWarnings = (selector: NodeSelector | undefined, field: string, naming: Naming): string[] =>
  (selector?.nodeSelectorTerms ?? []).flatMap((term, i) =>
    termWarnings(term, `${field}.nodeSelectorTerms[${i}]`, naming),
  );

/** Warnings about deprecated labels by which a pod selects nodes. */
export function nodeLabelWarnings(pod: PodSpec, field: string, naming: Naming): string[] {
  const affinity = pod.affinity?.nodeAffinity;
  const where = `${field}.affinity.nodeAffinity`;
  return [
    ...Object.entries(pod.nodeSelector ?? {}).flatMap(([label]) => {
      const why = oldNodeLabelText(label, naming);
      return why === undefined ? [] : [`${field}.nodeSelector[${label}]: ${why}`];
    }),
    ...nodeSelectorWarnings(affinity?.[REQUIRED], `${where}.${REQUIRED}`, naming),
    ...(affinity?.[PREFERRED] ?? []).flatMap((wish, i) =>
      termWarnings(wish.preference, `${where}.${PREFERRED}[${i}].preference`, naming),
    ),
  ];
}

/** Warnings about a deprecated label in a topology spread constraint. */
export const topologyKeyWarnings = (spread: TopologySpreadConstraint, field: string, naming: Naming): string[] =>
  keyWarnings(spread.topologyKey, `${field}.topologyKey`, naming);
