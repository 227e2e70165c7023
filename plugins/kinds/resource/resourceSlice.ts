import { builtInKind } from '../../../core/api/resource.js';
import type { Column } from '../../../core/api/strategy.js';
import { stringAt } from '../../../core/model/record.js';
import { AGE, column, NAME, stringCell } from '../shared/columns.js';

const COLUMNS: readonly Column[] = [
  NAME,
  column('Node', stringCell('spec.nodeName')),
  column('Driver', stringCell('spec.driver')),
  column('Pool', stringCell('spec.pool.name')),
  AGE,
];

/** ResourceSlice. */
export const resourceSlice = builtInKind('resource.orchestrator.io/resourceslices', () => ({
  returnsDeletedObject: true,
  hasGeneration: true,
  selectableFields: new Map([
    ['spec.nodeName', object => stringAt(object, 'spec', 'nodeName')],
    ['spec.driver', object => stringAt(object, 'spec', 'driver')],
  ]),
  columns: COLUMNS,
}));
