import type { VolumeAttributesClass } from '../../../kinds/storage/v1beta1.js';
import { builtInKind } from '../../../core/api/resource.js';
import type { Column } from '../../../core/api/strategy.js';
import type { Naming } from '../../../core/naming.js';
import { AGE, column } from '../shared/columns.js';
import { classNameColumn } from '../shared/volumes/volumeColumns.js';

/** Annotations are in the naming of the server. */
const columnsIn = (naming: Naming): readonly Column<VolumeAttributesClass>[] => [
  classNameColumn(naming),
  column('DriverName', object => object.driverName),
  AGE,
];

/** VolumeAttributesClass. */
export const volumeAttributesClass = builtInKind<VolumeAttributesClass>(
  'storage.orchestrator.io/volumeattributesclasses',
  naming => ({
    returnsDeletedObject: true,
    columns: columnsIn(naming),
  }),
);
