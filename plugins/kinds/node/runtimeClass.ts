import { builtInKind } from '../../../core/api/resource.js';
import type { Column } from '../../../core/api/strategy.js';
import { dns1123Label } from '../../../core/model/names.js';
import type { ApiObject } from '../../../core/model/object.js';
import { stringAt } from '../../../core/model/record.js';
import type { Violation } from '../../../core/model/refusal.js';
import { AGE, column, NAME, stringCell } from '../shared/columns.js';
import { toViolations, validateImmutable } from '../shared/violations.js';

const validateHandler = (object: ApiObject): Violation[] =>
  toViolations('handler', stringAt(object, 'handler'), dns1123Label(stringAt(object, 'handler')));

const COLUMNS: readonly Column[] = [NAME, column('Handler', stringCell('handler')), AGE];

/** RuntimeClass. Its handler is immutable. */
export const runtimeClass = builtInKind('node.orchestrator.io/runtimeclasses', () => ({
  allowCreateOnUpdate: true,
  allowAnyFinalizer: true,
  allowUnconditionalUpdate: false,
  validateCreate: validateHandler,
  validateUpdate: (object, old) => [
    ...validateHandler(object),
    ...validateImmutable(object, old, 'handler', 'handler'),
  ],
  columns: COLUMNS,
}));
