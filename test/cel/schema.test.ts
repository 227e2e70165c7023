import { describe, expect, it } from 'vitest';
import * as C from '../../core/cel/index.js';

/** Evaluates over a `self` of one property `x`, and an `oldSelf` of the same schema. */
function over(x: C.Schema, data: unknown, text: string, old: unknown = data) {
  const schema = C.schemaType({ type: 'object', properties: { x } }, { name: 'selfType' })!;
  const env = C.createEnvironment({
    libraries: C.librariesOf(),
    validation: C.validationOf(),
    variables: { self: schema.type, oldSelf: schema.type, gone: C.optionalType(schema.type) },
    sizes: { self: schema, oldSelf: schema },
  });
  const { program, errors } = env.compile(text);
  if (!program) return errors.split('\n')[0];
  const outcome = program.evaluate({
    self: schema.view({ x: data }),
    oldSelf: schema.view({ x: old }),
    gone: old === undefined ? C.Optional.none : new C.Optional(schema.view({ x: old })),
  });
  return outcome.error ?? outcome.value;
}

const text: C.Schema = { type: 'string', maxLength: 10 };
const nullableText: C.Schema = { ...text, nullable: true };

describe('types of schemas', () => {
  const typeOf: [name: string, schema: C.Schema, data: unknown, type: string][] = [
    ['object [A527]', { type: 'object', properties: { y: text } }, { y: 'a' }, 'map'],
    ['object without properties', { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }, { y: 1 }, 'map'],
    ['additionalProperties [A528]', { type: 'object', additionalProperties: text }, { y: 'a' }, 'map'],
    ['int-or-string holding an int [A529]', { 'x-kubernetes-int-or-string': true }, 5, 'int'],
    ['int-or-string holding a string [A529]', { 'x-kubernetes-int-or-string': true }, '5%', 'string'],
    ['array [A530]', { type: 'array', items: text }, ['a'], 'list'],
    ['boolean [A531]', { type: 'boolean' }, true, 'bool'],
    ['number [A532]', { type: 'number' }, 1, 'double'],
    ['integer [A533]', { type: 'integer' }, 9223372036854775807n, 'int'],
    ['null [A534]', { type: 'null' }, null, 'null_type'],
    ['string [A535]', text, 'a', 'string'],
    ['byte [A536]', { type: 'string', format: 'byte' }, 'aGk=', 'bytes'],
    ['date [A537]', { type: 'string', format: 'date' }, '2020-01-02', 'google.protobuf.Timestamp'],
    ['date-time [A538]', { type: 'string', format: 'date-time' }, '2020-01-02T03:04:05Z', 'google.protobuf.Timestamp'],
    ['duration [A539]', { type: 'string', format: 'duration' }, '1 day', 'google.protobuf.Duration'],
    ['an enum', { type: 'string', enum: ['a', 'b'] }, 'a', 'string'],
  ];
  for (const [name, schema, data, type] of typeOf) {
    it(`${name} is ${type}`, () => {
      const named =
        type === 'null_type' && data === null
          ? over({ type: 'array', items: schema }, [data], 'type(self.x[0])')
          : over(schema, data, 'type(self.x)');
      expect(named).toEqual(new C.TypeValue(type));
    });
  }
  it('a null item of a nullable type is null, a null property is absent [A534]', () => {
    expect(over({ type: 'array', items: nullableText }, ['a', null], 'type(self.x[1]) == null_type')).toBe(true);
    expect(
      over({ type: 'object', additionalProperties: nullableText }, { k: null }, "type(self.x['k']) == null_type"),
    ).toBe(true);
    expect(over(nullableText, null, 'has(self.x)')).toBe(false);
    expect(over(nullableText, null, "self.x == 'a'")).toBe('no such key: x');
  });
  it('members without a type in the schema cannot be accessed', () => {
    for (const x of [
      {},
      { 'x-kubernetes-preserve-unknown-fields': true },
      { type: 'array' },
      { type: 'array', items: {} },
    ])
      expect(over(x, 1, 'has(self.x)')).toBe("ERROR: <input>:1:4: undefined field 'x'");
  });
  it('an embedded resource has apiVersion, kind and metadata', () => {
    const embedded: C.Schema = {
      type: 'object',
      'x-kubernetes-embedded-resource': true,
      'x-kubernetes-preserve-unknown-fields': true,
    };
    const data = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'n', labels: {} }, spec: {} };
    expect(over(embedded, data, "self.x.kind + self.x.metadata.name == 'Podn'")).toBe(true);
    expect(over(embedded, data, 'self.x.spec')).toBe("ERROR: <input>:1:7: undefined field 'spec'");
  });
  it('a list of objects prints as a list of maps', () => {
    const items: C.Schema = {
      type: 'array',
      items: { type: 'object', properties: { 'a-b': text, n: { type: 'number' } } },
    };
    expect(over(items, [{ 'a-b': 'v', n: 1.5 }], "'%s'.format([self.x])")).toBe('[{"a__dash__b":"v", "n":1.500000}]');
  });
  it('data that violates a format is an error of the evaluation', () => {
    expect(over({ type: 'string', format: 'date' }, '2020-13-01', 'self.x.getMonth()')).toBe(
      'Invalid date formatted string 2020-13-01',
    );
    expect(over({ type: 'integer' }, 'a', 'self.x')).toMatch(/^invalid data/);
  });
});

describe('names of properties', () => {
  const object = (name: string): C.Schema => ({ type: 'object', properties: { [name]: text } });
  for (const [name, written] of [
    ['a__b', 'a__underscores__b'],
    ['a.b', 'a__dot__b'],
    ['a-b', 'a__dash__b'],
    ['a/b', 'a__slash__b'],
    ['namespace', '__namespace__'],
    ['_', '_'],
    ['.a', '__dot__a'],
    ['a____b', 'a__underscores____underscores__b'],
  ] as const)
    it(`${name} is escaped as ${written} [A545 A546x A547x A548x A549x A550x]`, () => {
      expect(C.escapeName(name)).toBe(written);
      expect(over(object(name), { [name]: 'v' }, `self.x.${written}`)).toBe('v');
    });
  it('other names cannot be reached [A545]', () => {
    for (const name of ['1a', 'a b', 'é', 'a$', '', 'a+b']) {
      expect(C.escapeName(name)).toBeUndefined();
      expect(over(object(name), { [name]: 'v' }, 'self.x.a')).toBe("ERROR: <input>:1:7: undefined field 'a'");
    }
  });
  it('reserved words may be used unescaped after a dot', () => {
    expect(over(object('if'), { if: 'v' }, 'self.x.if')).toBe('v');
    expect(over(object('constructor'), {}, 'has(self.x.constructor)')).toBe(false);
  });
});

describe('lists with keys and sets', () => {
  const set: C.Schema = { type: 'array', 'x-kubernetes-list-type': 'set', items: { type: 'integer' } };
  const keyed: C.Schema = {
    type: 'array',
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['k', 'n'],
    items: { type: 'object', properties: { k: text, n: { type: 'integer' }, v: { type: 'integer' } } },
  };
  const [p, q, r] = [
    { k: 'p', n: 1, v: 1 },
    { k: 'p', n: 2, v: 1 },
    { k: 'p', n: 1, v: 9 },
  ];
  it('sets are compared by members and added as unions [A541] [A543]', () => {
    expect(over(set, [1, 2], 'self.x == oldSelf.x', [2, 1])).toBe(true);
    expect(over(set, [1, 2], 'self.x == oldSelf.x', [2, 3])).toBe(false);
    expect(over(set, [1, 2], "'%s'.format([self.x + oldSelf.x])", [3, 2])).toBe('[1, 2, 3]');
    expect(over(set, [1, 2], '(self.x + [2, 2, 4]).size()')).toBe(3);
  });
  it('keyed lists are compared by key and added by replacing items [A540] [A542]', () => {
    expect(over(keyed, [p, q], 'self.x == oldSelf.x', [q, p])).toBe(true);
    expect(over(keyed, [p, q], 'self.x == oldSelf.x', [q, r])).toBe(false);
    expect(over(keyed, [p, q], '(self.x + oldSelf.x).map(i, i.v)', [r])).toMatchObject({ items: [9, 1] });
  });
  it('an optional oldSelf is none on creation', () => {
    const rule = 'gone.hasValue() ? gone.value().x <= self.x : self.x == 1';
    expect(over({ type: 'integer' }, 1, rule, undefined)).toBe(true);
    expect(over({ type: 'integer' }, 5, rule, 6)).toBe(false);
    expect(over({ type: 'integer' }, 5, 'gone.orValue(self).x == 5', undefined)).toBe(true);
  });
});
