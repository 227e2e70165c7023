import type { Strategy } from '../../../core/api/strategy.js';
import type { ApiObject } from '../../../core/model/object.js';
import { forbiddenField, invalid, type Violation } from '../../../core/model/refusal.js';
import { at, entries, fill, into, same, text } from '../record.js';

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

const total = (object: ApiObject, member: string, encoding: BufferEncoding): number =>
  entries(object, member).reduce((sum, [, value]) => sum + Buffer.byteLength(String(value), encoding), 0);

const configMapSize = (object: ApiObject): Violation[] =>
  tooLarge(total(object, 'data', 'utf8') + total(object, 'binaryData', 'base64'), '[]');

const secretSize = (object: ApiObject): Violation[] => tooLarge(total(object, 'data', 'base64'), 'data');

/** Rules of ConfigMaps. */
export const configMap = (): Partial<Strategy> => ({
  validateCreate: configMapSize,
  validateUpdate: (object, old) => [...frozenViolations(object, old, ['data', 'binaryData']), ...configMapSize(object)],
});

/** Rules of Secrets: `stringData` is written only and becomes data. */
export const secret = (): Partial<Strategy> => ({
  defaults: object => {
    fill(object, 'type', 'Opaque');
    const plain = entries(object, 'stringData');
    if (plain.length > 0) {
      const data = into(object, 'data');
      for (const [key, value] of plain) data[key] = Buffer.from(String(value)).toString('base64');
    }
    delete object.stringData;
  },
  prepareUpdate: (object, old) => {
    fill(object, 'type', old.type);
  },
  validateCreate: secretSize,
  validateUpdate: (object, old) => [
    ...secretSize(object),
    ...(text(object, 'type') === text(old, 'type') ? [] : [invalid('type', object.type, 'field is immutable')]),
    ...frozenViolations(object, old, ['data']),
  ],
  selectableFields: new Map([['type', object => text(object, 'type')]]),
});
