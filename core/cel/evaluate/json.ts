/** Values as JSON, as expressions write them into objects. */
import { Dict, Double, Duration, fail, iterate, List, Timestamp, typeNameOf, Uint, type Value } from './values.js';
import { display } from './text.js';

/** A JSON value; large integers are bigints. */
export type PlainJson =
  | null
  | boolean
  | number
  | bigint
  | string
  | readonly PlainJson[]
  | { readonly [name: string]: PlainJson };

/** The JSON of a value. Throws `CelError` for values that JSON does not have. */
export function toJson(value: Value): PlainJson {
  if (value === null || typeof value !== 'object') return value;
  if (value instanceof Uint || value instanceof Double) return value.value;
  if (value instanceof List) return Array.from(iterate(value), toJson);
  if (value instanceof Dict)
    return Object.fromEntries(value.keys().map(key => [keyText(key), toJson(value.get(key) ?? null)]));
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64');
  if (value instanceof Timestamp || value instanceof Duration) return display(value);
  return fail(`unsupported type ${typeNameOf(value)}`);
}

const keyText = (key: Value): string => (typeof key === 'string' ? key : fail('unsupported key type'));
