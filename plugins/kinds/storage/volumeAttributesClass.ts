import { builtInKind } from '../../../core/api/resource.js';
import type { Column } from '../../../core/api/strategy.js';
import type { Naming } from '../../../core/naming.js';
import { AGE, column, stringCell } from '../shared/columns.js';
import { classNameColumn } from '../shared/volumeColumns.js';

/** Annotations are in the naming of the server. */
const columnsIn = (naming: Naming): readonly Column[] => [
  classNameColumn(naming),
  column('DriverName', stringCell('driverName')),
  AGE,
];

/** VolumeAttributesClass. */
export const volumeAttributesClass = builtInKind('storage.orchestrator.io/volumeattributesclasses', naming => ({
  returnsDeletedObject: true,
  columns: columnsIn(naming),
}));
