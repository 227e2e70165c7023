import { isDeepStrictEqual } from 'node:util';
import type { RE2JS } from 're2js';
import type { StructuralSchema } from '../../api/resource.js';
import type { Json } from '../../model/object.js';
import {
  duplicate,
  invalid,
  notSupported,
  required,
  tooLong,
  tooMany,
  type Violation,
  VIOLATIONS_TOLD,
} from '../../model/refusal.js';
import { engine } from './engine.js';
import { hasFormat } from './formats.js';
import { isRec, propertyOf, valuesOf } from './prune.js';

/**
 * The value that stood here before, where the update leaves it recognizable: what has not changed is not judged again.
 */
type Old = Json | undefined;

const patterns = new Map<string, RE2JS | Error>();
/** Compiled patterns kept; they come from definitions, so that few are in use. */
const PATTERNS = 1000;

function compiledPattern(text: string): RE2JS | Error {
  const known = patterns.get(text);
  if (known) return known;
  if (patterns.size >= PATTERNS) patterns.clear();
  let made: RE2JS | Error;
  try {
    made = engine().pattern(text);
  } catch (error) {
    made = error as Error;
  }
  patterns.set(text, made);
  return made;
}

/** What the parser says of a pattern (RE2 syntax, linear time), undefined for a good one. */
export function patternError(text: string): string | undefined {
  const made = compiledPattern(text);
  return made instanceof Error ? made.message : undefined;
}

/** A pattern that is none matches nothing. */
function isMatch(pattern: string, value: string): boolean {
  const made = compiledPattern(pattern);
  return !(made instanceof Error) && made.matcher(value).find();
}

/** The JSON type of a value as schemas name it. */
const typeOf = (value: Json): string =>
  value === null
    ? 'null'
    : Array.isArray(value)
      ? 'array'
      : typeof value === 'number'
        ? Number.isInteger(value)
          ? 'integer'
          : 'number'
        : typeof value;

const wrongType = (path: string, wanted: string, got: string): Violation => ({
  reason: 'FieldValueTypeInvalid',
  field: path,
  message: `Invalid value: ${JSON.stringify(got)}: ${path} in body must be of type ${wanted}: ${JSON.stringify(got)}`,
});

function typeViolation(value: Json, schema: StructuralSchema, path: string): Violation | undefined {
  const got = typeOf(value);
  if (got === 'null' && schema.nullable) return undefined;
  if (schema['x-kubernetes-int-or-string'])
    return got === 'integer' || got === 'string' ? undefined : wrongType(path, 'integer,string', got);
  if (!schema.type || got === schema.type || (schema.type === 'number' && got === 'integer')) return undefined;
  return wrongType(path, schema.type, got);
}

const body = (path: string, text: string): string => `${path} in body ${text}`;

function numberViolations(value: number, schema: StructuralSchema, path: string, out: Violation[]): void {
  const { maximum, minimum, multipleOf } = schema;
  const tell = (text: string): unknown => out.push(invalid(path, value, body(path, text)));
  if (maximum !== undefined && (schema.exclusiveMaximum ? value >= maximum : value > maximum))
    tell(`should be less than ${schema.exclusiveMaximum ? '' : 'or equal to '}${maximum}`);
  if (minimum !== undefined && (schema.exclusiveMinimum ? value <= minimum : value < minimum))
    tell(`should be greater than ${schema.exclusiveMinimum ? '' : 'or equal to '}${minimum}`);
  if (multipleOf !== undefined && multipleOf > 0 && !Number.isInteger(value / multipleOf))
    tell(`should be a multiple of ${multipleOf}`);
}

const lengthOf = (text: string): number => {
  let length = 0;
  for (const _ of text) length++;
  return length;
};

function stringViolations(value: string, schema: StructuralSchema, path: string, out: Violation[]): void {
  const { maxLength, minLength, pattern, format } = schema;
  if (maxLength !== undefined && lengthOf(value) > maxLength) out.push(tooLong(path, maxLength));
  if (minLength !== undefined && lengthOf(value) < minLength)
    out.push(invalid(path, value, body(path, `should be at least ${minLength} chars long`)));
  if (pattern !== undefined && !isMatch(pattern, value))
    out.push(invalid(path, value, body(path, `should match '${pattern}'`)));
  if (format !== undefined && !hasFormat(value, format))
    out.push({
      reason: 'FieldValueTypeInvalid',
      field: path,
      message: `Invalid value: ${JSON.stringify(value)}: ${body(path, `must be of type ${format}: ${JSON.stringify(value)}`)}`,
    });
}

function listViolations(value: Json[], old: Old, schema: StructuralSchema, path: string, out: Violation[]): void {
  const { maxItems, minItems, items } = schema;
  if (maxItems !== undefined && value.length > maxItems) out.push(tooMany(path, value.length, maxItems));
  if (minItems !== undefined && value.length < minItems)
    out.push(invalid(path, value.length, body(path, `should have at least ${minItems} items`)));
  if (!items) return;
  const before = correlated(old, schema);
  for (const [i, item] of value.entries()) check(item, before(item), items, `${path}[${i}]`, out);
}

/** Finds what an item of a list was before: only lists with keys tell. */
export function correlated(old: Old, schema: StructuralSchema): (item: Json) => Old {
  const keys = schema['x-kubernetes-list-map-keys'];
  if (schema['x-kubernetes-list-type'] !== 'map' || !keys || !Array.isArray(old)) return () => undefined;
  const known = new Map(old.map(item => [identityOf(item, keys), item]));
  return item => known.get(identityOf(item, keys));
}

const identityOf = (item: Json, keys: readonly string[]): string =>
  JSON.stringify(keys.map(key => (isRec(item) && Object.hasOwn(item, key) ? item[key] : null)));

/** A member of what was before. */
export const memberOf = (old: Old, key: string): Old => (isRec(old) && Object.hasOwn(old, key) ? old[key] : undefined);

const join = (path: string, key: string): string => (path ? `${path}.${key}` : key);

function objectViolations(
  value: { [key: string]: Json },
  old: Old,
  schema: StructuralSchema,
  path: string,
  out: Violation[],
): void {
  const { maxProperties, minProperties } = schema;
  const keys = Object.keys(value);
  if (maxProperties !== undefined && keys.length > maxProperties) out.push(tooMany(path, keys.length, maxProperties));
  if (minProperties !== undefined && keys.length < minProperties)
    out.push(invalid(path, keys.length, body(path, `should have at least ${minProperties} properties`)));
  for (const name of schema.required ?? []) if (!Object.hasOwn(value, name)) out.push(required(join(path, name)));
  for (const key of keys) {
    const below = propertyOf(schema, key) ?? valuesOf(schema);
    if (below) check(value[key]!, memberOf(old, key), below, join(path, key), out);
    else if (schema.additionalProperties === false)
      out.push(invalid(path, key, body(join(path, key), 'is a forbidden property')));
  }
}

const failing = (value: Json, old: Old, schema: StructuralSchema, path: string): Violation[] => {
  const found: Violation[] = [];
  check(value, old, schema, path, found);
  return found;
};

/** What upstream gives as the field of a violation of an object as a whole. */
export const WHOLE_OBJECT = '<nil>';

const combined = (path: string, text: string): Violation => ({
  reason: 'FieldValueInvalid',
  field: WHOLE_OBJECT,
  message: `Invalid value: "": ${JSON.stringify(path)} ${text}`,
});

/** The schemas beside a schema: all, any, exactly one, or none of them must hold. */
function combinations(value: Json, old: Old, schema: StructuralSchema, path: string, out: Violation[]): void {
  const results = (of: readonly StructuralSchema[]): Violation[][] => of.map(one => failing(value, old, one, path));
  if (schema.anyOf?.length) {
    const all = results(schema.anyOf);
    if (all.every(found => found.length > 0))
      out.push(combined(path, 'must validate at least one schema (anyOf)'), ...all[0]!);
  }
  if (schema.oneOf?.length) {
    const all = results(schema.oneOf);
    const valid = all.filter(found => found.length === 0).length;
    const text = 'must validate one and only one schema (oneOf). Found';
    if (valid === 0) out.push(combined(path, `${text} none valid`), ...all[0]!);
    else if (valid > 1) out.push(combined(path, `${text} ${valid} valid alternatives`));
  }
  if (schema.allOf?.length) {
    const found = results(schema.allOf).flat();
    if (found.length > 0) out.push(...found, combined(path, 'must validate all the schemas (allOf)'));
  }
  if (schema.not && failing(value, old, schema.not, path).length === 0)
    out.push(combined(path, 'must not validate the schema (not)'));
}

const isEqual = (a: unknown, b: Json): boolean => a === b || (typeof a === 'object' && isDeepStrictEqual(a, b));

/**
 * Finds what is wrong until there is more than a refusal tells: a list has room for a million bad items, each told with
 * all that is good.
 */
function check(value: Json, old: Old, schema: StructuralSchema, path: string, out: Violation[]): void {
  if (out.length > VIOLATIONS_TOLD) return;
  if (old !== undefined && isDeepStrictEqual(value, old)) return;
  const wrong = typeViolation(value, schema, path);
  if (wrong) out.push(wrong);
  if (schema.enum && !(value === null && schema.nullable) && !schema.enum.some(one => isEqual(one, value)))
    out.push(notSupported(path, value, schema.enum.map(String)));
  if (value === null) return;
  combinations(value, old, schema, path, out);
  if (typeof value === 'string') stringViolations(value, schema, path, out);
  else if (typeof value === 'number') numberViolations(value, schema, path, out);
  else if (Array.isArray(value)) listViolations(value, old, schema, path, out);
  else if (isRec(value)) objectViolations(value, old, schema, path, out);
}

/**
 * What a value violates of a schema, in the words of upstream's validator. With `old`, what the update left as it was
 * is not judged again (ratcheting): a stricter schema does not lock objects that are there already.
 */
export function schemaViolations(value: Json, schema: StructuralSchema, path = '', old?: Json): Violation[] {
  const found: Violation[] = [];
  check(value, old, schema, path, found);
  return found;
}

/** Duplicates in lists that are sets or maps (spec, "Merge strategy markers"), of very many the first. */
export function duplicatesIn(value: Json | undefined, schema: StructuralSchema | undefined, path: string): Violation[] {
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
    findRepeated(value, schema, path, out);
    for (const [i, item] of value.entries()) findDuplicates(item, schema.items, `${path}[${i}]`, out);
  } else if (isRec(value)) {
    for (const key of Object.keys(value)) {
      const property = propertyOf(schema, key);
      if (property) findDuplicates(value[key], property, join(path, key), out);
      else findDuplicates(value[key], valuesOf(schema), `${path}[${key}]`, out);
    }
  }
}

function findRepeated(list: Json[], schema: StructuralSchema, path: string, out: Violation[]): void {
  const kind = schema['x-kubernetes-list-type'];
  const keys = schema['x-kubernetes-list-map-keys'] ?? [];
  if (kind !== 'set' && kind !== 'map') return;
  const seen = new Set<string>();
  for (let i = 0; i < list.length && out.length <= VIOLATIONS_TOLD; i++) {
    const item = list[i]!;
    const text = kind === 'map' ? identityOf(item, keys) : JSON.stringify(item);
    if (seen.has(text)) out.push(duplicate(`${path}[${i}]`, kind === 'map' ? keyedBy(item, keys) : item));
    else seen.add(text);
  }
}

const keyedBy = (item: Json, keys: readonly string[]): Json =>
  Object.fromEntries(keys.flatMap(key => (isRec(item) && Object.hasOwn(item, key) ? [[key, item[key]!]] : [])));
