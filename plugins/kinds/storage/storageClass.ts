import type { TopologySelectorTerm, TopologySelectorLabelRequirement } from '../../../kinds/v1.js';
import type { StorageClass } from '../../../kinds/storage/v1.js';
import { builtInKind } from '../../../core/api/resource.js';
import type { Column, StrategyContext } from '../../../core/api/strategy.js';
import { qualifiedName } from '../../../core/model/names.js';
import { isAbsent, isDeepEqual, isSemanticallyEqual } from '../../../core/model/record.js';
import { duplicate, forbiddenField, invalid, required, tooLong, type Violation } from '../../../core/model/refusal.js';
import type { Naming } from '../../../core/naming.js';
import { AGE, column } from '../shared/columns.js';
import { findRepeated } from '../shared/values/repeated.js';
import {
  toViolations,
  validateEach,
  validateImmutable,
  validateOneOf,
  validateRequired,
} from '../shared/violations.js';
import { classNameColumn } from '../shared/volumes/volumeColumns.js';
import { setIfAbsent } from '../shared/values/defaults.js';

/** The largest number of parameters. */
const MOST_PARAMETERS = 512;

/** The largest size of all parameters with their names, in bytes. */
const LONGEST_PARAMETERS = 256 * 1024;

/** Violations of the parameters of a class of volumes. */
function validateParameters(object: StorageClass): Violation[] {
  const parameters = Object.entries(object.parameters ?? {});
  if (parameters.length > MOST_PARAMETERS) return [tooLong('parameters', MOST_PARAMETERS)];
  const size = parameters.reduce((sum, [key, value]) => sum + Buffer.byteLength(key + String(value)), 0);
  return [
    ...parameters.filter(([key]) => key === '').map(([key]) => invalid('parameters', key, 'field can not be empty.')),
    ...(size > LONGEST_PARAMETERS ? [tooLong('parameters', LONGEST_PARAMETERS)] : []),
  ];
}

/** The values of a topology term by key, for comparison. */
type Term = ReadonlyMap<string, readonly string[]>;

function validateTopologyValues(expression: TopologySelectorLabelRequirement, field: string): Violation[] {
  const values = expression.values ?? [];
  if (values.length === 0) return [required(`${field}.values`)];
  const repeated = findRepeated(values);
  return values.flatMap((value, i) => (repeated[i] ? [duplicate(`${field}.values[${i}]`, value)] : []));
}

function validateTopologyTerm(term: TopologySelectorTerm, field: string): { violations: Violation[]; values: Term } {
  const values = new Map<string, readonly string[]>();
  const violations = validateEach(term, 'matchLabelExpressions', `${field}.matchLabelExpressions`, (expression, at) => {
    const key = expression.key;
    const twice = values.has(key) ? [duplicate(`${at}.key`, key)] : [];
    if (!values.has(key)) values.set(key, [...new Set(expression.values ?? [])].sort());
    return [...validateTopologyValues(expression, at), ...toViolations(`${at}.key`, key, qualifiedName(key)), ...twice];
  });
  return { violations, values };
}

/** Checks that no topology term is given twice or empty. */
function validateTopologies(object: StorageClass): Violation[] {
  const terms = object.allowedTopologies ?? [];
  const seen: object[] = [];
  return terms.flatMap((term, i) => {
    const field = `allowedTopologies[${i}]`;
    const { violations, values } = validateTopologyTerm(term, field);
    const shape = Object.fromEntries(values);
    const twice = seen.some(other => isDeepEqual(other, shape)) || values.size === 0;
    seen.push(shape);
    return [...violations, ...(twice ? [duplicate(`${field}.matchLabelExpressions`, '')] : [])];
  });
}

const toLowerCase = (object: StorageClass) => ({
  provisioner: object.provisioner.toLowerCase(),
});

/** Violations of a StorageClass. */
const validateClass = (object: StorageClass): Violation[] => [
  ...validateRequired(toLowerCase(object), 'provisioner', 'provisioner', qualifiedName),
  ...validateParameters(object),
  ...validateOneOf(object, 'reclaimPolicy', 'reclaimPolicy', ['Delete', 'Retain'], false),
  ...(isAbsent(object.volumeBindingMode)
    ? [required('volumeBindingMode')]
    : validateOneOf(object, 'volumeBindingMode', 'volumeBindingMode', ['Immediate', 'WaitForFirstConsumer'])),
  ...validateTopologies(object),
];

/** Only labels, annotations, mount options and volume expansion of a class can be changed. */
function validateClassUpdate(object: StorageClass, old: StorageClass, { emptied }: StrategyContext): Violation[] {
  const frozen = [
    ['provisioner', 'updates to provisioner are forbidden.'],
    ['reclaimPolicy', 'updates to reclaimPolicy are forbidden.'],
  ] as const;
  const found = frozen.flatMap(([member, why]) =>
    isSemanticallyEqual(object[member], old[member]) ? [] : [forbiddenField(member, why)],
  );
  return [
    // Absent parameters differ from an empty map.
    ...(isDeepEqual(object.parameters, old.parameters) && !emptied?.has('parameters')
      ? []
      : [forbiddenField('parameters', 'updates to parameters are forbidden.')]),
    ...found,
    ...validateImmutable(object, old, 'volumeBindingMode', 'volumeBindingMode'),
  ];
}

/** Annotations are in the naming of the server. */
const columnsIn = (naming: Naming): readonly Column<StorageClass>[] => [
  classNameColumn(naming),
  column('Provisioner', object => object.provisioner),
  column('ReclaimPolicy', object => object.reclaimPolicy || 'Delete'),
  column('VolumeBindingMode', object => object.volumeBindingMode || 'Immediate'),
  column('AllowVolumeExpansion', object => object.allowVolumeExpansion ?? false),
  AGE,
];

/** StorageClass. */
export const storageClass = builtInKind<StorageClass>('storage.orchestrator.io/storageclasses', naming => ({
  revalidatesName: 'first',
  returnsDeletedObject: true,
  applyDefaults: object => {
    setIfAbsent(object, 'reclaimPolicy', 'Delete');
    setIfAbsent(object, 'volumeBindingMode', 'Immediate');
  },
  validateCreate: validateClass,
  validateUpdate: (object, old, context) => [...validateClass(object), ...validateClassUpdate(object, old, context)],
  columns: columnsIn(naming),
}));
