import type { Rules, Strategy } from '../../../core/api/strategy.js';
import type { ApiObject } from '../../../core/model/object.js';
import { forbiddenField, invalid, required, type Violation } from '../../../core/model/refusal.js';
import type { Naming } from '../../../core/naming.js';
import { at, entries, fill, get, same, text } from '../record.js';
import { complaints, configKey } from '../validation/checks.js';
import { keyPairProblem } from './key-pair.js';

const FROZEN = 'field is immutable when `immutable` is set';

/** What an immutable ConfigMap or Secret forbids to change. */
function frozenViolations(object: ApiObject, old: ApiObject, maps: readonly string[]): Violation[] {
  if (old.immutable !== true) return [];
  const found: Violation[] = [];
  if (object.immutable !== true) found.push(forbiddenField('immutable', FROZEN));
  for (const member of maps) {
    if (!same(at(object, member), at(old, member))) found.push(forbiddenField(member, FROZEN));
  }
  return found;
}

/** Bytes that the values of one ConfigMap or Secret may have in all. */
const TOTAL_BYTES = 1024 * 1024;

const tooLarge = (bytes: number, field: string): Violation[] =>
  bytes > TOTAL_BYTES
    ? [{ reason: 'FieldValueTooLong', field, message: `Too long: may not be more than ${TOTAL_BYTES} bytes` }]
    : [];

const keyViolations = (member: string, key: string): Violation[] =>
  complaints(`${member}[${key}]`, key, configKey(key));

/** Bytes of the values of a map; what is wrong with its keys goes to `found`. */
function measured(object: ApiObject, member: string, encoding: BufferEncoding, found: Violation[]): number {
  let bytes = 0;
  for (const [key, value] of entries(object, member)) {
    found.push(...keyViolations(member, key));
    bytes += Buffer.byteLength(String(value), encoding);
  }
  return bytes;
}

function configMapViolations(object: ApiObject): Violation[] {
  const found: Violation[] = [];
  let bytes = measured(object, 'data', 'utf8', found);
  const binary = at(object, 'binaryData');
  if (binary) {
    for (const [key] of entries(object, 'data')) {
      if (Object.hasOwn(binary, key))
        found.push(invalid(`data[${key}]`, key, 'duplicate of key present in binaryData'));
    }
    bytes += measured(object, 'binaryData', 'base64', found);
  }
  return [...found, ...tooLarge(bytes, '[]')];
}

/** Rules of ConfigMaps. */
export const configMap = (): Partial<Strategy> => ({
  validateCreate: configMapViolations,
  validateUpdate: (object, old) => [
    ...frozenViolations(object, old, ['data', 'binaryData']),
    ...configMapViolations(object),
  ],
});

const has = (object: ApiObject, key: string): boolean => get(at(object, 'data'), key) !== undefined;

const needed = (object: ApiObject, ...keys: string[]): Violation[] =>
  keys.filter(key => !has(object, key)).map(key => required(`data[${key}]`));

const plainText = (object: ApiObject, key: string): string =>
  Buffer.from(text(at(object, 'data'), key), 'base64').toString('utf8');

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
      object => (text(at(object, 'data'), 'ssh-privatekey') ? [] : [required('data[ssh-privatekey]')]),
    ],
    [naming.label('orchestrator.io/tls'), object => needed(object, 'tls.crt', 'tls.key')],
  ]);
}

/** Rules of Secrets: `stringData` is written only and becomes data. */
export const secret = (naming: Naming): Partial<Strategy> => {
  const types = typeRules(naming);
  const pair = naming.label('orchestrator.io/tls');
  const violations = (object: ApiObject, rules: Rules): Violation[] => {
    const found: Violation[] = [];
    const bytes = measured(object, 'data', 'base64', found);
    found.push(...tooLarge(bytes, 'data'), ...(types.get(text(object, 'type'))?.(object) ?? []));
    if (text(object, 'type') === pair && found.length === 0) {
      const problem = keyPairProblem(plainText(object, 'tls.crt'), plainText(object, 'tls.key'));
      if (problem) rules.warn?.(problem);
    }
    return found;
  };
  return {
    defaults: object => {
      fill(object, 'type', 'Opaque');
      const plain = entries(object, 'stringData');
      if (plain.length > 0) {
        const encoded = plain.map(([key, value]) => [key, Buffer.from(String(value)).toString('base64')]);
        object.data = Object.fromEntries([...entries(object, 'data'), ...encoded]);
      }
      delete object.stringData;
    },
    prepareUpdate: (object, old) => {
      fill(object, 'type', old.type);
    },
    validateCreate: violations,
    validateUpdate: (object, old, rules) => [
      ...violations(object, rules),
      ...(text(object, 'type') === text(old, 'type') ? [] : [invalid('type', object.type, 'field is immutable')]),
      ...frozenViolations(object, old, ['data']),
    ],
    selectableFields: new Map([['type', object => text(object, 'type')]]),
  };
};
