import { builtInKind } from '../../../core/api/resource.js';
import type { Column } from '../../../core/api/strategy.js';
import type { ApiObject } from '../../../core/model/object.js';
import { exactNumberAt, isAbsent } from '../../../core/model/record.js';
import { invalid, required, type Violation } from '../../../core/model/refusal.js';
import { AGE, type Cell, column, integerCell, NAME } from '../shared/columns.js';
import { validateImmutable } from '../shared/violations.js';

/** Checks that there is data and that the revision is not negative. */
const validateControllerRevision = (object: ApiObject): Violation[] => {
  const revision = exactNumberAt(object, 'revision') ?? 0;
  return [
    ...(isAbsent(object.data) ? [required('data', 'data is mandatory')] : []),
    ...(revision < 0 ? [invalid('revision', revision, 'must be greater than or equal to 0')] : []),
  ];
};

/** `kind.group/name` of the managing owner. */
const controllerCell: Cell = object => {
  const owner = object.metadata.ownerReferences?.find(reference => reference.controller);
  if (!owner) return '<none>';
  const slash = owner.apiVersion.indexOf('/');
  const group = slash < 0 ? '' : `.${owner.apiVersion.slice(0, slash)}`;
  return `${owner.kind.toLowerCase()}${group}/${owner.name}`;
};

const COLUMNS: readonly Column[] = [
  NAME,
  column('Controller', controllerCell),
  column('Revision', integerCell('revision')),
  AGE,
];

/** ControllerRevision: its data cannot change. */
export const controllerRevision = builtInKind('apps/controllerrevisions', () => ({
  validateCreate: validateControllerRevision,
  validateUpdate: (object, old) => [
    ...validateControllerRevision(object),
    ...validateImmutable(object, old, 'data', 'data'),
  ],
  columns: COLUMNS,
}));
