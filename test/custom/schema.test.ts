import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import type { StructuralSchema } from '../../core/api/resource.js';
import { showCell } from '../../core/model/age.js';
import type { ApiObject, Json } from '../../core/model/object.js';
import { columnsOf } from '../../core/schema/custom/columns.js';
import { loadEngine } from '../../core/schema/custom/engine.js';
import { hasFormat } from '../../core/schema/custom/formats.js';
import { InvalidPath, compilePath, simplePathNames } from '../../core/schema/custom/jsonPath.js';
import { customSchema } from '../../core/schema/custom/customSchema.js';
import { compileRules } from '../../core/schema/custom/rules/rules.js';
import { structuralViolations } from '../../core/schema/custom/structural/structural.js';
import { structForSchema } from '../../core/schema/custom/types.js';
import { duplicateViolations, schemaViolations } from '../../core/schema/custom/validate.js';

beforeAll(loadEngine);

const object = (properties: { [name: string]: StructuralSchema }, more: StructuralSchema = {}): StructuralSchema => ({
  type: 'object',
  properties,
  ...more,
});
const own = (schema: StructuralSchema) => customSchema(schema, () => schema, 'g.example.com/v1', 'Thing');
const decode = (schema: StructuralSchema, value: { [key: string]: Json }) => {
  const strictErrors: string[] = [];
  const decoded: ApiObject = own(schema).decode(value, strictErrors);
  return { spec: decoded['spec'], metadata: decoded.metadata, decoded, strictErrors };
};
const fields = (found: readonly { readonly field: string }[]): string[] =>
  found.map(violation => violation.field).sort();

describe('decoding of custom objects', () => {
  const schema = object({
    spec: object({
      size: { type: 'integer', default: 3 },
      name: { type: 'string', nullable: true, default: 'n' },
      plain: { type: 'string' },
      list: { type: 'array', items: object({ weight: { type: 'integer', default: 10 } }) },
      open: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
      map: { type: 'object', additionalProperties: object({ v: { type: 'number', default: 1.5 } }) },
    }),
  });

  it('removes and reports members that are not in the schema, and keeps preserved ones [R261, R503]', () => {
    const { spec, strictErrors } = decode(schema, {
      extra: 1,
      spec: { junk: 1, open: { deep: [{ a: null }] }, list: [{ weight: 1, other: 2 }] },
    });
    expect(strictErrors).toEqual(['extra', 'spec.junk', 'spec.list[0].other'].map(path => `unknown field "${path}"`));
    expect(spec).toMatchObject({ open: { deep: [{ a: null }] }, list: [{ weight: 1 }] });
    expect(spec).not.toHaveProperty('junk');
  });

  it('keeps any additional member if additionalProperties is true, but not its members', () => {
    const anyMember = object({ spec: object({ a: { type: 'string' } }, { additionalProperties: true }) });
    expect(structuralViolations(anyMember, 'schema')).toEqual([]);
    const { spec, strictErrors } = decode(anyMember, { spec: { a: 'x', b: 1, c: { d: 1 } } });
    expect(spec).toEqual({ a: 'x', b: 1, c: {} });
    expect(strictErrors).toEqual(['unknown field "spec.c.d"']);
  });

  it('refuses additional members if additionalProperties is false', () => {
    const none = object({ spec: { type: 'object', additionalProperties: false } });
    const { decoded } = decode(none, { spec: { a: 'x' } });
    expect(schemaViolations(decoded as unknown as Json, none)).toMatchObject([
      { field: 'spec', message: 'Invalid value: "a": spec.a in body is a forbidden property' },
    ]);
  });

  it('sets defaults at every depth, and removes nulls that are not allowed', () => {
    const { spec } = decode(schema, { spec: { name: null, size: null, plain: null, list: [{}], map: { a: {} } } });
    expect(spec).toEqual({ name: null, size: 3, list: [{ weight: 10 }], map: { a: { v: 1.5 } } });
  });

  it('decodes metadata as for built-in kinds, and reports unknown members', () => {
    const { metadata, strictErrors } = decode(schema, { metadata: { name: 'x', nick: 'y', labels: { a: 'b' } } });
    expect(metadata).toEqual({ name: 'x', labels: { a: 'b' } });
    expect(strictErrors).toEqual(['unknown field "metadata.nick"']);
  });

  it('does not set prototypes', () => {
    const { spec } = decode(
      schema,
      JSON.parse('{"spec":{"open":{"__proto__":{"a":1}},"__proto__":{"b":1}}}') as { [key: string]: Json },
    );
    expect(Object.keys((spec as { open: object }).open)).toEqual(['__proto__']);
    expect(({} as { a?: number }).a).toBeUndefined();
  });

  it('is idempotent', () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.constantFrom('size', 'name', 'plain', 'list', 'open', 'map', 'junk'), fc.jsonValue()),
        spec => {
          const first = decode(schema, { spec: spec as Json }).decoded;
          const again = decode(schema, structuredClone(first) as unknown as { [key: string]: Json });
          expect(again.strictErrors).toEqual([]);
          expect(again.decoded).toEqual(first);
        },
      ),
    );
  });
});

describe('validation', () => {
  const judge = (schema: StructuralSchema, value: Json, old?: Json): string[] =>
    schemaViolations(value, schema, 'spec', old).map(({ field, message }) => `${field}: ${message}`);

  it('prints limits of integers in full, and those of other numbers as doubles', () => {
    const schema: StructuralSchema = { type: 'number', minimum: 4294967296 };
    const text = (value: number, limit: string): string =>
      `spec: Invalid value: ${value}: spec in body should be greater than or equal to ${limit}`;
    expect(judge(schema, 100)).toEqual([text(100, '4294967296')]);
    expect(judge(schema, 1.5)).toEqual([text(1.5, '4.294967296e+09')]);
  });

  it('names the limits of a number in the order of upstream', () => {
    const found = judge({ type: 'integer', maximum: 1, minimum: 9, multipleOf: 5 }, 3);
    expect(found.map(text => text.replace(/^.* should be /, ''))).toEqual([
      'a multiple of 5',
      'greater than or equal to 9',
      'less than or equal to 1',
    ]);
  });

  it('refuses null that an enumeration does not name, even where it is allowed', () => {
    const schema: StructuralSchema = { type: 'string', nullable: true, enum: ['a'] };
    expect(judge(schema, null)).toEqual(['spec: Unsupported value: "null": supported values: "a"']);
  });

  it('names the format if a value is not a string', () => {
    const schema: StructuralSchema = { type: 'string', format: 'email' };
    expect(judge(schema, 1)).toEqual(['spec: Invalid value: "int64": spec in body must be of type email: "int64"']);
    expect(judge(schema, ['x'])).toEqual([
      'spec: Invalid value: "array": spec in body must be of type string: "array"',
    ]);
  });

  it('skips unchanged values, except objects with members that the schema does not name', () => {
    const stricter = (more: StructuralSchema): StructuralSchema => ({ type: 'object', maxProperties: 0, ...more });
    const value = { a: [1, 2] };
    const named = stricter({ properties: { a: { type: 'array', items: { type: 'integer' } } } });
    expect(judge(named, value, value)).toEqual([]);
    const open = stricter({ 'x-kubernetes-preserve-unknown-fields': true });
    expect(judge(open, value, value)).toEqual(['spec: Too many: 1: must have at most 0 items']);
  });

  it('treats items of a keyed list as unchanged at any position', () => {
    const items = object({ k: { type: 'string' } }, { required: ['k'] });
    const keyed = { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['k'] } as const;
    const list: StructuralSchema = { type: 'array', items, maxItems: 1, ...keyed };
    const value = [{ k: 'a' }, { k: 'b' }];
    expect(judge(list, value, value.toReversed())).toEqual([]);
    expect(judge(list, [{ k: 'a' }, { k: 'c' }], value)).toEqual(['spec: Too many: 2: must have at most 1 items']);
  });
});

describe('validation with a schema', () => {
  it('has the messages of upstream', () => {
    const found = schemaViolations(
      { n: 11, s: 'abcde', l: ['x', 1], o: {}, b: 'true' },
      object({
        n: { type: 'integer', maximum: 10 },
        s: { type: 'string', maxLength: 4, pattern: '^b' },
        l: { type: 'array', maxItems: 1, items: { type: 'string' } },
        o: object({}, { required: ['a'] }),
        b: { type: 'boolean' },
      }),
    );
    expect(found.map(({ field, message }) => `${field}: ${message}`).sort()).toEqual(
      [
        'b: Invalid value: "string": b in body must be of type boolean: "string"',
        'l: Too many: 2: must have at most 1 items',
        'l[1]: Invalid value: "integer": l[1] in body must be of type string: "integer"',
        'n: Invalid value: 11: n in body should be less than or equal to 10',
        'o.a: Required value',
        's: Too long: may not be more than 4 bytes',
      ].sort(),
    );
  });

  it('does not validate values that an update does not change, which are matched by key in keyed lists', () => {
    const strict = object({
      a: { type: 'string', maxLength: 1 },
      keyed: {
        type: 'array',
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['k'],
        items: object({ k: { type: 'string' }, v: { type: 'integer', maximum: 1 } }),
      },
    });
    const old = { a: 'long', keyed: [{ k: 'p', v: 9 }] };
    expect(schemaViolations({ ...old, keyed: [{ k: 'q', v: 1 }, ...old.keyed] }, strict, '', old)).toEqual([]);
    expect(fields(schemaViolations({ a: 'other', keyed: [{ k: 'q', v: 9 }] }, strict, '', old))).toEqual([
      'a',
      'keyed[0].v',
    ]);
  });

  it('finds duplicates in sets and keyed lists', () => {
    const lists = object({
      set: { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set' },
      map: {
        type: 'array',
        items: object({ k: { type: 'string' } }),
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['k'],
      },
    });
    expect(fields(duplicateViolations({ set: ['a', 'b', 'a'], map: [{ k: '1' }, { k: '1' }] }, lists, ''))).toEqual([
      'map[1]',
      'set[2]',
    ]);
  });

  it('finds each duplicate once, in any order of its members, and items of a keyed list that are not objects', () => {
    const keyed = {
      type: 'array',
      items: object({ k: { type: 'string' } }),
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['k'],
    };
    const lists = object({
      sets: { type: 'array', items: { type: 'object' }, 'x-kubernetes-list-type': 'set' },
      keyed,
      wrong: keyed,
      nulls: keyed,
    });
    const value = {
      sets: [
        { a: 1, b: [null, 'x'] },
        { b: [null, 'x'], a: 1 },
        { a: 1, b: [null, 'x'] },
      ],
      keyed: [{ k: '1' }, { k: '1' }, { k: '1' }],
      wrong: [{ k: '1' }, 5, 5],
      nulls: [{}, null],
    };
    const found = duplicateViolations(value, lists, '');
    expect(found.map(({ field, message }) => `${field}: ${message}`)).toEqual([
      'sets[1]: Duplicate value: map[string]interface {}{"a":1, "b":[]interface {}{interface {}(nil), "x"}}',
      'keyed[1]: Duplicate value: map[string]interface {}{"k":"1"}',
      'wrong[1]: Invalid value: 5: must be an object for an array of list-type map',
      'nulls[1]: Duplicate value: map[string]interface {}{}',
    ]);
  });

  it('shows values of other types than text in an enum as JSON', () => {
    const schema = object({ o: object({}, { enum: [{ a: 1 }] }), l: { type: 'array', enum: [['x'], null] } });
    const found = schemaViolations({ o: {}, l: ['y'] }, schema);
    expect(found.map(({ message }) => message)).toEqual([
      'Unsupported value: map[string]interface {}{}: supported values: "{\\"a\\":1}"',
      'Unsupported value: []interface {}{"y"}: supported values: "[\\"x\\"]", "null"',
    ]);
  });

  it('evaluates patterns in linear time', () => {
    const found = schemaViolations(`${'a'.repeat(5000)}!`, { type: 'string', pattern: '^(a+)+$' });
    expect(found).toHaveLength(1);
  });

  it.each([
    ['date', '2024-02-29', '2023-02-29'],
    ['ipv6', 'fe80::1', 'gggg::'],
    ['cidr', '10.0.0.0/8', '10.0.0.0/33'],
    ['byte', 'aGVsbG8=', 'aGVsbG8'],
    ['isbn10', '0306406152', '0306406153'],
  ])('supports the format %s', (format, good, bad) => {
    expect([hasFormat(good, format), hasFormat(bad, format), hasFormat(bad, 'no-such-format')]).toEqual([
      true,
      false,
      true,
    ]);
  });
});

describe('rules of a schema [A458]', () => {
  const schema = object({
    spec: object(
      {
        min: { type: 'integer' },
        max: { type: 'integer', 'x-kubernetes-validations': [{ rule: 'self >= oldSelf', message: 'max shrinks' }] },
      },
      {
        'x-kubernetes-validations': [
          { rule: 'self.min <= self.max', fieldPath: '.min', reason: 'FieldValueForbidden' },
        ],
      },
    ),
  });
  const ask = (value: Json, old?: Json) => {
    const warnings: string[] = [];
    const found = compileRules(schema)!(value, old, text => warnings.push(text));
    return { texts: found.map(({ field, message }) => `${field}: ${message}`), warnings };
  };

  it('are evaluated for their value, transition rules only with an old value', () => {
    expect(ask({ spec: { min: 2, max: 1 } }).texts).toEqual(['spec.min: Forbidden: failed rule: self.min <= self.max']);
    expect(ask({ spec: { min: 0, max: 1 } }, { spec: { min: 0, max: 2 } }).texts).toEqual([
      'spec.max: Invalid value: "integer": max shrinks',
    ]);
  });

  it('only warn about values that an update did not change', () => {
    const old = { spec: { min: 2, max: 1 } };
    expect(ask(old, old)).toEqual({ texts: [], warnings: ['spec.min: Forbidden: failed rule: self.min <= self.max'] });
  });
});

describe('types for generic code', () => {
  it('have the merge markers, and lists are atomic unless the schema says otherwise [R097]', () => {
    const struct = structForSchema(
      object({
        a: { type: 'array', items: { type: 'string' } },
        m: {
          type: 'array',
          items: object({ k: { type: 'string' } }),
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['k'],
        },
      }),
      'x',
    );
    expect(struct.field.get('a')!.merge).toEqual({ listType: 'atomic' });
    expect(struct.field.get('m')!.merge).toEqual({ listType: 'map', keys: ['k'] });
    expect(struct.fields[0]!.name).toBe('metadata');
  });
});

describe('JSON paths', () => {
  const value = {
    spec: {
      l: ['a', 'b', 'c'],
      c: [
        { type: 'Ready', status: 'True', w: 1 },
        { type: 'X', w: 2 },
      ],
      'a.b': 1,
      nothing: null,
    },
  };
  it.each([
    ['.spec.l[0]', ['a']],
    ['.spec.l[-1:]', ['c']],
    ['.spec.l[0:2]', ['a', 'b']],
    ['.spec.c[*].type', ['Ready', 'X']],
    ['.spec.c[?(@.type=="Ready")].status', ['True']],
    ['.spec.c[?(@.w>1)].type', ['X']],
    ['.spec.a\\.b', [1]],
    ["['spec'].l[9]", undefined],
    ['.none.deeper', []],
    ['.spec.c[?(@.status=="True")].type', ['Ready']],
    ['.spec.nothing[0:1]', []],
    ['.spec.l[3:3]', []],
  ])('%s', (path, found) => {
    if (found) expect(compilePath(path)(value)).toEqual(found);
    else expect(() => compilePath(path)).toThrow(InvalidPath);
  });

  it.each([
    '.spec.l[3]',
    '.spec.l[0:9]',
    '.spec[0]',
    '.spec[?(@.w)]',
    '.spec.nothing[?(@.w)]',
    '.spec.c[?(@.w=="1")].type',
    '.spec.c[?(@.w>0.5)].type',
  ])('%s has no result if the value has another type', path => {
    expect(() => compilePath(path)(value)).toThrow(InvalidPath);
  });

  it('throw only BadPath for any text', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 30 }), text => {
        try {
          compilePath(`.${text}`)(value);
        } catch (error) {
          expect(error).toBeInstanceOf(InvalidPath);
        }
      }),
    );
  });

  it('are evaluated quickly, with any number of recursive descents', () => {
    const deep = JSON.parse(`${'{"a":'.repeat(200)}1${'}'.repeat(200)}`) as object;
    expect(compilePath('..a'.repeat(300))(deep).length).toBeLessThanOrEqual(1000);
  });

  it('that consist only of names are recognized', () => {
    expect([simplePathNames('.a.b\\.c'), simplePathNames('.a[0]'), simplePathNames('a')]).toEqual([
      ['a', 'b.c'],
      undefined,
      undefined,
    ]);
  });
});

describe('columns', () => {
  const thing = {
    apiVersion: 'v',
    kind: 'K',
    metadata: { name: 'x', creationTimestamp: '2024-01-01T00:00:00Z' },
    spec: { n: 1.5, o: { b: 1, a: 2 } },
  };
  it('show cells by type, and nothing for values of another type [R504]', () => {
    const cells = columnsOf([
      { name: 'I', type: 'integer', jsonPath: '.spec.n' },
      { name: 'O', type: 'string', jsonPath: '.spec.o' },
      { name: 'B', type: 'boolean', jsonPath: '.spec.n' },
    ]).map(column => column.cell(thing));
    expect(cells).toEqual(['x', 1, '{"a":2,"b":1}', null]);
  });

  it('print values of any type as text [R504]', () => {
    const spec = { nothing: null, html: ['<&>'], big: 1234567.5, small: 0.00002, whole: 1234567, float: 12.5 };
    const columns = Object.keys(spec).map(name => ({ name, type: 'string' as const, jsonPath: `.spec.${name}` }));
    const cells = columnsOf(columns).map(column => column.cell({ ...thing, spec }));
    expect(cells.slice(1)).toEqual([
      '<no value>',
      '["\\u003c\\u0026\\u003e"]',
      '1.2345675e+06',
      '2e-05',
      '1234567',
      '12.5',
    ]);
  });

  it('show ages of RFC 3339 times only [R504]', () => {
    const spec = { time: '2024-01-01T00:00:00+01:00', day: '2024-01-01', none: '', number: 5, nothing: null };
    const columns = Object.keys(spec).map(name => ({ name, type: 'date' as const, jsonPath: `.spec.${name}` }));
    const now = Date.parse('2024-01-01T00:00:00Z');
    const cells = columnsOf(columns).map(column => showCell(column.cell({ ...thing, spec }), now));
    expect(cells.slice(1)).toEqual(['60m', '<invalid>', '<unknown>', null, null]);
  });

  it('are empty if their path has no value', () => {
    const [, column] = columnsOf([{ name: 'L', type: 'string', jsonPath: '.spec.o[0]' }]);
    expect(column!.cell(thing)).toBeNull();
  });

  it('show the first item for empty brackets', () => {
    const spec = { list: [{ a: 1 }, { a: 2, b: 3 }], none: [], map: { a: 1 } };
    const paths = ['.spec.list[].a', '.spec.list[].b', '.spec.none[]', '.spec.map[]', '.spec.list[?(@.b)].b'];
    const columns = columnsOf(paths.map((jsonPath, i) => ({ name: `${i}`, type: 'integer', jsonPath })));
    expect(columns.map(column => column.cell({ ...thing, spec }))).toEqual(['x', 1, null, null, null, 3]);
  });

  it.each(['.spec.n[', '.spec.n[x]', '.spec["n"]', '.spec.l[ 0 ]', '.spec.l[?(@.a=="1"||@.a=="2")]', '.spec{.n}'])(
    'end before the column with the malformed path %s',
    jsonPath => {
      const [before, after] = ['before', 'after'].map(name => ({ name, type: 'integer', jsonPath: '.spec.n' }));
      const names = columnsOf([before!, { name: 'bad', type: 'string', jsonPath }, after!]).map(({ name }) => name);
      expect(names).toEqual(['Name', 'before']);
    },
  );

  it('are the name and the age if a type defines none [R061]', () => {
    const columns = columnsOf(undefined);
    expect(columns.map(({ name }) => name)).toEqual(['Name', 'Created At']);
    expect(showCell(columns[1]!.cell(thing), Date.parse('2024-01-01T01:00:00Z'))).toBe('60m');
  });
});
