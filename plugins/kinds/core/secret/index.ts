import type { Secret } from '../../../../kinds/v1.js';
import { builtInKind } from '../../../../core/api/resource.js';
import type { Column, StrategyContext } from '../../../../core/api/strategy.js';
import { setDefault } from '../../../../core/model/record.js';
import { invalid, required, type Violation } from '../../../../core/model/refusal.js';
import type { Naming } from '../../../../core/naming.js';
import { keyPairProblem } from './keyPair.js';
import { countOf, AGE, column, NAME } from '../../shared/columns.js';
import { validateFrozen, measureValues, validateTotalSize } from '../../shared/configData.js';

const hasKey = (object: Secret, key: string): boolean => object.data?.[key] !== undefined;

/** Checks that the keys required by a type exist. */
const validateKeys = (object: Secret, ...keys: string[]): Violation[] =>
  keys.filter(key => !hasKey(object, key)).map(key => required(`data[${key}]`));

/** The value of a key, decoded from base64. */
const decodedText = (object: Secret, key: string): string =>
  Buffer.from(object.data?.[key] ?? '', 'base64').toString('utf8');

/** Checks that the value of a key exists and is a JSON object. Violations do not contain the value. */
function validateJsonObject(object: Secret, key: string): Violation[] {
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
function typeValidators(naming: Naming): ReadonlyMap<string, (object: Secret) => Violation[]> {
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
      object => ((object.data?.['ssh-privatekey'] ?? '') ? [] : [required('data[ssh-privatekey]')]),
    ],
    [naming.label('orchestrator.io/tls'), object => validateKeys(object, 'tls.crt', 'tls.key')],
  ]);
}

const COLUMNS: readonly Column<Secret>[] = [
  NAME,
  column('Type', object => object.type ?? ''),
  column('Data', object => countOf(object.data)),
  AGE,
];

/** Secret. `stringData` can only be written, and is stored in `data`. */
export const secret = builtInKind<Secret>('core/secrets', naming => {
  const types = typeValidators(naming);
  const pair = naming.label('orchestrator.io/tls');
  const validateSecret = (object: Secret, context: StrategyContext): Violation[] => {
    const found: Violation[] = [];
    const bytes = measureValues(object.data, 'data', 'base64', found);
    found.push(...validateTotalSize(bytes, 'data'), ...(types.get(object.type ?? '')?.(object) ?? []));
    if ((object.type ?? '') === pair && found.length === 0) {
      const problem = keyPairProblem(decodedText(object, 'tls.crt'), decodedText(object, 'tls.key'));
      if (problem) context.warn?.(problem);
    }
    return found;
  };
  return {
    revalidatesName: true,
    applyDefaults: object => {
      setDefault(object, 'type', 'Opaque');
      const plain = Object.entries(object.stringData ?? {});
      if (plain.length > 0) {
        const encoded = plain.map(([key, value]) => [key, Buffer.from(String(value)).toString('base64')]);
        object.data = Object.fromEntries([...Object.entries(object.data ?? {}), ...encoded]);
      }
      delete object.stringData;
    },
    prepareUpdate: (object, old) => {
      setDefault(object, 'type', old.type);
    },
    validateCreate: validateSecret,
    validateUpdate: (object, old, context) => [
      ...((object.type ?? '') === (old.type ?? '') ? [] : [invalid('type', object.type, 'field is immutable')]),
      ...validateFrozen(object, old, ['data'], 'data', context),
      ...validateSecret(object, context),
    ],
    selectableFields: new Map([['type', object => object.type ?? '']]),
    confidential: [''],
    columns: COLUMNS,
  };
});
