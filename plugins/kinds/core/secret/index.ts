import { builtInKind } from '../../../../core/api/resource.js';
import type { Column, StrategyContext } from '../../../../core/api/strategy.js';
import type { ApiObject } from '../../../../core/model/object.js';
import { entriesAt, setDefault, stringAt, valueAt } from '../../../../core/model/record.js';
import { invalid, required, type Violation } from '../../../../core/model/refusal.js';
import type { Naming } from '../../../../core/naming.js';
import { keyPairProblem } from './keyPair.js';
import { AGE, column, countCell, NAME, stringCell } from '../../shared/columns.js';
import { frozenViolations, measured, tooLarge } from '../../shared/configData.js';

const has = (object: ApiObject, key: string): boolean => valueAt(object, 'data', key) !== undefined;

const needed = (object: ApiObject, ...keys: string[]): Violation[] =>
  keys.filter(key => !has(object, key)).map(key => required(`data[${key}]`));

const plainText = (object: ApiObject, key: string): string =>
  Buffer.from(stringAt(object, 'data', key), 'base64').toString('utf8');

/** A value that must be there and be a JSON object; what is wrong with it shows nothing of it. */
function jsonObject(object: ApiObject, key: string): Violation[] {
  if (!has(object, key)) return needed(object, key);
  const wrong = [invalid(`data[${key}]`, '<secret contents redacted>', 'the value must be a JSON object')];
  try {
    const value: unknown = JSON.parse(plainText(object, key));
    return typeof value === 'object' && !Array.isArray(value) ? [] : wrong;
  } catch {
    return wrong;
  }
}

/** What each type of Secret must hold, by its type in the server's naming. */
function typeRules(naming: Naming): ReadonlyMap<string, (object: ApiObject) => Violation[]> {
  const account = naming.label('orchestrator.io/service-account.name');
  return new Map([
    [
      naming.label('orchestrator.io/service-account-token'),
      ({ metadata }) => (metadata.annotations?.[account] ? [] : [required(`metadata.annotations[${account}]`)]),
    ],
    [naming.label('orchestrator.io/dockercfg'), object => jsonObject(object, '.dockercfg')],
    [naming.label('orchestrator.io/dockerconfigjson'), object => jsonObject(object, '.dockerconfigjson')],
    [
      naming.label('orchestrator.io/basic-auth'),
      object => (has(object, 'username') || has(object, 'password') ? [] : needed(object, 'username', 'password')),
    ],
    [
      naming.label('orchestrator.io/ssh-auth'),
      object => (stringAt(object, 'data', 'ssh-privatekey') ? [] : [required('data[ssh-privatekey]')]),
    ],
    [naming.label('orchestrator.io/tls'), object => needed(object, 'tls.crt', 'tls.key')],
  ]);
}

const COLUMNS: readonly Column[] = [NAME, column('Type', stringCell('type')), column('Data', countCell('data')), AGE];

/** Rules of Secrets: `stringData` is written only and becomes data. */
export const secret = builtInKind('core/secrets', naming => {
  const types = typeRules(naming);
  const pair = naming.label('orchestrator.io/tls');
  const violations = (object: ApiObject, context: StrategyContext): Violation[] => {
    const found: Violation[] = [];
    const bytes = measured(object, 'data', 'base64', found);
    found.push(...tooLarge(bytes, 'data'), ...(types.get(stringAt(object, 'type'))?.(object) ?? []));
    if (stringAt(object, 'type') === pair && found.length === 0) {
      const problem = keyPairProblem(plainText(object, 'tls.crt'), plainText(object, 'tls.key'));
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
    validateCreate: violations,
    validateUpdate: (object, old, context) => [
      ...violations(object, context),
      ...(stringAt(object, 'type') === stringAt(old, 'type')
        ? []
        : [invalid('type', object.type, 'field is immutable')]),
      ...frozenViolations(object, old, ['data']),
    ],
    selectableFields: new Map([['type', object => stringAt(object, 'type')]]),
    columns: COLUMNS,
  };
});
