import { builtInKind } from '../../../core/api/resource.js';
import type { Column } from '../../../core/api/strategy.js';
import { setDefault, stringAt } from '../../../core/model/record.js';
import { forbiddenField, invalid } from '../../../core/model/refusal.js';
import { AGE, booleanCell, column, integerColumn, NAME, stringCell } from '../shared/columns.js';

/** Classes that may have a reserved name and a reserved value. */
const SYSTEM = new Set(['system-cluster-critical', 'system-node-critical']);

const COLUMNS: readonly Column[] = [
  NAME,
  integerColumn('Value', 'value'),
  column('Global-Default', booleanCell('globalDefault'), { type: 'boolean' }),
  AGE,
  column('PreemptionPolicy', stringCell('preemptionPolicy')),
];

/** PriorityClass. Its value and its preemption policy are immutable. */
export const priorityClass = builtInKind('scheduling.orchestrator.io/priorityclasses', () => ({
  hasGeneration: true,
  changesGeneration: () => false,
  applyDefaults: object => setDefault(object, 'preemptionPolicy', 'PreemptLowerPriority'),
  validateCreate: object => {
    const name = object.metadata.name ?? '';
    if (name.startsWith('system-') && !SYSTEM.has(name)) {
      return [
        forbiddenField(
          'metadata.name',
          `priority class names with 'system-' prefix are reserved for system use only. error: ${name} is not a known system priority class`,
        ),
      ];
    }
    const value = Number(object.value ?? 0);
    return SYSTEM.has(name) || value <= 1000000000
      ? []
      : [forbiddenField('value', 'maximum allowed value of a user defined priority is 1000000000')];
  },
  validateUpdate: (object, old) => [
    ...(Number(object.value ?? 0) === Number(old.value ?? 0)
      ? []
      : [forbiddenField('value', 'may not be changed in an update.')]),
    ...(stringAt(object, 'preemptionPolicy') === stringAt(old, 'preemptionPolicy')
      ? []
      : [invalid('preemptionPolicy', object.preemptionPolicy, 'field is immutable')]),
  ],
  columns: COLUMNS,
}));
