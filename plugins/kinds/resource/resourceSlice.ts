import type { ResourceSlice } from '../../../kinds/resource/v1beta1.js';
import { builtInKind } from '../../../core/api/resource.js';
import type { Column } from '../../../core/api/strategy.js';
import { AGE, column, NAME } from '../shared/columns.js';

const COLUMNS: readonly Column<ResourceSlice>[] = [
  NAME,
  column('Node', object => object.spec.nodeName ?? ''),
  column('Driver', object => object.spec.driver),
  column('Pool', object => object.spec.pool.name),
  AGE,
];

/** ResourceSlice. */
export const resourceSlice = builtInKind<ResourceSlice>('resource.orchestrator.io/resourceslices', () => ({
  returnsDeletedObject: true,
  hasGeneration: true,
  selectableFields: new Map([
    ['spec.nodeName', object => object.spec.nodeName ?? ''],
    ['spec.driver', object => object.spec.driver],
  ]),
  columns: COLUMNS,
}));
