import type { PersistentVolume, PersistentVolumeClaim } from '../../../../kinds/v1.js';
import type { OneOf } from '../../../../core/model/scalars.js';
import type { Column } from '../../../../core/api/strategy.js';
import type { Naming } from '../../../../core/naming.js';
import { scalarText, type Cell, column, NAME, wideColumn } from '../columns.js';

const MODES: readonly (readonly [string, string])[] = [
  ['ReadWriteOnce', 'RWO'],
  ['ReadOnlyMany', 'ROX'],
  ['ReadWriteMany', 'RWX'],
  ['ReadWriteOncePod', 'RWOP'],
];

/** Access modes in their usual abbreviations, without duplicates. */
export const accessModesText = (
  modes: OneOf<'ReadOnlyMany' | 'ReadWriteMany' | 'ReadWriteOnce' | 'ReadWriteOncePod'>[] | undefined,
): string =>
  MODES.filter(([mode]) => (modes ?? []).includes(mode))
    .map(([, short]) => short)
    .join(',');

/** A volume or a claim. */
type VolumeObject = PersistentVolume | PersistentVolumeClaim;

/** The phase, or the text for an object that is being deleted. */
export const phaseCell: Cell<VolumeObject> = object =>
  object.metadata.deletionTimestamp ? 'Terminating' : (object.status?.phase ?? '');

/** The deprecated annotation with the name of a class. */
export const CLASS_ANNOTATION = 'volume.beta.orchestrator.io/storage-class';

/** The class in the deprecated annotation, otherwise in the field. */
const classCell =
  (annotation: string): Cell<VolumeObject> =>
  object =>
    object.metadata.annotations?.[annotation] ?? object.spec.storageClassName ?? '';

const classNameCell =
  (annotations: readonly string[]): Cell =>
  object =>
    `${object.metadata.name ?? ''}${annotations.some(key => object.metadata.annotations?.[key] === 'true') ? ' (default)' : ''}`;

/** The storage class of a volume or a claim. */
export const storageClassColumn = (naming: Naming): Column<VolumeObject> =>
  column('StorageClass', classCell(naming.label(CLASS_ANNOTATION)));

/** The attributes class of a volume or a claim. */
export const ATTRIBUTES_CLASS: Column<VolumeObject> = column('VolumeAttributesClass', object =>
  scalarText(object.spec.volumeAttributesClassName, '<unset>'),
);

/** The volume mode of a volume or a claim. */
export const VOLUME_MODE: Column<VolumeObject> = wideColumn('VolumeMode', object =>
  scalarText(object.spec.volumeMode, '<unset>'),
);

/** The name of a class, with a mark if it is the default. Annotations are in the naming of the server. */
export const classNameColumn = (naming: Naming): Column => {
  const marks = ['storageclass.orchestrator.io/is-default-class', 'storageclass.beta.orchestrator.io/is-default-class'];
  return column('Name', classNameCell(marks.map(naming.label)), { format: 'name', description: NAME.description });
};
