import { type Frozen, isSemanticallyEqual, type Naming } from '../../../../core/api/index.js';
import type { Node } from '../../../../kinds/v1.js';
import { forbid, nameOf, type Restriction } from './forbid.js';

type Labels = { readonly [key: string]: string };

/** Labels of the system that a node sets itself. */
const OWN_LABELS = [
  'orchestrator.io/hostname',
  'orchestrator.io/os',
  'orchestrator.io/arch',
  'beta.orchestrator.io/os',
  'beta.orchestrator.io/arch',
  'beta.orchestrator.io/instance-type',
  'node.orchestrator.io/instance-type',
  'failure-domain.beta.orchestrator.io/zone',
  'failure-domain.beta.orchestrator.io/region',
  'topology.orchestrator.io/zone',
  'topology.orchestrator.io/region',
];

const isIn = (domain: string, ...domains: readonly string[]): boolean =>
  domains.some(one => domain === one || domain.endsWith(`.${one}`));

/** The labels with other values, or on one side only. */
function changedLabels(labels: Labels = {}, before: Labels = {}): readonly string[] {
  const keys = new Set([...Object.keys(labels), ...Object.keys(before)]);
  const labelIn = (of: Labels, key: string) => (Object.hasOwn(of, key) ? of[key] : undefined);
  return [...keys].filter(key => labelIn(labels, key) !== labelIn(before, key));
}

/** Whether only others may set a label: a label for the isolation of workloads, or an unknown label of the system. */
function labelRule(naming: Naming): (label: string) => boolean {
  const own = new Set(OWN_LABELS.map(naming.label));
  const domainOf = (neutral: string): string => naming.label(`${neutral}/x`).slice(0, -2);
  const isolation = domainOf('node-restriction.orchestrator.io');
  const system = [domainOf('orchestrator.io'), naming.group('orchestrator.io')];
  const ofNodes = [domainOf('node.orchestrator.io'), domainOf('kubelet.orchestrator.io')];
  return label => {
    const domain = label.includes('/') ? label.slice(0, label.indexOf('/')) : '';
    if (isIn(domain, isolation)) return true;
    return isIn(domain, ...system) && !isIn(domain, ...ofNodes) && !own.has(label);
  };
}

/**
 * A node may write its own node, without taints after registration, labels for isolation, owners and configuration
 * sources.
 */
export function restrictNode(naming: Naming): Restriction {
  const isReserved = labelRule(naming);
  return restricted => {
    const { change, object, node } = restricted;
    const name = nameOf(restricted);
    const who = `node ${JSON.stringify(node)}`;
    if (name !== node) forbid(restricted, `${who} is not allowed to modify node ${JSON.stringify(name)}`);
    if (!object) return;
    const { metadata, spec } = object as Frozen<Node>;
    const old = change.old as Frozen<Node> | undefined;
    const reserved = changedLabels(metadata.labels, old?.metadata.labels).filter(isReserved).sort().join(', ');
    if (!old) {
      if (spec.configSource) forbid(restricted, `${who} is not allowed to create pods with a non-nil configSource`);
      if (reserved) forbid(restricted, `${who} is not allowed to set the following labels: ${reserved}`);
      return;
    }
    if (spec.configSource && !isSemanticallyEqual(spec.configSource, old.spec.configSource))
      forbid(restricted, `${who} is not allowed to update configSource to a new non-nil configSource`);
    if (!isSemanticallyEqual(spec.taints, old.spec.taints))
      forbid(restricted, `${who} is not allowed to modify taints`);
    if (reserved) forbid(restricted, `is not allowed to modify labels: ${reserved}`);
    if (!isSemanticallyEqual(metadata.ownerReferences, old.metadata.ownerReferences))
      forbid(restricted, `${who} is not allowed to modify ownerReferences`);
  };
}
