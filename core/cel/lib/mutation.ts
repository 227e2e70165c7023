/** The types and functions of mutations: `Object{…}` with types for its fields, `JSONPatch{…}` and `jsonpatch`. */
import { declareGlobal } from '../check/declarations.js';
import type { Library } from '../library.js';
import * as T from '../check/types.js';
import type { ObjectType, Type } from '../check/types.js';
import { List, Message, iterate, type Value } from '../evaluate/values.js';

/** The name of the type of objects. */
const OBJECT = 'Object';

/** A type of objects or of one of their fields, all of whose fields are dynamic. */
const objectType = (name: string): ObjectType => ({ kind: 'object', name, field: () => T.DYN });

/** The type of the value of an apply configuration. */
export const OBJECT_TYPE: Type = objectType(OBJECT);

const PATCH_FIELDS: ReadonlyMap<string, Type> = new Map([
  ['op', T.STRING],
  ['path', T.STRING],
  ['from', T.STRING],
  ['value', T.DYN],
]);

/** The type of the operations of a JSON Patch. */
export const JSON_PATCH_TYPE: ObjectType = { kind: 'object', name: 'JSONPatch', field: name => PATCH_FIELDS.get(name) };

function messageType(name: string): ObjectType | undefined {
  if (name === JSON_PATCH_TYPE.name) return JSON_PATCH_TYPE;
  return name === OBJECT || name.startsWith(`${OBJECT}.`) ? objectType(name) : undefined;
}

/** `Object`, `Object.spec` and so on, `JSONPatch`, and `jsonpatch.escapeKey`. */
export const MUTATION_LIBRARY: Library = {
  name: 'mutation',
  messages: messageType,
  functions: [
    declareGlobal('jsonpatch.escapeKey(string): string', (key, _b, _c, meter) => {
      meter.traverse((key as string).length);
      return (key as string).replaceAll('~', '~0').replaceAll('/', '~1');
    }),
  ],
};

/**
 * Checks the names of the types in an object: each must be that of its path. Returns the first error; undefined if
 * there is none.
 */
export function wrongTypeName(value: Value, path = OBJECT): string | undefined {
  if (value instanceof List) {
    for (const item of iterate(value)) {
      const found = wrongTypeName(item, path);
      if (found !== undefined) return found;
    }
    return undefined;
  }
  if (!(value instanceof Message)) return undefined;
  if (value.name !== path)
    return (
      `unexpected type name ${JSON.stringify(value.name)}, expected ${JSON.stringify(path)}, which matches field name ` +
      'path from root Object type'
    );
  for (const [name, field] of value.fields) {
    const found = wrongTypeName(field, `${path}.${name}`);
    if (found !== undefined) return found;
  }
  return undefined;
}
