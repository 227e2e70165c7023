import fc from 'fast-check';
import type { Json } from '../../core/model/object.js';
import type { Field, ScalarName, Struct, Type } from '../../core/schema/model.js';

type Members = { [member: string]: Json };

const text = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 8 });
const seconds = fc.integer({ min: 1, max: 2 ** 31 - 1 }).map(s => new Date(s * 1000).toISOString().slice(0, 19));
/** Nonzero values of scalars. */
const SCALARS: { readonly [name in ScalarName]: fc.Arbitrary<Json> } = {
  string: text,
  bool: fc.constant(true),
  int32: fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }).filter(n => n !== 0),
  int64: fc.maxSafeInteger().filter(n => n !== 0),
  uint32: fc.integer({ min: 1, max: 2 ** 31 - 1 }),
  double: fc.double({ noNaN: true, noDefaultInfinity: true }).filter(n => n !== 0),
  bytes: fc.uint8Array({ minLength: 1, maxLength: 9 }).map(bytes => Buffer.from(bytes).toString('base64')),
  any: text,
  Time: seconds.map(s => `${s}Z`),
  MicroTime: fc.tuple(seconds, fc.nat(999_999)).map(([s, micro]) => `${s}.${String(micro).padStart(6, '0')}Z`),
  Duration: fc.integer({ min: 1, max: 10_000 }).map(s => `${s}ms`),
  Quantity: fc.integer({ min: 1, max: 999 }).map(n => `${n}m`),
  IntOrString: fc.oneof(
    fc.integer({ min: 1, max: 65_535 }),
    text.filter(t => Number.isNaN(Number(t))),
  ),
  FieldsV1: fc.constant({ 'f:data': { 'f:k': {} } }),
  RawExtension: fc.constant({ kind: 'Some', apiVersion: 'v1', extra: [1, 'a', null] }),
  JSON: fc.oneof(text, fc.constant<Json>({ a: [1, { b: false }] })),
};

const jsonOf = (type: Type, depth: number): fc.Arbitrary<Json> => {
  if (type.is === 'scalar') return SCALARS[type.name];
  if (type.is === 'list') return fc.array(jsonOf(type.of, depth), { minLength: 1, maxLength: 2 });
  if (type.is === 'map')
    return fc.dictionary(text, jsonOf(type.of, depth), { minKeys: 1, maxKeys: 2, noNullPrototype: true });
  if (type.alternatives) return fc.constant(type.alternatives === 'bool' ? true : {});
  return structOf(type, depth + 1);
};
const optional = (field: Field, depth: number): fc.Arbitrary<Json | undefined> => {
  const deep = depth > 6 && field.type.is !== 'scalar';
  return deep
    ? fc.constant(undefined)
    : fc.option(fc.memo(() => jsonOf(field.type, depth))(1), { nil: undefined, freq: 2 });
};
const structOf = (struct: Struct, depth: number): fc.Arbitrary<Members> => {
  const fields = struct.fields.filter(field => field.number > 0 || field.inlinedFrom);
  return fc
    .shuffledSubarray(fields, { maxLength: Math.min(5, fields.length) })
    .chain(chosen => fc.record(Object.fromEntries(chosen.map(field => [field.name, optional(field, depth)]))))
    .map(value => JSON.parse(JSON.stringify(value)) as Members);
};

/** Objects of a type in canonical form, with some of its members. */
export const anyValueOf = (struct: Struct): fc.Arbitrary<Members> => structOf(struct, 0);
