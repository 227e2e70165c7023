import { describe, expect, test } from 'vitest';
import type { ApiObject, ObjectMeta } from '../../core/model/object.js';
import { applied, type Kind, updated } from '../../core/schema/apply/manager.js';
import { keyOf, type Owner, type Owners } from '../../core/schema/apply/owners.js';
import { reconciled } from '../../core/schema/apply/reconcile.js';
import { shapeOf } from '../../core/schema/apply/shape.js';
import { validateMetadata } from '../../core/schema/metadata.js';
import type { Type } from '../../core/schema/model.js';
import { typeOf } from '../../core/schema/table/types.js';
import { dropRepeatedOwners } from '../../workers/pipeline/metadata.js';

/*
 * Bodies as large as a server takes, made so that work which grows faster than the body would not end: a test of this file that does not come back
 * within the runner's limit has found such work.
 */

const MANY = 40_000;
const object = (metadata: ObjectMeta): ApiObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'x', ...metadata },
});
const numbered = <T>(count: number, of: (i: number) => T): T[] => Array.from({ length: count }, (_, i) => of(i));

describe('owner references', () => {
  const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'o' };

  test('are told apart however many there are', () => {
    const repeated = object({ ownerReferences: numbered(MANY, i => ({ ...owner, uid: `u${i >> 1}` })) });
    const warnings: string[] = [];
    dropRepeatedOwners(repeated, warnings, false);
    expect(repeated.metadata.ownerReferences).toHaveLength(MANY / 2);
    expect(warnings).toHaveLength(1);
  });

  test('that all control are refused without telling the whole list each time', () => {
    const references = numbered(MANY, i => ({ ...owner, uid: `u${i}`, controller: true }));
    const rules = { namespaced: false, checkName: () => [] };
    const found = validateMetadata(object({ ownerReferences: references }), rules);
    expect(found.length).toBeGreaterThan(0);
    expect(found.reduce((sum, { message }) => sum + message.length, 0)).toBeLessThan(10 * JSON.stringify(references).length);
  });
});

describe('managers of fields', () => {
  const kindOf = (type: Type): Kind => {
    const version = { shape: shapeOf(type), convert: <T>(one: T): T => one };
    return { apiVersion: 'v1', empty: {}, owned: set => set, version: () => version };
  };
  const maps = kindOf(typeOf('core.v1.ConfigMap'));
  const writer = { manager: 'me', subresource: '', now: '2026-01-01T00:00:00Z' };
  const owners = (operation: Owner['operation']): Owners => {
    const all = numbered(MANY, (i): Owner => {
      const set = { 'f:data': { [`f:k${i}`]: {} } };
      return { manager: `m${i}`, operation, apiVersion: 'v1', subresource: '', time: undefined, set };
    });
    return new Map(all.map(owner => [keyOf(owner), owner]));
  };

  test('that update become few', () => {
    const after = updated(maps, writer, { data: { a: '1' } }, { data: { a: '2' } }, owners('Update'));
    expect(after.size).toBe(10);
  });

  test('that apply all keep what is theirs', () => {
    const live = { data: { k1: '', a: '1' } };
    const first = applied(maps, writer, live, { data: { a: '2', b: '2' } }, owners('Apply'), true);
    const { object, owners: after } = applied(maps, writer, first.object, { data: { a: '2' } }, first.owners, true);
    expect([object, after.size]).toEqual([{ data: { k1: '', a: '2' } }, MANY + 1]);
  });

  test('own values whole, all of them, once the schema says so', () => {
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
    const owner: Owner = { manager: 'm', operation: 'Apply', apiVersion: 'v1', subresource: '', time: undefined, set };
    const after = [...reconciled(kindOf({ is: 'map', of: item }), new Map([['m', owner]])).values()][0]!.set;
    expect([Object.keys(after).length, after['f:k7']]).toEqual([MANY, { 'f:m': {} }]);
  });
});
