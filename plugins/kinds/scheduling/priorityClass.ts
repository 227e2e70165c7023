import type { PriorityClass } from '../../../kinds/scheduling/v1.js';
import { builtInKind } from '../../../core/api/resource.js';
import type { Column } from '../../../core/api/strategy.js';
import { forbiddenField, invalid, required, type Violation } from '../../../core/model/refusal.js';
import { AGE, column, integerColumn, NAME } from '../shared/columns.js';
import { validateOneOf } from '../shared/violations.js';
import { setIfAbsent } from '../shared/values/defaults.js';

/** The classes that may have a reserved name, with their values. */
const SYSTEM: ReadonlyMap<string, number> = new Map([
  ['system-cluster-critical', 2000000000],
  ['system-node-critical', 2000001000],
]);

const HIGHEST_VALUE = 1000000000;

const RESERVED = "priority class names with 'system-' prefix are reserved for system use only. error: ";

/** Returns why a class may not have its reserved name; undefined if it may. */
function reservedComplaint(object: PriorityClass, name: string): string | undefined {
  const value = SYSTEM.get(name);
  if (value === undefined) return `${name} is not a known system priority class`;
  if (object.value !== value) return `value of ${name} PriorityClass must be ${value}`;
  return object.globalDefault === true ? `globalDefault of ${name} PriorityClass must be false` : undefined;
}

/** Checks that reserved names and values are used by the classes of the system only. */
function validateReserved(object: PriorityClass): Violation[] {
  const name = object.metadata.name ?? '';
  if (name.startsWith('system-')) {
    const why = reservedComplaint(object, name);
    return why === undefined ? [] : [forbiddenField('metadata.name', RESERVED + why)];
  }
  return object.value <= HIGHEST_VALUE
    ? []
    : [forbiddenField('value', `maximum allowed value of a user defined priority is ${HIGHEST_VALUE}`)];
}

/** Violations of a new PriorityClass. */
const validatePriorityClass = (object: PriorityClass): Violation[] => [
  ...validateReserved(object),
  ...((object.preemptionPolicy ?? '') === ''
    ? [required('preemptionPolicy')]
    : validateOneOf(object, 'preemptionPolicy', 'preemptionPolicy', ['PreemptLowerPriority', 'Never'])),
];

const COLUMNS: readonly Column<PriorityClass>[] = [
  NAME,
  integerColumn('Value', object => object.value),
  column('Global-Default', object => object.globalDefault ?? false, { type: 'boolean' }),
  AGE,
  column('PreemptionPolicy', object => object.preemptionPolicy ?? ''),
];

/** PriorityClass. Its value and its preemption policy are immutable. */
export const priorityClass = builtInKind<PriorityClass>('scheduling.orchestrator.io/priorityclasses', () => ({
  hasGeneration: true,
  changesGeneration: () => false,
  applyDefaults: object => setIfAbsent(object, 'preemptionPolicy', 'PreemptLowerPriority'),
  validateCreate: validatePriorityClass,
  validateUpdate: (object, old) => [
    ...(Number(object.value) === Number(old.value)
      ? []
      : [forbiddenField('value', 'may not be changed in an update.')]),
    ...((object.preemptionPolicy ?? '') === (old.preemptionPolicy ?? '')
      ? []
      : [invalid('preemptionPolicy', object.preemptionPolicy, 'field is immutable')]),
  ],
  columns: COLUMNS,
}));
