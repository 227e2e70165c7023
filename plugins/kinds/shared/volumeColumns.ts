import type { Column } from '../../../core/api/strategy.js';
import { stringAt, stringsAt } from '../../../core/model/record.js';
import type { Naming } from '../../../core/naming.js';
import { type Cell, column, NAME, scalarCell, wideColumn } from './columns.js';

const MODES: readonly (readonly [string, string])[] = [
  ['ReadWriteOnce', 'RWO'],
  ['ReadOnlyMany', 'ROX'],
  ['ReadWriteMany', 'RWX'],
  ['ReadWriteOncePod', 'RWOP'],
];

/** Access modes in their usual abbreviations, without duplicates. */
export const accessModesText = (modes: unknown): string =>
  MODES.filter(([mode]) => stringsAt(modes).includes(mode))
    .map(([, short]) => short)
    .join(',');

/** The phase, or the text for an object that is being deleted. */
export const phaseCell: Cell = object =>
  object.metadata.deletionTimestamp ? 'Terminating' : stringAt(object, 'status', 'phase');

/** The deprecated annotation with the name of a class. */
export const CLASS_ANNOTATION = 'volume.beta.orchestrator.io/storage-class';

/** The class in the deprecated annotation, otherwise in the field. */
const classCell =
  (annotation: string): Cell =>
  object =>
    object.metadata.annotations?.[annotation] ?? stringAt(object, 'spec', 'storageClassName');

const classNameCell =
  (annotations: readonly string[]): Cell =>
  object =>
    `${object.metadata.name ?? ''}${annotations.some(key => object.metadata.annotations?.[key] === 'true') ? ' (default)' : ''}`;

/** The storage class of a volume or a claim. */
export const storageClassColumn = (naming: Naming): Column =>
  column('StorageClass', classCell(naming.label(CLASS_ANNOTATION)));

/** The attributes class of a volume or a claim. */
export const ATTRIBUTES_CLASS = column(
  'VolumeAttributesClass',
  scalarCell('spec.volumeAttributesClassName', '<unset>'),
);

/** The volume mode of a volume or a claim. */
export const VOLUME_MODE = wideColumn('VolumeMode', scalarCell('spec.volumeMode', '<unset>'));

/** The name of a class, with a mark if it is the default. Annotations are in the naming of the server. */
export const classNameColumn = (naming: Naming): Column => {
  const marks = ['storageclass.orchestrator.io/is-default-class', 'storageclass.beta.orchestrator.io/is-default-class'];
  return column('Name', classNameCell(marks.map(naming.label)), { format: 'name', description: NAME.description });
};
