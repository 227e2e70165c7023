import type { ConfigMap } from '../../../kinds/v1.js';
import { builtInKind } from '../../../core/api/resource.js';
import type { Column } from '../../../core/api/strategy.js';
import { invalid, type Violation } from '../../../core/model/refusal.js';
import { countOf, AGE, column, NAME } from '../shared/columns.js';
import { validateFrozen, measureValues, validateTotalSize } from '../shared/configData.js';

/** Checks that keys are valid, that each is in only one of the two maps, and the total size of the values. */
function validateConfigMap(object: ConfigMap): Violation[] {
  const found: Violation[] = [];
  let bytes = measureValues(object.data, 'data', 'utf8', found);
  const binary = object.binaryData;
  if (binary) {
    for (const [key] of Object.entries(object.data ?? {})) {
      if (Object.hasOwn(binary, key))
        found.push(invalid(`data[${key}]`, key, 'duplicate of key present in binaryData'));
    }
    bytes += measureValues(binary, 'binaryData', 'base64', found);
  }
  return [...found, ...validateTotalSize(bytes, '[]')];
}

const COLUMNS: readonly Column<ConfigMap>[] = [
  NAME,
  column('Data', object => countOf(object.data, object.binaryData)),
  AGE,
];

/** ConfigMap. It cannot be changed once it is immutable. */
export const configMap = builtInKind<ConfigMap>('core/configmaps', () => ({
  revalidatesName: true,
  validateCreate: validateConfigMap,
  validateUpdate: (object, old, context) => [
    ...validateFrozen(object, old, ['data', 'binaryData'], 'binaryData', context),
    ...validateConfigMap(object),
  ],
  columns: COLUMNS,
}));
