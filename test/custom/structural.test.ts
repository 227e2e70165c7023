import { beforeAll, describe, expect, it } from 'vitest';
import type { StructuralSchema } from '../../core/api/resource.js';
import { loadEngine } from '../../core/schema/custom/engine.js';
import { structuralViolations } from '../../core/schema/custom/structural/structural.js';

beforeAll(loadEngine);

const object = (properties: { [name: string]: StructuralSchema }, more: StructuralSchema = {}): StructuralSchema => ({
  type: 'object',
  properties,
  ...more,
});
const fields = (found: readonly { readonly field: string }[]): string[] =>
  found.map(violation => violation.field).sort();

describe('structural schemas [R501]', () => {
  const judge = (schema: StructuralSchema): string[] =>
    structuralViolations(schema, 'S').map(({ field, message }) => `${field}: ${message}`);

  it('must have types everywhere, and an object at the root', () => {
    expect(judge({})).toEqual(['S.type: Required value: must not be empty at the root']);
    expect(judge(object({ a: {} }))).toEqual([
      'S.properties[a].type: Required value: must not be empty for specified object fields',
    ]);
  });

  it('must have list markers that match the schema [R083, R088, R090]', () => {
    const list = (items: StructuralSchema, more: StructuralSchema): StructuralSchema =>
      object({ l: { type: 'array', items, ...more } });
    expect(judge(list(object({}), { 'x-kubernetes-list-type': 'set' }))).toHaveLength(1);
    expect(
      judge(
        list(object({ k: { type: 'string' } }), {
          'x-kubernetes-list-type': 'atomic',
          'x-kubernetes-list-map-keys': ['k'],
        }),
      ),
    ).toEqual([
      'S.properties[l].x-kubernetes-list-type: Invalid value: "atomic": must be map if x-kubernetes-list-map-keys ' +
        'is non-empty',
    ]);
    expect(
      judge(
        list(object({ k: object({}) }, { required: ['k'] }), {
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['k'],
        }),
      ),
    ).toEqual([
      'S.properties[l].items.properties[k].type: Invalid value: "object": must be a scalar type if parent array\'s ' +
        'x-kubernetes-list-type is map',
    ]);
  });

  it('may only forbid additional properties in logical keywords, without other rules about them', () => {
    const below = (additionalProperties: boolean | StructuralSchema): StructuralSchema =>
      object({ s: { type: 'object', allOf: [{ additionalProperties }] } });
    expect(judge(below(false))).toEqual([]);
    for (const other of [true, { minLength: 1 }])
      expect(judge(below(other))).toEqual([
        'S.properties[s].allOf[0].additionalProperties: Forbidden: must be undefined to be structural',
      ]);
  });

  it('have rules that compile and do not exceed the cost limits [A551]', () => {
    const rule = (text: string, more: StructuralSchema = {}) =>
      object({ s: { type: 'string', ...more } }, { 'x-kubernetes-validations': [{ rule: text }] });
    expect(judge(rule('self.s == 1'))[0]).toContain("found no matching overload for '_==_' applied to '(string, int)'");
    expect(judge(rule("self.s == 'a'", { maxLength: 5 }))).toEqual([]);
    const costly = object(
      { l: { type: 'array', items: { type: 'string' } } },
      { 'x-kubernetes-validations': [{ rule: 'self.l.all(a, self.l.all(b, a == b))' }] },
    );
    expect(judge(costly).some(text => text.includes('exceeds budget'))).toBe(true);
  });

  it('count rules below an unbounded list or map as often as values fit into a request', () => {
    const rule = [{ rule: 'self == self' }];
    const text: StructuralSchema = { type: 'string', maxLength: 20, 'x-kubernetes-validations': rule };
    const factors = (schema: StructuralSchema): (string | undefined)[] =>
      judge(object({ s: schema })).map(message => /budget by factor of ([\d.]+)x/.exec(message)?.[1]);
    const unlimited = ['1.048576'];
    expect(factors({ type: 'array', items: text })).toEqual(unlimited);
    expect(factors({ type: 'object', additionalProperties: text })).toEqual(unlimited);
    const beside = (more: StructuralSchema): StructuralSchema =>
      object({ a: text }, { ...more, additionalProperties: true });
    expect(factors(beside({}))).toEqual(unlimited);
    expect(factors(beside({ maxProperties: 10 }))).toEqual([]);
    // The limit of an inner list does not count in this case.
    expect(factors({ type: 'array', items: { type: 'array', maxItems: 1000, items: text } })).toEqual(unlimited);
    expect(factors({ type: 'array', maxItems: 1000, items: { type: 'array', maxItems: 10, items: text } })).toEqual([]);
    expect(factors({ type: 'array', maxItems: 2000, items: { type: 'array', maxItems: 1000, items: text } })).toEqual([
      '2.0',
    ]);
  });

  it('are charged for parsing addresses, quantities and CIDRs by length, and for message expressions once', () => {
    const text = (rules: StructuralSchema['x-kubernetes-validations']): StructuralSchema =>
      object({
        l: {
          type: 'array',
          maxItems: 1_000_000,
          items: { type: 'string', maxLength: 400, 'x-kubernetes-validations': rules! },
        },
      });
    for (const rule of [
      'isQuantity(self)',
      'quantity(self) == quantity(self)',
      'isIP(self)',
      'cidr(self) == cidr(self)',
    ])
      expect(judge(text([{ rule }]))[0]).toContain('estimated rule cost exceeds budget');
    expect(judge(text([{ rule: 'true', messageExpression: "'a' + self" }]))).toEqual([]);
  });

  it('report violations of shape, keywords, defaults and rules together', () => {
    const schema = object(
      {
        a: { type: 'string', default: 1, 'x-kubernetes-validations': [{ rule: 'self == 1', optionalOldSelf: false }] },
        metadata: { type: 'object', default: {} },
      },
      { nullable: true },
    );
    const found = judge(schema);
    expect(found.map(text => text.split(': ').slice(0, 2).join(': '))).toEqual([
      'S.nullable: Forbidden',
      'S.properties[a].default: Invalid value',
      'S.properties[metadata].default: Forbidden',
    ]);
    const { default: _default, ...valid } = schema.properties!.a!;
    expect(judge(object({ a: valid }, { nullable: true })).map(text => text.split(':')[0])).toEqual([
      'S.nullable',
      'S.properties[a].x-kubernetes-validations[0].rule',
      'S.properties[a].x-kubernetes-validations[0].optionalOldSelf',
    ]);
  });

  it('must have complete embedded objects in defaults, with their content printed as by Go', () => {
    const embedded = {
      type: 'object',
      'x-kubernetes-embedded-resource': true,
      'x-kubernetes-preserve-unknown-fields': true,
    };
    expect(judge(object({ a: { ...embedded, default: { kind: '' } } }))).toEqual([
      'S.properties[a].default.apiVersion: Required value: must not be empty',
      'S.properties[a].default.kind: Invalid value: "": must not be empty',
    ]);
    expect(judge(object({ a: object({}, { default: { z: [1, null], b: { c: 'x' } } }) }))).toEqual([
      'S.properties[a].default: Invalid value: map[string]interface {}{"b":map[string]interface {}{"c":"x"}, ' +
        '"z":[]interface {}{1, interface {}(nil)}}: must not have unknown fields',
    ]);
    expect(judge(object({}, { default: {} }))).toEqual([
      'S.default.apiVersion: Required value: must not be empty',
      'S.default.kind: Required value: must not be empty',
    ]);
  });

  it('must have only keywords at the root that the status subresource supports', () => {
    const found = structuralViolations(object({}, { maxProperties: 1 }), 'S', true);
    expect(found.map(({ message }) => message)[0]).toContain(
      'fields are allowed at the root of the schema if the status',
    );
    expect(structuralViolations(object({}, { maxProperties: 1 }), 'S')).toEqual([]);
  });

  it('must define the fields of logical keywords, which may be required only at the root', () => {
    const allOf = [{ properties: { c: { minimum: 1 } } }];
    expect(judge(object({ a: { type: 'string' } }, { allOf }))).toEqual([
      'S.properties[c]: Required value: because it is defined in S.allOf[0].properties[c]',
    ]);
    expect(judge(object({ a: { type: 'string' } }, { allOf: [{ properties: { a: { items: {} } } }] }))).toEqual([
      'S.properties[a].items: Required value: because it is defined in S.allOf[0].properties[a].items',
    ]);
    expect(judge(object({ spec: object({ a: { type: 'string' } }, { allOf }) }))).toEqual([]);
  });

  it('must not have rules below a schema without a type that is itself below one with rules', () => {
    const rules = { 'x-kubernetes-validations': [{ rule: 'true' }] };
    const open = object({ a: { type: 'number', ...rules } }, { 'x-kubernetes-preserve-unknown-fields': true });
    const { type: _type, ...untyped } = open;
    expect(judge(object({ b: object({ c: untyped }) }))).toEqual([]);
    expect(judge(object({ b: object({ c: open }) }, rules))).toEqual([]);
    expect(judge(object({ b: object({ c: untyped }) }, rules)).map(text => text.split(': ').slice(0, 2))).toEqual([
      ['S.properties[b].properties[c].properties[a].x-kubernetes-validations', 'Internal error'],
    ]);
  });

  it('may list the types of an int-or-string in anyOf, and no other types', () => {
    const anyOf = [{ type: 'integer' }, { type: 'string' }];
    const found = ['S.properties[a].type: Required value: must not be empty for specified object fields'];
    expect(judge(object({ a: { anyOf, 'x-kubernetes-int-or-string': true } }))).toEqual([]);
    expect(judge(object({ a: { anyOf } }))).toEqual(found);
    expect(judge(object({ a: { anyOf: [...anyOf].reverse() } })).length).toBe(3);
  });

  it('must have valid defaults, except for those of map values', () => {
    const text = { type: 'string', default: 1 };
    expect(judge(object({ a: text }))).toHaveLength(1);
    expect(judge(object({ a: { type: 'array', items: text } }))).toHaveLength(1);
    expect(judge(object({ a: { type: 'object', additionalProperties: text } }))).toEqual([]);
  });

  it('refuse keywords that are not supported, and embedded objects with another type of kind or version', () => {
    expect(judge(object({ a: { type: 'string', $schema: 'x' } as StructuralSchema }))).toEqual([
      `S: Invalid value: "": OpenAPIV3Schema 'schema' is not supported`,
    ]);
    expect(judge(object({ a: { type: 'string', additionalItems: true } as StructuralSchema }))).toEqual([
      'S.properties[a].additionalItems: Forbidden: additionalItems is not supported',
    ]);
    const embedded = object({ apiVersion: { type: 'integer' } }, { 'x-kubernetes-embedded-resource': true });
    expect(judge(object({ a: embedded }))).toEqual([
      'S.properties[a].properties[apiVersion].type: Invalid value: "integer": must be string',
    ]);
  });

  it('refuse additionalProperties at the root, in embedded objects, and a schema or false together with properties', () => {
    const members = { a: { type: 'string' } };
    const at = (schema: StructuralSchema): string[] => fields(structuralViolations(schema, 'schema'));
    expect(at(object(members, { additionalProperties: true }))).toEqual(['schema.additionalProperties']);
    const embedded = object(members, { 'x-kubernetes-embedded-resource': true, additionalProperties: true });
    expect(at(object({ spec: embedded }))).toEqual(['schema.properties[spec].additionalProperties']);
    for (const additionalProperties of [false, { type: 'string' }])
      expect(at(object({ spec: object(members, { additionalProperties }) }))).toEqual([
        'schema.properties[spec].additionalProperties',
      ]);
  });
});
