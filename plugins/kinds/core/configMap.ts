import { builtInKind } from '../../../core/api/resource.js';
import type { Column } from '../../../core/api/strategy.js';
import type { ApiObject } from '../../../core/model/object.js';
import { entriesAt, recordAt } from '../../../core/model/record.js';
import { invalid, type Violation } from '../../../core/model/refusal.js';
import { AGE, column, countCell, NAME } from '../shared/columns.js';
import { frozenViolations, measured, tooLarge } from '../shared/configData.js';

function configMapViolations(object: ApiObject): Violation[] {
  const found: Violation[] = [];
  let bytes = measured(object, 'data', 'utf8', found);
  const binary = recordAt(object, 'binaryData');
  if (binary) {
    for (const [key] of entriesAt(object, 'data')) {
      if (Object.hasOwn(binary, key))
        found.push(invalid(`data[${key}]`, key, 'duplicate of key present in binaryData'));
    }
    bytes += measured(object, 'binaryData', 'base64', found);
  }
  return [...found, ...tooLarge(bytes, '[]')];
}

const COLUMNS: readonly Column[] = [NAME, column('Data', countCell('data', 'binaryData')), AGE];

/** Rules of ConfigMaps. */
export const configMap = builtInKind('core/configmaps', () => ({
  validateCreate: configMapViolations,
  validateUpdate: (object, old) => [
    ...frozenViolations(object, old, ['data', 'binaryData']),
    ...configMapViolations(object),
  ],
  columns: COLUMNS,
}));
