import type { ConfigMap, Secret } from '../../../kinds/v1.js';
import type { StrategyContext } from '../../../core/api/strategy.js';
import { patternText } from '../../../core/model/names.js';
import { isSemanticallyEqual } from '../../../core/model/record.js';
import { forbiddenField, type Violation } from '../../../core/model/refusal.js';
import { toViolations } from './violations.js';

const KEY = /^[-._a-zA-Z0-9]+$/;

const KEY_TEXT = patternText(
  "a valid config key must consist of alphanumeric characters, '-', '_' or '.'",
  '[-._a-zA-Z0-9]+',
  'key.name',
  'KEY_NAME',
  'key-name',
);

/** Messages about a key, which may become the name of a file. */
export function configKeyComplaints(key: string): string[] {
  const found: string[] = [];
  if (Buffer.byteLength(key) > 253) found.push('must be no more than 253 characters');
  if (!KEY.test(key)) found.push(KEY_TEXT);
  if (key === '.' || key === '..') found.push(`must not be '${key}'`);
  else if (key.startsWith('..')) found.push("must not start with '..'");
  return found;
}

const FROZEN = 'field is immutable when `immutable` is set';

/**
 * Checks that an immutable ConfigMap or Secret has not changed; `maps` are its members with data. In the member
 * `strict`, an empty map differs from none.
 */
export function validateFrozen<T extends ConfigMap | Secret>(
  object: T,
  old: T,
  maps: readonly (keyof T & string)[],
  strict: keyof T & string,
  { emptied }: StrategyContext,
): Violation[] {
  if (old.immutable !== true) return [];
  const found: Violation[] = [];
  if (object.immutable !== true) found.push(forbiddenField('immutable', FROZEN));
  for (const member of maps) {
    const isEmptied = member === strict && emptied?.has(member);
    if (isEmptied || !isSemanticallyEqual(object[member], old[member])) found.push(forbiddenField(member, FROZEN));
  }
  return found;
}

/** Maximum total size of the values of a ConfigMap or Secret. */
const TOTAL_BYTES = 1024 * 1024;

/** Checks the total size of the values of an object. */
export const validateTotalSize = (bytes: number, field: string): Violation[] =>
  bytes > TOTAL_BYTES
    ? [{ reason: 'FieldValueTooLong', field, message: `Too long: may not be more than ${TOTAL_BYTES} bytes` }]
    : [];

const validateKey = (member: string, key: string): Violation[] =>
  toViolations(`${member}[${key}]`, key, configKeyComplaints(key));

/** The total size of the values of a map. Violations of its keys are added to `found`. */
export function measureValues(
  map: { readonly [key: string]: string } | undefined,
  member: string,
  encoding: BufferEncoding,
  found: Violation[],
): number {
  let bytes = 0;
  for (const [key, value] of Object.entries(map ?? {})) {
    found.push(...validateKey(member, key));
    bytes += Buffer.byteLength(value, encoding);
  }
  return bytes;
}
