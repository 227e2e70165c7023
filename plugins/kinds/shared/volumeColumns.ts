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

/** Access modes as their usual abbreviations, each once. */
export const accessModesText = (modes: unknown): string =>
  MODES.filter(([mode]) => stringsAt(modes).includes(mode))
    .map(([, short]) => short)
    .join(',');

export const phaseCell: Cell = object =>
  object.metadata.deletionTimestamp ? 'Terminating' : stringAt(object, 'status', 'phase');

/** The class named by the annotation of old, else by the field. */
const classCell =
  (annotation: string): Cell =>
  object =>
    object.metadata.annotations?.[annotation] ?? stringAt(object, 'spec', 'storageClassName');

const classNameCell =
  (annotations: readonly string[]): Cell =>
  object =>
    `${object.metadata.name ?? ''}${annotations.some(key => object.metadata.annotations?.[key] === 'true') ? ' (default)' : ''}`;

/** The class that volumes and claims are of. */
export const storageClassColumn = (naming: Naming): Column =>
  column('StorageClass', classCell(naming.label('volume.beta.orchestrator.io/storage-class')));

export const ATTRIBUTES_CLASS = column(
  'VolumeAttributesClass',
  scalarCell('spec.volumeAttributesClassName', '<unset>'),
);

export const VOLUME_MODE = wideColumn('VolumeMode', scalarCell('spec.volumeMode', '<unset>'));

/** The name of a class, with a mark at the default one; annotations are read in the server's naming. */
export const classNameColumn = (naming: Naming): Column => {
  const marks = ['storageclass.orchestrator.io/is-default-class', 'storageclass.beta.orchestrator.io/is-default-class'];
  return column('Name', classNameCell(marks.map(naming.label)), { format: 'name', description: NAME.description });
};
