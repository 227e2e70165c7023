import type { ControllerRevision } from '../../../kinds/apps/v1.js';
import { builtInKind } from '../../../core/api/resource.js';
import type { Column } from '../../../core/api/strategy.js';
import { writeJson } from '../../../core/model/text/jsonText.js';
import { isAbsent, isDeepEqual, isRecord } from '../../../core/model/record.js';
import { invalid, required, Verbatim, type Violation } from '../../../core/model/refusal.js';
import { AGE, type Cell, column, NAME } from '../shared/columns.js';
import { validateNotNegative } from '../shared/violations.js';

const validateRevision = (object: ControllerRevision): Violation[] =>
  validateNotNegative(object, 'revision', 'revision');

/** Checks that there is data and that the revision is not negative. */
const validateControllerRevision = (object: ControllerRevision): Violation[] => [
  ...(isAbsent(object.data)
    ? [required('data', 'data is mandatory')]
    : isRecord(object.data)
      ? []
      : [required('data', 'data must be a valid JSON object')]),
  ...validateRevision(object),
];

/** Checks that the data is the same value: empty members count. */
const validateSameData = (object: ControllerRevision, old: ControllerRevision): Violation[] =>
  isDeepEqual(object.data ?? null, old.data ?? null)
    ? []
    : [
        invalid(
          'data',
          new Verbatim(`runtime.RawExtension{Raw:${writeJson(object.data ?? null)}}`),
          'field is immutable',
        ),
      ];

/** `kind.group/name` of the managing owner. */
const controllerCell: Cell<ControllerRevision> = object => {
  const owner = object.metadata.ownerReferences?.find(reference => reference.controller);
  if (!owner) return '<none>';
  const slash = owner.apiVersion.indexOf('/');
  const group = slash < 0 ? '' : `.${owner.apiVersion.slice(0, slash)}`;
  return `${owner.kind.toLowerCase()}${group}/${owner.name}`;
};

const COLUMNS: readonly Column<ControllerRevision>[] = [
  NAME,
  column('Controller', controllerCell),
  column('Revision', object => object.revision),
  AGE,
];

/** ControllerRevision: its data cannot change. */
export const controllerRevision = builtInKind<ControllerRevision>('apps/controllerrevisions', () => ({
  revalidatesName: true,
  validateCreate: validateControllerRevision,
  validateUpdate: (object, old) => [...validateRevision(object), ...validateSameData(object, old)],
  columns: COLUMNS,
}));
