import type { Json } from '../../model/object.js';

/** Upstream's name for the type of a JSON value. */
export const jsonTypeName = (value: Json): string =>
  Array.isArray(value) ? 'array' : typeof value === 'boolean' ? 'bool' : typeof value;

/** The message for a value that is not of the type that upstream decodes it into. */
export const valueMismatch = (value: Json, type: string): string =>
  `json: cannot unmarshal ${jsonTypeName(value)} into Go value of type ${type}`;

/** The message for a patch, or a part of it, that is not of the type that upstream decodes it into. */
export const patchMismatch = (value: Json, type: string): string =>
  `error decoding patch: ${valueMismatch(value, type)}`;

/** The message for a member of an operation of a JSON Patch that must be a string. */
export const operationMismatch = (value: Json, member: string): string =>
  `error decoding patch: json: cannot unmarshal ${jsonTypeName(value)} into Go struct field jsonPatchOp.${member} ` +
  'of type string';
