import { builtInKind } from '../../../core/api/resource.js';
import type { Column } from '../../../core/api/strategy.js';
import type { ApiObject } from '../../../core/model/object.js';
import { entriesAt, recordAt } from '../../../core/model/record.js';
import { invalid, type Violation } from '../../../core/model/refusal.js';
import { AGE, column, countCell, NAME } from '../shared/columns.js';
import { validateFrozen, measureValues, validateTotalSize } from '../shared/configData.js';

/** Checks that keys are valid, that each is in only one of the two maps, and the total size of the values. */
function validateConfigMap(object: ApiObject): Violation[] {
  const found: Violation[] = [];
  let bytes = measureValues(object, 'data', 'utf8', found);
  const binary = recordAt(object, 'binaryData');
  if (binary) {
    for (const [key] of entriesAt(object, 'data')) {
      if (Object.hasOwn(binary, key))
        found.push(invalid(`data[${key}]`, key, 'duplicate of key present in binaryData'));
    }
    bytes += measureValues(object, 'binaryData', 'base64', found);
  }
  return [...found, ...validateTotalSize(bytes, '[]')];
}

const COLUMNS: readonly Column[] = [NAME, column('Data', countCell('data', 'binaryData')), AGE];

/** ConfigMap. It cannot be changed once it is immutable. */
export const configMap = builtInKind('core/configmaps', () => ({
  validateCreate: validateConfigMap,
  validateUpdate: (object, old) => [
    ...validateFrozen(object, old, ['data', 'binaryData']),
    ...validateConfigMap(object),
  ],
  columns: COLUMNS,
}));
