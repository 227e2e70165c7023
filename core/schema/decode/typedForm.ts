import type { Json } from '../../model/object.js';
import { isMembers, memberOf, type Members, setMember } from '../patch/members.js';
import type { Field, Struct, Type } from '../model.js';
import { absenceOf } from './absence.js';
import { SCALAR_ZEROS } from './scalars.js';

/** Whether a value is the zero value of its type, which a field with `omitEmpty` omits. */
function isZero(type: Type, value: Json): boolean {
  if (value === null) return true;
  if (type.is === 'scalar') return value === SCALAR_ZEROS[type.name];
  if (type.is !== 'struct') return Object.keys(value).length === 0;
  if (type.alternatives || !isMembers(value)) return false;
  return type.fields.every(field => {
    const member = memberOf(value, field.name);
    return member === undefined || (!field.pointer && isZero(field.type, member));
  });
}

function zeroOf(type: Type): Json {
  if (type.is === 'struct') return type.alternatives ? null : structOf(type, {});
  return type.is === 'scalar' ? SCALAR_ZEROS[type.name] : null;
}

/** The value of a field; undefined if it is omitted. */
function fieldOf(field: Field, given: Json | undefined): Json | undefined {
  const { type, pointer, omitEmpty } = field;
  if (given === undefined || given === null) {
    if (absenceOf(field) !== 'zero') return undefined;
    const zero = zeroOf(type);
    return omitEmpty && isZero(type, zero) ? undefined : zero;
  }
  const value = formOf(type, given);
  return omitEmpty && !pointer && isZero(type, value) ? undefined : value;
}

function structOf(type: Struct, given: Members): Members {
  const out: Members = {};
  for (const field of type.fields) {
    const value = fieldOf(field, memberOf(given, field.name));
    if (value !== undefined) setMember(out, field.name, value);
  }
  return out;
}

const orZero = (type: Type, given: Json): Json => (given === null ? zeroOf(type) : formOf(type, given));

function formOf(type: Type, given: Json): Json {
  if (type.is === 'list') return Array.isArray(given) ? given.map(item => orZero(type.of, item)) : given;
  if (!isMembers(given)) return given;
  if (type.is === 'struct') return type.alternatives ? given : structOf(type, given);
  if (type.is !== 'map') return given;
  const out: Members = {};
  for (const name of Object.keys(given)) setMember(out, name, orZero(type.of, given[name]!));
  return out;
}

/**
 * An object in the form in which Go's types hold it, which do not distinguish a null or absent member from its zero
 * value: fields that are always encoded are present, and others only if they are not zero. Values of the wrong type are
 * kept. `apiVersion` and `kind` are kept, other members without a field are not.
 */
export function typedForm(type: Struct, object: Json): Json {
  if (!isMembers(object)) return object;
  const { apiVersion, kind } = object;
  const out = structOf(type, object);
  if (apiVersion !== undefined) setMember(out, 'apiVersion', apiVersion);
  if (kind !== undefined) setMember(out, 'kind', kind);
  return out;
}
