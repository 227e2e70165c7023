import type { Column } from '../../../core/api/strategy.js';
import type { ApiObject } from '../../../core/model/object.js';
import { numberAt, recordsAt, stringAt, valueAt } from '../../../core/model/record.js';
import { AGE, type Cell, integerColumn, NAME, selectorText, wideColumn } from './columns.js';

/** The pod template of any kind that has one. */
export const podTemplateIn = (object: ApiObject): unknown =>
  valueAt(object, 'template') ??
  valueAt(object, 'spec', 'template') ??
  valueAt(object, 'spec', 'jobTemplate', 'spec', 'template');

/** A member of each container of the template. */
export const containersCell =
  (name: string): Cell =>
  object =>
    recordsAt(podTemplateIn(object), 'spec', 'containers')
      .map(container => stringAt(container, name))
      .join(',');

const selectorCell: Cell = object =>
  selectorText(valueAt(object, 'spec', 'selector') ?? valueAt(object, 'spec', 'jobTemplate', 'spec', 'selector'));

/** The names of the containers. */
export const CONTAINERS = wideColumn('Containers', containersCell('name'));

/** The images of the containers. */
export const IMAGES = wideColumn('Images', containersCell('image'));

/** The selector of the pods. */
export const SELECTOR = wideColumn('Selector', selectorCell);

/** `ready/desired` replicas. */
export const readyReplicasCell: Cell = object =>
  `${numberAt(object, 'status', 'readyReplicas') ?? 0}/${numberAt(object, 'spec', 'replicas') ?? 0}`;

/** Columns of ReplicaSets and ReplicationControllers. */
export const replicaSetColumns: readonly Column[] = [
  NAME,
  integerColumn('Desired', 'spec.replicas'),
  integerColumn('Current', 'status.replicas'),
  integerColumn('Ready', 'status.readyReplicas'),
  AGE,
  CONTAINERS,
  IMAGES,
  SELECTOR,
];
