import type { Column } from '../../api/strategy.js';
import type { ApiObject } from '../../model/object.js';

const replicas = (object: ApiObject, part: 'spec' | 'status'): number =>
  (object[part] as { replicas?: number } | undefined)?.replicas ?? 0;

const base = { format: '', priority: 0 } as const;

const SCALE_COLUMNS: readonly Column[] = [
  {
    ...base,
    name: 'Name',
    type: 'string',
    description: 'Name of the scaled object.',
    cell: scale => scale.metadata.name ?? '',
  },
  {
    ...base,
    name: 'Desired',
    type: 'integer',
    description: 'Replicas asked for.',
    cell: scale => replicas(scale, 'spec'),
  },
  {
    ...base,
    name: 'Available',
    type: 'integer',
    description: 'Replicas observed.',
    cell: scale => replicas(scale, 'status'),
  },
];

/** Columns of the scale subresource of a kind with these columns. Of the kind's columns, only Age is shown. */
export const scaleColumns = (columns: readonly Column[] = []): readonly Column[] => [
  ...SCALE_COLUMNS,
  ...columns.filter(column => column.name === 'Age'),
];
