import { isDeepStrictEqual } from 'node:util';
import type { RE2JS } from 're2js';
import type { StructuralSchema } from '../../api/resource.js';
import { doubleText, isInteger, isNumber, writeJson } from '../../model/text/jsonText.js';
import { goValue } from '../../model/text/goText.js';
import type { Json } from '../../model/object.js';
import {
  duplicate,
  invalid,
  notSupported,
  required,
  tooLong,
  type Violation,
  MAX_VIOLATIONS,
} from '../../model/refusal.js';
import { engine } from './engine.js';
import { hasFormat, isKnownFormat } from './formats.js';
import { isMembers, sortDeep } from '../patch/members.js';
import { additionalSchema, propertySchema } from './prune.js';

/** The corresponding value before an update, if it can be identified. Unchanged values are not validated again. */
type OldValue = Json | undefined;

const patterns = new Map<string, RE2JS | Error>();
/** The number of cached compiled patterns. They come from definitions, so there are few. */
const MAX_PATTERNS = 1000;

function compilePattern(text: string): RE2JS | Error {
  const cached = patterns.get(text);
  if (cached) return cached;
  if (patterns.size >= MAX_PATTERNS) patterns.clear();
  let compiled: RE2JS | Error;
  try {
    compiled = engine().pattern(text);
  } catch (error) {
    compiled = error as Error;
  }
  patterns.set(text, compiled);
  return compiled;
}

/** The syntax error of a pattern (RE2 syntax); undefined if it is valid. */
export function patternError(text: string): string | undefined {
  const compiled = compilePattern(text);
  return compiled instanceof Error ? compiled.message : undefined;
}

/** Whether a string matches a pattern. An invalid pattern matches nothing. */
function matchesPattern(pattern: string, value: string): boolean {
  const compiled = compilePattern(pattern);
  return !(compiled instanceof Error) && compiled.matcher(value).find();
}

/** The type of a value in terms of JSON schemas. */
const typeOf = (value: Json): string =>
  value === null
    ? 'null'
    : Array.isArray(value)
      ? 'array'
      : isNumber(value)
        ? isInteger(value)
          ? 'integer'
          : 'number'
        : typeof value;

const wrongType = (path: string, expected: string, actual: string): Violation => ({
  reason: 'FieldValueTypeInvalid',
  field: path,
  message:
    `Invalid value: ${JSON.stringify(actual)}: ${path} in body must be of type ${expected}: ` +
    `${JSON.stringify(actual)}`,
});

function typeViolation(value: Json, schema: StructuralSchema, path: string): Violation | undefined {
  const actual = typeOf(value);
  if (actual === 'null' && schema.nullable) return undefined;
  if (schema['x-kubernetes-int-or-string'])
    return actual === 'integer' || actual === 'string' ? undefined : wrongType(path, 'integer,string', actual);
  const { type, format } = schema;
  if (!type || actual === type || (type === 'number' && actual === 'integer')) return undefined;
  // Upstream compares values that are neither strings nor lists with the format, if the schema has one.
  if (format === undefined || !isKnownFormat(format) || ['array', 'null', 'string'].includes(actual))
    return wrongType(path, type, actual);
  return wrongType(path, format, VALUE_FORMATS.get(actual) ?? '');
}

/** The formats of values that are not texts. */
const VALUE_FORMATS: ReadonlyMap<string, string> = new Map([
  ['integer', 'int64'],
  ['number', 'double'],
]);

const tooMany = (field: string, count: number, most: number): Violation => ({
  reason: 'FieldValueTooMany',
  field,
  message: `Too many: ${count}: must have at most ${most} items`,
});

const inBody = (path: string, text: string): string => `${path} in body ${text}`;

/** The relative difference up to which upstream considers a quotient of doubles equal to a whole number above it. */
const WHOLE_ERROR = 1e-9;

/** Whether a quotient of doubles is whole by upstream's rule: only larger ones may differ from a whole number. */
function isWhole(quotient: number): boolean {
  const below = Math.trunc(quotient);
  if (below === quotient) return Number.isSafeInteger(quotient);
  return below > 0 && (quotient - below) / (quotient + below) < WHOLE_ERROR;
}

function isMultiple(value: number | bigint, of: number): boolean {
  if (isInteger(value) && isInteger(of)) return BigInt(value) % BigInt(of) === 0n;
  return isWhole(of < 1 ? (1 / of) * Number(value) : Number(value) / of);
}

/** Returns a limit in the form that upstream compares: a double, truncated to an integer for integers. */
const limitFor = (value: number | bigint, limit: number | bigint | undefined): number | undefined => {
  if (limit === undefined) return undefined;
  return isInteger(value) ? Math.trunc(Number(limit)) : Number(limit);
};

function numberViolations(value: number | bigint, schema: StructuralSchema, path: string, out: Violation[]): void {
  const limitText = (limit: number): string => (isInteger(value) ? String(BigInt(limit)) : doubleText(limit));
  const [maximum, minimum] = [limitFor(value, schema.maximum), limitFor(value, schema.minimum)];
  const multipleOf = limitFor(value, schema.multipleOf);
  const report = (text: string): unknown => out.push(invalid(path, value, inBody(path, text)));
  if (multipleOf !== undefined && multipleOf <= 0)
    out.push(
      invalid(path, multipleOf, `factor MultipleOf declared for ${path} must be positive: ${limitText(multipleOf)}`),
    );
  else if (multipleOf !== undefined && !isMultiple(value, multipleOf))
    report(`should be a multiple of ${limitText(multipleOf)}`);
  if (minimum !== undefined && (schema.exclusiveMinimum ? value <= minimum : value < minimum))
    report(`should be greater than ${schema.exclusiveMinimum ? '' : 'or equal to '}${limitText(minimum)}`);
  if (maximum !== undefined && (schema.exclusiveMaximum ? value >= maximum : value > maximum))
    report(`should be less than ${schema.exclusiveMaximum ? '' : 'or equal to '}${limitText(maximum)}`);
}

const lengthOf = (text: string): number => {
  let length = 0;
  for (const _ of text) length++;
  return length;
};

function stringViolations(value: string, schema: StructuralSchema, path: string, out: Violation[]): void {
  const { maxLength, minLength, pattern, format } = schema;
  // As in upstream, only the first of the limits that a string exceeds is reported.
  if (maxLength !== undefined && lengthOf(value) > maxLength) out.push(tooLong(path, maxLength));
  else if (minLength !== undefined && lengthOf(value) < minLength)
    out.push(invalid(path, value, inBody(path, `should be at least ${minLength} chars long`)));
  else if (pattern !== undefined && !matchesPattern(pattern, value))
    out.push(invalid(path, value, inBody(path, `should match '${pattern}'`)));
  if (format !== undefined && !hasFormat(value, format))
    out.push({
      reason: 'FieldValueTypeInvalid',
      field: path,
      message:
        `Invalid value: ${JSON.stringify(value)}: ` +
        `${inBody(path, `must be of type ${format}: ${JSON.stringify(value)}`)}`,
    });
}

function listViolations(value: Json[], old: OldValue, schema: StructuralSchema, path: string, out: Violation[]): void {
  const { maxItems, minItems, items } = schema;
  if (items) {
    const before = correlateItems(old, schema);
    for (const [i, item] of value.entries()) checkValue(item, before(item), items, `${path}[${i}]`, out);
  }
  if (minItems !== undefined && value.length < minItems)
    out.push(invalid(path, value.length, inBody(path, `should have at least ${minItems} items`)));
  if (maxItems !== undefined && value.length > maxItems) out.push(tooMany(path, value.length, maxItems));
}

/** Returns a function that finds the old value of a list item. Only items of lists with keys can be correlated. */
export function correlateItems(old: OldValue, schema: StructuralSchema): (item: Json) => OldValue {
  const keys = schema['x-kubernetes-list-map-keys'];
  if (schema['x-kubernetes-list-type'] !== 'map' || !keys || !Array.isArray(old)) return () => undefined;
  const cached = new Map(old.map(item => [itemKey(item, keys), item]));
  return item => cached.get(itemKey(item, keys));
}

const itemKey = (item: Json, keys: readonly string[]): string =>
  writeJson(keys.map(key => (isMembers(item) && Object.hasOwn(item, key) ? item[key] : null)));

/**
 * Whether an update leaves a value as it was, so that it need not be valid. Upstream compares objects by their schema:
 * one with members that the schema does not name counts as changed, and items of lists with keys may move.
 */
export function isUnchanged(value: Json, old: Json, schema: StructuralSchema): boolean {
  if (Array.isArray(value) && Array.isArray(old)) {
    const { items } = schema;
    if (value.length !== old.length) return false;
    if (!items || schema['x-kubernetes-list-type'] !== 'map') return isDeepStrictEqual(value, old);
    const before = correlateItems(old, schema);
    return value.every(item => {
      const was = before(item);
      return was !== undefined && isUnchanged(item, was, items);
    });
  }
  if (!isMembers(value) || !isMembers(old)) return isDeepStrictEqual(value, old);
  const keys = Object.keys(value);
  return (
    keys.length === Object.keys(old).length &&
    keys.every(key => {
      const below = propertySchema(schema, key) ?? additionalSchema(schema);
      const was = memberOf(old, key);
      return below !== undefined && was !== undefined && isUnchanged(value[key]!, was, below);
    })
  );
}

/** The old value of an object member. */
export const memberOf = (old: OldValue, key: string): OldValue =>
  isMembers(old) && Object.hasOwn(old, key) ? old[key] : undefined;

const joinPath = (path: string, key: string): string => (path ? `${path}.${key}` : key);

function objectViolations(
  value: { [key: string]: Json },
  old: OldValue,
  schema: StructuralSchema,
  path: string,
  out: Violation[],
): void {
  const { maxProperties, minProperties } = schema;
  const keys = Object.keys(value);
  if (maxProperties !== undefined && keys.length > maxProperties)
    out.push(tooMany(path || WHOLE_OBJECT, keys.length, maxProperties));
  if (minProperties !== undefined && keys.length < minProperties)
    out.push(
      invalid(path || WHOLE_OBJECT, keys.length, inBody(path, `should have at least ${minProperties} properties`)),
    );
  for (const name of schema.required ?? []) if (!Object.hasOwn(value, name)) out.push(required(joinPath(path, name)));
  for (const key of keys) {
    const property = propertySchema(schema, key);
    const values = additionalSchema(schema);
    if (property) checkValue(value[key]!, memberOf(old, key), property, joinPath(path, key), out);
    // Upstream's path of a member of a map at the root begins with a dot.
    else if (values) checkValue(value[key]!, memberOf(old, key), values, `${path}.${key}`, out);
    else if (schema.additionalProperties === false)
      out.push(invalid(path, key, inBody(`${path}.${key}`, 'is a forbidden property')));
  }
}

const violationsIn = (value: Json, old: OldValue, schema: StructuralSchema, path: string): Violation[] => {
  const found: Violation[] = [];
  checkValue(value, old, schema, path, found);
  return found;
};

/** The field in upstream's messages about violations that concern an object as a whole. */
export const WHOLE_OBJECT = '<nil>';

const combinationViolation = (path: string, text: string): Violation => ({
  reason: 'FieldValueInvalid',
  field: WHOLE_OBJECT,
  message: `Invalid value: "": ${JSON.stringify(path)} ${text}`,
});

/** Validates a value against the logical keywords: anyOf, oneOf, allOf, not. */
function checkCombinations(value: Json, old: OldValue, schema: StructuralSchema, path: string, out: Violation[]): void {
  const results = (of: readonly StructuralSchema[]): Violation[][] =>
    of.map(one => violationsIn(value, old, one, path));
  if (schema.anyOf?.length) {
    const all = results(schema.anyOf);
    if (all.every(found => found.length > 0))
      out.push(combinationViolation(path, 'must validate at least one schema (anyOf)'), ...all[0]!);
  }
  if (schema.oneOf?.length) {
    const all = results(schema.oneOf);
    const valid = all.filter(found => found.length === 0).length;
    const text = 'must validate one and only one schema (oneOf). Found';
    if (valid === 0) out.push(combinationViolation(path, `${text} none valid`), ...all[0]!);
    else if (valid > 1) out.push(combinationViolation(path, `${text} ${valid} valid alternatives`));
  }
  if (schema.allOf?.length) {
    const all = results(schema.allOf);
    const found = all.flat();
    if (found.length > 0) {
      const none = all.every(one => one.length > 0) ? '. None validated' : '';
      out.push(...found, combinationViolation(path, `must validate all the schemas (allOf)${none}`));
    }
  }
  if (schema.not && violationsIn(value, old, schema.not, path).length === 0)
    out.push(combinationViolation(path, 'must not validate the schema (not)'));
}

const isEqual = (a: unknown, b: Json): boolean => a === b || (typeof a === 'object' && isDeepStrictEqual(a, b));

const enumText = (value: Json): string => (typeof value === 'string' ? value : writeJson(value));

/**
 * Validates a value. Stops when there are more violations than an error reports, since a list may have a million items.
 */
function checkValue(value: Json, old: OldValue, schema: StructuralSchema, path: string, out: Violation[]): void {
  if (out.length > MAX_VIOLATIONS) return;
  if (old !== undefined && isUnchanged(value, old, schema)) return;
  const wrong = typeViolation(value, schema, path);
  if (wrong) out.push(wrong);
  if (value !== null) checkCombinations(value, old, schema, path, out);
  if (typeof value === 'string') stringViolations(value, schema, path, out);
  else if (isNumber(value)) numberViolations(value, schema, path, out);
  else if (Array.isArray(value)) listViolations(value, old, schema, path, out);
  // As in upstream, an enumeration must name null even if the schema is nullable.
  if (schema.enum && !schema.enum.some(one => isEqual(one, value)))
    out.push(notSupported(path, goValue(value), schema.enum.map(enumText)));
  if (isMembers(value)) objectViolations(value, old, schema, path, out);
}

/**
 * Validates a value against a schema, with upstream's messages. With `old`, unchanged parts are not validated again
 * (ratcheting), so that existing objects can still be updated after a schema has become stricter.
 */
export function schemaViolations(value: Json, schema: StructuralSchema, path = '', old?: Json): Violation[] {
  const found: Violation[] = [];
  checkValue(value, old, schema, path, found);
  return found;
}

/**
 * Violations for the parts of a value that do not have the type in the schema; other requirements are not checked.
 * Stops when there are more than an error reports.
 */
export function typeViolations(value: Json, schema: StructuralSchema, path = '', out: Violation[] = []): Violation[] {
  if (out.length > MAX_VIOLATIONS) return out;
  const wrong = typeViolation(value, schema, path);
  if (wrong) out.push(wrong);
  else if (Array.isArray(value) && schema.items)
    for (const [i, item] of value.entries()) typeViolations(item, schema.items, `${path}[${i}]`, out);
  else if (isMembers(value))
    for (const key of Object.keys(value)) {
      const below = propertySchema(schema, key) ?? additionalSchema(schema);
      if (below) typeViolations(value[key]!, below, joinPath(path, key), out);
    }
  return out;
}

/** Violations for duplicate items of lists of type set or map (spec, "Merge strategy markers"), up to a limit. */
export function duplicateViolations(
  value: Json | undefined,
  schema: StructuralSchema | undefined,
  path: string,
): Violation[] {
  const found: Violation[] = [];
  findDuplicates(value, schema, path, found);
  return found;
}

function findDuplicates(
  value: Json | undefined,
  schema: StructuralSchema | undefined,
  path: string,
  out: Violation[],
): void {
  if (!schema || value === undefined) return;
  if (Array.isArray(value)) {
    findDuplicateItems(value, schema, path, out);
    for (const [i, item] of value.entries()) findDuplicates(item, schema.items, `${path}[${i}]`, out);
  } else if (isMembers(value)) {
    for (const key of Object.keys(value)) {
      const property = propertySchema(schema, key);
      if (property) findDuplicates(value[key], property, joinPath(path, key), out);
      else findDuplicates(value[key], additionalSchema(schema), `${path}[${key}]`, out);
    }
  }
}

function findDuplicateItems(list: Json[], schema: StructuralSchema, path: string, out: Violation[]): void {
  const kind = schema['x-kubernetes-list-type'];
  const keys = schema['x-kubernetes-list-map-keys'] ?? [];
  if (kind !== 'set' && kind !== 'map') return;
  // As in upstream, null counts as an object without keys.
  const wrong = kind === 'map' ? list.findIndex(item => item !== null && !isMembers(item)) : -1;
  if (wrong >= 0) {
    const text = 'must be an object for an array of list-type map';
    out.push(invalid(`${path}[${wrong}]`, goValue(list[wrong]!), text));
    return;
  }
  /** How often each item occurs. Of equal items, the second one is reported. */
  const counts = new Map<string, number>();
  for (let i = 0; i < list.length && out.length <= MAX_VIOLATIONS; i++) {
    const item = list[i]!;
    const text = kind === 'map' ? itemKey(item, keys) : writeJson(sortDeep(item));
    const count = (counts.get(text) ?? 0) + 1;
    counts.set(text, count);
    if (count === 2) out.push(duplicate(`${path}[${i}]`, goValue(kind === 'map' ? keyMembers(item, keys) : item)));
  }
}

const keyMembers = (item: Json, keys: readonly string[]): Json =>
  Object.fromEntries(keys.flatMap(key => (isMembers(item) && Object.hasOwn(item, key) ? [[key, item[key]!]] : [])));
