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

/** Rules of ConfigMaps. */
export const configMap = (): Partial<Strategy> => ({
  validateUpdate: (object, old) => frozenViolations(object, old, ['data', 'binaryData']),
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
  validateUpdate: (object, old) => [
    ...(text(object, 'type') === text(old, 'type') ? [] : [invalid('type', object.type, 'field is immutable')]),
    ...frozenViolations(object, old, ['data']),
  ],
  selectableFields: new Map([['type', object => text(object, 'type')]]),
});
