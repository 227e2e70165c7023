import type { LabelSelector } from '../../../kinds/meta/v1.js';
import type { PodTemplateSpec, ReplicationController } from '../../../kinds/v1.js';
import type { ReplicaSet } from '../../../kinds/apps/v1.js';
import type { Column } from '../../../core/api/strategy.js';
import { AGE, type Cell, integerColumn, NAME, labelsText, selectorText, wideColumn } from './columns.js';

/** An object with a pod template: itself one, a workload, or a workload in a template of its own. */
export interface TemplateHolder {
  readonly template?: PodTemplateSpec;
  readonly spec?: Templated & { readonly jobTemplate?: { readonly spec: Templated } };
}

interface Templated {
  readonly template?: PodTemplateSpec;
  readonly selector?: LabelSelector | { [label: string]: string } | null;
}

/** The pod template of any kind that has one. */
const podTemplateIn = ({ template, spec }: TemplateHolder): PodTemplateSpec | undefined =>
  template ?? spec?.template ?? spec?.jobTemplate?.spec.template;

/** A member of each container of the template. */
export const containersCell =
  (name: 'name' | 'image'): Cell<TemplateHolder> =>
  object =>
    (podTemplateIn(object)?.spec.containers ?? []).map(container => container[name] ?? '').join(',');

const selectorCell: Cell<TemplateHolder> = ({ spec }) =>
  selectorOrLabelsText(spec?.selector ?? spec?.jobTemplate?.spec.selector);

/** A selector, or the labels of one, as text. */
const selectorOrLabelsText = (selector: Templated['selector']): string => {
  const { matchLabels, matchExpressions } = (selector ?? {}) as LabelSelector;
  return matchLabels || matchExpressions
    ? selectorText(selector as LabelSelector)
    : labelsText(selector as { [label: string]: string });
};

/** The names of the containers. */
export const CONTAINERS: Column<TemplateHolder> = wideColumn('Containers', containersCell('name'));

/** The images of the containers. */
export const IMAGES: Column<TemplateHolder> = wideColumn('Images', containersCell('image'));

/** The selector of the pods. */
export const SELECTOR: Column<TemplateHolder> = wideColumn('Selector', selectorCell);

/** An object that states how many replicas it should have, and how many it has. */
export interface Replicated {
  readonly spec: { readonly replicas?: number };
  readonly status?: { readonly replicas?: number; readonly readyReplicas?: number };
}

/** `ready/desired` replicas. */
export const readyReplicasCell: Cell<Replicated> = ({ spec, status }) =>
  `${status?.readyReplicas ?? 0}/${spec.replicas ?? 0}`;

/** Columns of ReplicaSets and ReplicationControllers. */
export const replicaSetColumns: readonly Column<ReplicaSet | ReplicationController>[] = [
  NAME,
  integerColumn('Desired', object => object.spec.replicas),
  integerColumn('Current', object => object.status?.replicas),
  integerColumn('Ready', object => object.status?.readyReplicas),
  AGE,
  CONTAINERS,
  IMAGES,
  SELECTOR,
];
