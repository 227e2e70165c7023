import { type Field, isStructScalar } from '../model.js';
import { SCALAR_ZEROS } from './scalars.js';

/**
 * How a decoded object represents a field without a value: no member, null, or the zero value of the type. The types of
 * kinds are generated from this (scripts/build/kindTypes.mjs).
 */
export function absenceOf({ type, pointer, omitEmpty }: Field): 'omitted' | 'null' | 'zero' {
  if (pointer || type.is === 'list' || type.is === 'map') return omitEmpty ? 'omitted' : 'null';
  if (type.is === 'struct') return type.alternatives ? 'null' : 'zero';
  if (omitEmpty && !isStructScalar(type.name)) return 'omitted';
  return SCALAR_ZEROS[type.name] === null ? 'null' : 'zero';
}
