import { builtInKind } from '../../../../core/api/resource.js';
import type { Column, StrategyContext } from '../../../../core/api/strategy.js';
import type { ApiObject } from '../../../../core/model/object.js';
import { entriesAt, setDefault, stringAt, valueAt } from '../../../../core/model/record.js';
import { invalid, required, type Violation } from '../../../../core/model/refusal.js';
import type { Naming } from '../../../../core/naming.js';
import { keyPairProblem } from './keyPair.js';
import { AGE, column, countCell, NAME, stringCell } from '../../shared/columns.js';
import { validateFrozen, measureValues, validateTotalSize } from '../../shared/configData.js';

const hasKey = (object: ApiObject, key: string): boolean => valueAt(object, 'data', key) !== undefined;

/** Checks that the keys required by a type exist. */
const validateKeys = (object: ApiObject, ...keys: string[]): Violation[] =>
  keys.filter(key => !hasKey(object, key)).map(key => required(`data[${key}]`));

/** The value of a key, decoded from base64. */
const decodedText = (object: ApiObject, key: string): string =>
  Buffer.from(stringAt(object, 'data', key), 'base64').toString('utf8');

/** Checks that the value of a key exists and is a JSON object. Violations do not contain the value. */
function validateJsonObject(object: ApiObject, key: string): Violation[] {
  if (!hasKey(object, key)) return validateKeys(object, key);
  const wrong = [invalid(`data[${key}]`, '<secret contents redacted>', 'the value must be a JSON object')];
  try {
    const value: unknown = JSON.parse(decodedText(object, key));
    return typeof value === 'object' && !Array.isArray(value) ? [] : wrong;
  } catch {
    return wrong;
  }
}

/** Checks of the data by type of Secret, in the naming of the server. */
function typeValidators(naming: Naming): ReadonlyMap<string, (object: ApiObject) => Violation[]> {
  const account = naming.label('orchestrator.io/service-account.name');
  return new Map([
    [
      naming.label('orchestrator.io/service-account-token'),
      ({ metadata }) => (metadata.annotations?.[account] ? [] : [required(`metadata.annotations[${account}]`)]),
    ],
    [naming.label('orchestrator.io/dockercfg'), object => validateJsonObject(object, '.dockercfg')],
    [naming.label('orchestrator.io/dockerconfigjson'), object => validateJsonObject(object, '.dockerconfigjson')],
    [
      naming.label('orchestrator.io/basic-auth'),
      object =>
        hasKey(object, 'username') || hasKey(object, 'password') ? [] : validateKeys(object, 'username', 'password'),
    ],
    [
      naming.label('orchestrator.io/ssh-auth'),
      object => (stringAt(object, 'data', 'ssh-privatekey') ? [] : [required('data[ssh-privatekey]')]),
    ],
    [naming.label('orchestrator.io/tls'), object => validateKeys(object, 'tls.crt', 'tls.key')],
  ]);
}

const COLUMNS: readonly Column[] = [NAME, column('Type', stringCell('type')), column('Data', countCell('data')), AGE];

/** Secret. `stringData` can only be written, and is stored in `data`. */
export const secret = builtInKind('core/secrets', naming => {
  const types = typeValidators(naming);
  const pair = naming.label('orchestrator.io/tls');
  const validateSecret = (object: ApiObject, context: StrategyContext): Violation[] => {
    const found: Violation[] = [];
    const bytes = measureValues(object, 'data', 'base64', found);
    found.push(...validateTotalSize(bytes, 'data'), ...(types.get(stringAt(object, 'type'))?.(object) ?? []));
    if (stringAt(object, 'type') === pair && found.length === 0) {
      const problem = keyPairProblem(decodedText(object, 'tls.crt'), decodedText(object, 'tls.key'));
      if (problem) context.warn?.(problem);
    }
    return found;
  };
  return {
    applyDefaults: object => {
      setDefault(object, 'type', 'Opaque');
      const plain = entriesAt(object, 'stringData');
      if (plain.length > 0) {
        const encoded = plain.map(([key, value]) => [key, Buffer.from(String(value)).toString('base64')]);
        object.data = Object.fromEntries([...entriesAt(object, 'data'), ...encoded]);
      }
      delete object.stringData;
    },
    prepareUpdate: (object, old) => {
      setDefault(object, 'type', old.type);
    },
    validateCreate: validateSecret,
    validateUpdate: (object, old, context) => [
      ...validateSecret(object, context),
      ...(stringAt(object, 'type') === stringAt(old, 'type')
        ? []
        : [invalid('type', object.type, 'field is immutable')]),
      ...validateFrozen(object, old, ['data']),
    ],
    selectableFields: new Map([['type', object => stringAt(object, 'type')]]),
    confidential: [''],
    columns: COLUMNS,
  };
});
