import { describe, expect, test } from 'vitest';
import type { ApiObject, Json, ObjectMeta } from '../../core/model/object.js';
import { invalid, invalidObject, Refusal } from '../../core/model/refusal.js';
import { namingOf } from '../../core/naming.js';
import { readConfiguration } from '../../core/schema/apply/applied.js';
import type { ManagedKind } from '../../core/schema/apply/managedKind.js';
import { applyConfiguration } from '../../core/schema/apply/applyConfiguration.js';
import { updateManagers } from '../../core/schema/apply/ownership.js';
import { managerKey, type FieldManager, type FieldManagers } from '../../core/schema/apply/fieldManagers.js';
import { reconcileWithSchema } from '../../core/schema/apply/reconcile.js';
import { shapeOf } from '../../core/schema/apply/shape.js';
import { normalize } from '../../core/schema/decode/decode.js';
import { validateMetadata } from '../../core/schema/decode/metadata.js';
import type { Type } from '../../core/schema/model.js';
import { customSchema } from '../../core/schema/custom/customSchema.js';
import { duplicateViolations, schemaViolations } from '../../core/schema/custom/validate.js';
import { applyJsonPatch } from '../../core/schema/patch/jsonPatch.js';
import { applyStrategicPatch } from '../../core/schema/patch/strategic.js';
import { findStrictErrors } from '../../core/schema/decode/strict.js';
import { typeOf } from '../../core/schema/table/types.js';
import { dropRepeatedOwners } from '../../workers/pool/stages/metadata.js';
import { parseWriteOptions } from '../../workers/pool/body/options.js';
import { requireLinearTime } from '../support/linear.js';

/* Bodies as large as the server accepts. */
requireLinearTime();

const MANY = 40_000;
const object = (metadata: ObjectMeta): ApiObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'x', ...metadata },
});
const numbered = <T>(count: number, of: (i: number) => T): T[] => Array.from({ length: count }, (_, i) => of(i));

describe('owner references', () => {
  const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'o' };

  test('are compared in linear time', () => {
    const repeated = object({ ownerReferences: numbered(MANY, i => ({ ...owner, uid: `u${i >> 1}` })) });
    const warnings: string[] = [];
    dropRepeatedOwners(repeated, warnings, false);
    expect(repeated.metadata.ownerReferences).toHaveLength(MANY / 2);
    expect(warnings).toHaveLength(1);
  });

  test('that are all controllers are refused without repeating the whole list', () => {
    const references = numbered(MANY, i => ({ ...owner, uid: `u${i}`, controller: true }));
    const rules = { namespaced: false, checkName: () => [] };
    const found = validateMetadata(object({ ownerReferences: references }), rules);
    expect(found.length).toBeGreaterThan(0);
    expect(found.reduce((sum, { message }) => sum + message.length, 0)).toBeLessThan(
      10 * JSON.stringify(references).length,
    );
  });
});

describe('field managers', () => {
  const kindOf = (type: Type): ManagedKind => {
    const version = { shape: shapeOf(type), convert: <T>(one: T): T => one };
    return { apiVersion: 'v1', empty: {}, writable: set => set, version: () => version };
  };
  const maps = kindOf(typeOf('core.v1.ConfigMap'));
  const writer = { manager: 'me', subresource: '', now: '2026-01-01T00:00:00Z' };
  /** As many field managers as fit into an object. */
  const ENTRIES = 15_000;
  const managers = (operation: FieldManager['operation']): FieldManagers => {
    const all = numbered(ENTRIES, (i): FieldManager => {
      const set = { 'f:data': { [`f:k${i}`]: {} } };
      return { manager: `m${i}`, operation, apiVersion: 'v1', subresource: '', time: undefined, set };
    });
    return new Map(all.map(owner => [managerKey(owner), owner]));
  };

  test('of updates are merged', () => {
    const after = updateManagers(maps, writer, { data: { a: '1' } }, { data: { a: '2' } }, managers('Update'));
    expect(after.size).toBe(10);
  });

  test('of applies all keep their fields', () => {
    const live = { data: { k1: '', a: '1' } };
    const first = applyConfiguration(maps, writer, live, { data: { a: '2', b: '2' } }, managers('Apply'), true);
    const { object, managers: after } = applyConfiguration(
      maps,
      writer,
      first.object,
      { data: { a: '2' } },
      first.managers,
      true,
    );
    expect([object, after.size]).toEqual([{ data: { k1: '', a: '2' } }, ENTRIES + 1]);
  });

  test('that are many own values as a whole after a change of the schema', () => {
    const names: Type = { is: 'map', of: { is: 'scalar', name: 'string' } };
    const field = {
      name: 'm',
      type: names,
      pointer: true,
      omitEmpty: true,
      required: false,
      merge: { mapType: 'atomic' },
      number: 0,
    } as const;
    const item: Type = { is: 'struct', id: 'x', typeMeta: false, fields: [field], field: new Map([['m', field]]) };
    const set = Object.fromEntries(numbered(MANY, i => [`f:k${i}`, { 'f:m': { 'f:x': {} } }]));
    const owner: FieldManager = {
      manager: 'm',
      operation: 'Apply',
      apiVersion: 'v1',
      subresource: '',
      time: undefined,
      set,
    };
    const after = [...reconcileWithSchema(kindOf({ is: 'map', of: item }), new Map([['m', owner]])).values()][0]!.set;
    expect([Object.keys(after).length, after['f:k7']]).toEqual([MANY, { 'f:m': {} }]);
  });
});

describe('strict errors', () => {
  const LONG = 'L'.repeat(1_000_000);
  const characters = (texts: readonly string[]): number => texts.reduce((sum, text) => sum + text.length, 0);
  const unknown = Object.fromEntries(numbered(MANY, i => [`u${i}`, 1])) as Json;

  test('of members below a long name are limited', () => {
    const repeated = `{"data":{"${LONG}":{${'"a":1,'.repeat(MANY)}"b":1}}}`;
    expect(findStrictErrors(repeated)).toEqual([`duplicate field "data.${LONG}.a"`]);
    const all = findStrictErrors(`{"${LONG}":${JSON.stringify(unknown).replaceAll(':1', ':1,"x":1')}}`);
    expect(all.length).toBeGreaterThan(0);
    expect(characters(all)).toBeLessThan(5 * LONG.length);
  });

  test('of a built-in object are limited', () => {
    const sink = { strictErrors: [] as string[] };
    const type = typeOf('apiextensions.v1.JSONSchemaProps');
    normalize(type, { properties: { [LONG]: unknown } }, sink);
    expect(sink.strictErrors.length).toBeGreaterThan(0);
    expect(characters(sink.strictErrors)).toBeLessThan(5 * LONG.length);
  });

  test('of a custom object are limited like those of others', () => {
    const string = { type: 'string' };
    const map = { type: 'object', additionalProperties: { type: 'object', properties: { a: string } } };
    const schema = { type: 'object', properties: { spec: map } };
    const strictErrors: string[] = [];
    customSchema(schema, () => schema, 'example.com/v1', 'Thing').decode(
      { metadata: {}, spec: { [LONG]: unknown } },
      strictErrors,
    );
    expect(strictErrors.length).toBeGreaterThan(0);
    expect(characters(strictErrors)).toBeLessThan(5 * LONG.length);
  });

  test('of an invalid configuration are limited', () => {
    const { errors } = readConfiguration(shapeOf({ is: 'map', of: typeOf('core.v1.Container') }), { [LONG]: unknown });
    expect(errors.length).toBeGreaterThan(0);
    expect(characters(errors)).toBeLessThan(5 * LONG.length);
  });
});

describe('violations', () => {
  test('of a million names are limited', () => {
    const rules = { namespaced: false, checkName: () => [] };
    const found = validateMetadata(object({ finalizers: numbered(900_000, () => '') }), rules);
    const refusal = invalidObject('', 'ConfigMap', 'x', found);
    expect(refusal.details?.causes).toHaveLength(1000);
    expect(refusal.message).toMatch(/^ConfigMap "x" is invalid: \[metadata\.finalizers: .*, and more\]$/);
  });

  test('with long texts are limited to the size of a body', () => {
    const long = invalid('spec', 'L'.repeat(2_000_000), 'must be short');
    const refusal = invalidObject(
      '',
      'ConfigMap',
      'x',
      numbered(1000, () => long),
    );
    expect([refusal.details?.causes?.length, refusal.message.endsWith(', and more]')]).toEqual([1, true]);
    expect(
      invalidObject('', 'ConfigMap', 'x', [invalid('spec', 'L'.repeat(4_000_000), 'no')]).details?.causes,
    ).toHaveLength(1);
  });
});

describe('custom objects', () => {
  test.each(['allOf', 'anyOf', 'oneOf'] as const)('that violate an %s in very many positions are refused', keyword => {
    const schema = { type: 'object', [keyword]: [{ properties: { list: { items: { minLength: 1 } } } }] };
    const found = schemaViolations({ list: numbered(1_000_000, () => '') }, schema);
    expect(found.length).toBeGreaterThan(1000);
    expect(found.length).toBeLessThan(1010);
  });

  test('with a million invalid items do not repeat all supported values each time', () => {
    const list = { type: 'array', items: { type: 'string', enum: numbered(5000, i => `value ${i}`) } };
    const found = schemaViolations({ list: numbered(1_000_000, () => '') }, { type: 'object', properties: { list } });
    expect(found).toHaveLength(1001);
  });

  test('with a million items in a set, each of them twice, report the first of them', () => {
    const list = { type: 'array', 'x-kubernetes-list-type': 'set', items: { type: 'string' } } as const;
    const value = { list: numbered(1_000_000, i => `${i >> 1}`) };
    expect(duplicateViolations(value, { type: 'object', properties: { list } }, '')).toHaveLength(1001);
  });
});

describe('JSON patches', () => {
  const nested = (depth: number): Json => (depth === 0 ? {} : { x: nested(depth - 1) });

  test('cannot nest values more deeply than a body', () => {
    const deeper: Json[] = [
      { op: 'add', path: '/b', value: nested(200) },
      { op: 'move', from: '/a', path: `/b${'/x'.repeat(200)}/y` },
      { op: 'move', from: '/b', path: '/a' },
    ];
    const patch = (times: number): Json => [
      { op: 'add', path: '/a', value: {} },
      ...numbered(times, () => deeper).flat(),
    ];
    expect(applyJsonPatch({}, patch(2), 10_000)).toMatchObject({ a: { x: {} } });
    for (const times of [3, 800])
      expect(() => applyJsonPatch({}, patch(times), 10_000)).toThrow('json: exceeded max depth of 512');
  });
});

describe('names of field managers', () => {
  test('that are long and not printable are reported once', () => {
    const query = new Map([['fieldManager', ['\u0001'.repeat(60_000)]]]);
    try {
      parseWriteOptions(query, namingOf('neutral'), 'CreateOptions');
      expect.unreachable();
    } catch (refusal) {
      expect(refusal).toBeInstanceOf(Refusal);
      expect((refusal as Refusal).message).toMatch(
        /^CreateOptions.* is invalid: \[fieldManager: Too long: may not be more than 128 bytes/,
      );
      expect((refusal as Refusal).details?.causes?.length).toBeLessThan(130);
    }
  });
});

describe('strategic merge patches', () => {
  const type = typeOf('core.v1.ConfigMap');
  const finalizers = numbered(MANY, i => `a/b${i}`);

  test('remove many items from a long list', () => {
    const patch = {
      metadata: { '$deleteFromPrimitiveList/finalizers': [...finalizers.slice(1), ...numbered(MANY, i => `a/c${i}`)] },
    };
    expect(applyStrategicPatch({ metadata: { finalizers } }, patch, type)).toEqual({
      metadata: { finalizers: ['a/b0'] },
    });
  });

  test('order many items', () => {
    const order = [...finalizers].reverse();
    const patch = { metadata: { finalizers: ['a/new'], '$setElementOrder/finalizers': [...order, 'a/new'] } };
    const merged = applyStrategicPatch({ metadata: { finalizers } }, patch, type);
    expect(merged).toEqual({ metadata: { finalizers: [...order, 'a/new'] } });
  });
});
