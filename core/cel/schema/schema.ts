/**
 * Structural schemas (the OpenAPI v3 of CustomResourceDefinitions) as types, and views of decoded data as their values.
 * Data is not copied: a property is converted when an expression reads it.
 */
import { MAX_REQUEST_BYTES } from '../cost/cost.js';
import { decodeBase64 } from '../lib/encoders.js';
import { escapeName, RESERVED } from './names.js';
import type { SchemaType } from './schemaType.js';
import { parseDate, parseTimestamp, parseDurationWithWords } from '../evaluate/time.js';
import * as T from '../check/types.js';
import type { ObjectType, Type } from '../check/types.js';
import { canonical, Double, fail, fromPlain, type Value } from '../evaluate/values.js';
import { KeyedList, type Property, SchemaList, SchemaMap, SchemaObject, SetList } from './views.js';

/** The parts of a schema that matter to expressions. Unknown members are ignored. */
export interface Schema {
  readonly type?: string;
  readonly format?: string;
  readonly nullable?: boolean;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | boolean;
  readonly items?: Schema;
  readonly enum?: readonly unknown[];
  readonly default?: unknown;
  readonly required?: readonly string[];
  readonly maxLength?: number;
  readonly maxItems?: number;
  readonly maxProperties?: number;
  readonly 'x-kubernetes-int-or-string'?: boolean;
  readonly 'x-kubernetes-preserve-unknown-fields'?: boolean;
  readonly 'x-kubernetes-embedded-resource'?: boolean;
  readonly 'x-kubernetes-list-type'?: string;
  readonly 'x-kubernetes-list-map-keys'?: readonly string[];
}

const METADATA: Schema = { type: 'object', properties: { name: { type: 'string' }, generateName: { type: 'string' } } };
const withTypeMeta = (s: Schema): Schema => ({
  ...s,
  type: 'object',
  properties: { ...s.properties, apiVersion: { type: 'string' }, kind: { type: 'string' }, metadata: METADATA },
});

/** Options of a conversion. */
export interface SchemaOptions {
  /** The name of the root's type; parts are named by their path below it. */
  readonly name?: string;
  /** The root is an object of the API: adds `apiVersion`, `kind`, `metadata.name` and `metadata.generateName`. */
  readonly root?: boolean;
}

/** Converts a schema. Returns `undefined` if expressions cannot use it (no type, or unknown fields preserved). */
export function schemaType(schema: Schema, options: SchemaOptions = {}): SchemaType | undefined {
  return convert(schema, options.name ?? 'object', options.root ?? false);
}

function convert(s: Schema, name: string, resource: boolean): SchemaType | undefined {
  if (s['x-kubernetes-int-or-string'])
    return {
      type: T.DYN,
      view: intOrString,
      // Without a limit, a string that fills a request, without its quotes. A character has up to four bytes.
      maxSize: s.maxLength === undefined ? MAX_REQUEST_BYTES - 2 : s.maxLength * 4,
      minBytes: 1,
    };
  if (resource || s['x-kubernetes-embedded-resource']) return s.type ? objectOf(withTypeMeta(s), name) : undefined;
  switch (s.type) {
    case 'array':
      return listOf(s, name);
    case 'object':
      return typeof s.additionalProperties === 'object' ? mapOf(s, s.additionalProperties, name) : objectOf(s, name);
    case 'string':
      return stringOf(s);
    case 'boolean':
      return leaf(
        T.BOOL,
        4,
        s.nullable,
        v => typeof v === 'boolean',
        v => (typeof v === 'boolean' ? v : mismatch('boolean')),
      );
    case 'number':
      return leaf(T.DOUBLE, 1, s.nullable, isNeverPlain, toDouble);
    case 'null':
      return { type: T.NULL, view: v => (v === null ? null : mismatch('null')), maxSize: 0, minBytes: 4 };
    case 'integer':
      return leaf(T.INT, 1, s.nullable, v => Number.isSafeInteger(v) && v !== 0, toInt);
    default:
      return undefined;
  }
}

const isText = (v: unknown): boolean => typeof v === 'string';
const mismatch = (type: string): never => fail(`invalid data, expected ${type} value to be a ${type}`);
const intOrString = (v: unknown): Value =>
  typeof v === 'string' || typeof v === 'number' || typeof v === 'bigint'
    ? fromPlain(v)
    : fail('invalid data, expected XIntOrString value to be either a string or integer');

const toDouble = (v: unknown): Value =>
  typeof v === 'number' || typeof v === 'bigint' ? new Double(Number(v)) : mismatch('number');
function toInt(v: unknown): Value {
  if (typeof v === 'bigint') return canonical(v);
  if (typeof v !== 'number' || !Number.isInteger(v)) return mismatch('integer');
  return Number.isSafeInteger(v) ? v + 0 : canonical(BigInt(v));
}

type View = (data: unknown) => Value;

/** A conversion that accepts null if the schema is nullable and throws `CelError` otherwise. */
const orNull =
  (nullable: boolean | undefined, view: View): View =>
  data => {
    if (data !== null && data !== undefined) return view(data);
    return nullable ? null : fail('invalid data, got null for schema with nullable=false');
  };

const isNeverPlain = (): boolean => false;

/** A scalar schema. Data that `plain` accepts is the value itself; `view` converts other data. */
function leaf(
  type: Type,
  minBytes: number,
  nullable: boolean | undefined,
  plain: (data: unknown) => boolean,
  view: View,
  maxSize = 0,
): SchemaType {
  const other = orNull(nullable, view);
  return {
    type,
    view: plain === isNeverPlain ? other : data => (plain(data) ? (data as Value) : other(data)),
    maxSize,
    minBytes,
  };
}

function stringOf(s: Schema): SchemaType {
  const text = (v: unknown): string => (typeof v === 'string' ? v : mismatch('string'));
  const unbounded = MAX_REQUEST_BYTES - 2;
  switch (s.format) {
    case 'byte':
      return leaf(
        T.BYTES,
        2,
        s.nullable,
        isNeverPlain,
        v => decodeBase64(text(v)) ?? fail('invalid base64'),
        s.maxLength ?? unbounded,
      );
    case 'duration':
      return leaf(
        T.DURATION,
        3,
        s.nullable,
        isNeverPlain,
        v => parseDurationWithWords(text(v)) ?? fail(`Invalid duration ${v}`),
        32,
      );
    case 'date':
      return leaf(
        T.TIMESTAMP,
        12,
        s.nullable,
        isNeverPlain,
        v => parseDate(text(v)) ?? fail(`Invalid date formatted string ${v}`),
        12,
      );
    case 'date-time':
      return leaf(
        T.TIMESTAMP,
        21,
        s.nullable,
        isNeverPlain,
        v => parseTimestamp(text(v)) ?? fail(`Invalid date-time formatted string ${v}`),
        32,
      );
  }
  // A character takes up to four octets, and the size of a request is counted in octets.
  if (s.maxLength !== undefined) return leaf(T.STRING, 2, s.nullable, isText, text, s.maxLength * 4);
  const texts = (s.enum ?? []).filter(e => typeof e === 'string').map(e => Buffer.byteLength(e));
  return leaf(T.STRING, 2, s.nullable, isText, text, s.enum?.length ? Math.max(0, ...texts) : unbounded);
}

function listOf(s: Schema, name: string): SchemaType | undefined {
  const of = s.items && convert(s.items, `${name}.@idx`, false);
  if (!of) return undefined;
  const kind = s['x-kubernetes-list-type'];
  const keys = (s['x-kubernetes-list-map-keys'] ?? []).map(k => escapeName(k) ?? k);
  const view = (data: unknown): Value => {
    if (!Array.isArray(data)) return fail('invalid data, expected an array for the provided schema with type=array');
    if (kind === 'set') return new SetList(data.map(of.view));
    if (kind === 'map') return new KeyedList(data.map(of.view), keys);
    return new SchemaList(data, of);
  };
  const maxSize = s.maxItems ?? Math.floor((MAX_REQUEST_BYTES - 2) / (of.minBytes + 1));
  return { type: T.listType(of.type), view: orNull(s.nullable, view), maxSize, minBytes: 2, items: of };
}

function mapOf(s: Schema, values: Schema, name: string): SchemaType | undefined {
  const of = convert(values, `${name}.@elem`, false);
  if (!of) return undefined;
  const view = (data: unknown): Value =>
    isObject(data)
      ? new SchemaMap(data, of)
      : fail('invalid data, expected a map for the provided schema with type=object');
  const maxSize = s.maxProperties ?? Math.floor((MAX_REQUEST_BYTES - 2) / (of.minBytes + 6));
  return { type: T.mapType(T.STRING, of.type), view: orNull(s.nullable, view), maxSize, minBytes: 2, items: of };
}

const isObject = (data: unknown): data is Record<string, unknown> =>
  typeof data === 'object' && data !== null && !Array.isArray(data);

function objectOf(s: Schema, name: string): SchemaType {
  const properties = new Map<string, Property>();
  const fields = new Map<string, SchemaType>();
  let minBytes = 2;
  for (const [key, property] of Object.entries(s.properties ?? {})) {
    const escaped = escapeName(key);
    const schema = convert(property, `${name}.${key}`, false);
    if (!schema) continue;
    // A required property with a default may be missing in the request.
    if (s.required?.includes(key) && property.default === undefined) minBytes += key.length + 4 + schema.minBytes;
    if (escaped === undefined) continue;
    // A reserved word may also be written unescaped after a dot.
    for (const n of RESERVED.has(key) ? [escaped, key] : [escaped]) {
      properties.set(n, { key, schema, inherited: key in Object.prototype });
      fields.set(n, schema);
    }
  }
  const type: ObjectType = { kind: 'object', name, field: n => fields.get(n)?.type };
  const rejectNonObject = orNull(s.nullable, () =>
    fail('invalid data, expected a map for the provided schema with type=object'),
  );
  const view = (data: unknown): Value => (isObject(data) ? new SchemaObject(data, properties) : rejectNonObject(data));
  return { type, view, maxSize: 0, minBytes, fields };
}
