import { describe, expect, test } from 'vitest';
import type { Json } from '../../core/model/object.js';
import { unchangedLastApplied, lastAppliedText } from '../../core/schema/apply/lastApplied.js';
import type { ManagedKind } from '../../core/schema/apply/managedKind.js';
import { applyConfiguration } from '../../core/schema/apply/applyConfiguration.js';
import { ApplyConflict, updateManagers, type Writer } from '../../core/schema/apply/ownership.js';
import {
  capUpdaters,
  encodeManagers,
  managerKey,
  type FieldManager,
  type FieldManagers,
  decodeManagers,
  parseManagers,
} from '../../core/schema/apply/fieldManagers.js';
import { reconcileWithSchema } from '../../core/schema/apply/reconcile.js';
import { scaleManagers, managersAfterScale } from '../../core/schema/apply/scale.js';
import { type Shape, shapeOf } from '../../core/schema/apply/shape.js';
import type { Struct } from '../../core/schema/model.js';
import { typeOf } from '../../core/schema/table/types.js';

const configMap = shapeOf(typeOf('core.v1.ConfigMap'));

const kindOf = (shape: Shape): ManagedKind => ({
  apiVersion: 'v1',
  empty: {},
  writable: set => set,
  version: apiVersion => (apiVersion === 'gone/v1' ? undefined : { shape, convert: object => object }),
});
const kind = kindOf(configMap);

const writer = (manager: string, now = '2026-01-01T00:00:00Z'): Writer => ({ manager, subresource: '', now });
const cm = (data: { [key: string]: string }): Json => ({ data });
const owner = (manager: string, of: Partial<FieldManager> = {}): FieldManager => ({
  manager,
  operation: 'Update',
  apiVersion: 'v1',
  subresource: '',
  time: '2026-01-01T00:00:00Z',
  set: { 'f:data': { 'f:a': {} } },
  ...of,
});
const all = (...managers: FieldManager[]): FieldManagers => new Map(managers.map(one => [managerKey(one), one]));
const shown = (managers: FieldManagers): unknown =>
  [...managers.values()].map(one => [one.manager, one.operation, one.set]);

describe('field managers', () => {
  test('the manager that changes a field is its only owner [R294 R295]', () => {
    const created = updateManagers(kind, writer('one'), undefined, cm({ a: '1', b: '1' }), new Map());
    expect(shown(created)).toEqual([['one', 'Update', { 'f:data': { '.': {}, 'f:a': {}, 'f:b': {} } }]]);
    const changed = updateManagers(kind, writer('two'), cm({ a: '1', b: '1' }), cm({ a: '2' }), created);
    expect(shown(changed)).toEqual([
      ['one', 'Update', { 'f:data': {} }],
      ['two', 'Update', { 'f:data': { 'f:a': {} } }],
    ]);
    expect(updateManagers(kind, writer('three'), cm({ a: '2' }), cm({ a: '2' }), changed)).toEqual(changed);
  });

  test('an apply shares fields with equal values, conflicts on others, and takes these over with force [R072 R290 R291 R293]', () => {
    const first = applyConfiguration(kind, writer('one'), undefined, cm({ a: '1' }), new Map(), false);
    const second = applyConfiguration(kind, writer('two'), first.object, cm({ a: '1' }), first.managers, false);
    expect(shown(second.managers)).toEqual([
      ['one', 'Apply', { 'f:data': { 'f:a': {} } }],
      ['two', 'Apply', { 'f:data': { 'f:a': {} } }],
    ]);
    const third = (force: boolean) =>
      applyConfiguration(kind, writer('two'), second.object, cm({ a: '2' }), second.managers, force);
    expect(() => third(false)).toThrow(ApplyConflict);
    expect(shown(third(true).managers)).toEqual([['two', 'Apply', { 'f:data': { 'f:a': {} } }]]);
    expect(third(true).object).toEqual(cm({ a: '2' }));
  });

  test('an apply removes fields that it no longer contains, unless another manager owns them [R073 R292 R296 R301]', () => {
    const first = applyConfiguration(kind, writer('one'), undefined, cm({ a: '1', b: '1' }), new Map(), false);
    const second = applyConfiguration(kind, writer('two'), first.object, cm({ b: '1' }), first.managers, false);
    const third = applyConfiguration(kind, writer('one'), second.object, cm({}), second.managers, false);
    expect(third.object).toEqual(cm({ b: '1' }));
    const fourth = applyConfiguration(kind, writer('two'), third.object, { apiVersion: 'v1' }, third.managers, false);
    expect(shown(fourth.managers)).toEqual([['one', 'Apply', { 'f:data': {} }]]);
  });

  test('an apply that changes nothing keeps the time of its entry', () => {
    const first = applyConfiguration(kind, writer('one'), undefined, cm({ a: '1' }), new Map(), false);
    const again = applyConfiguration(
      kind,
      writer('one', '2026-02-02T00:00:00Z'),
      first.object,
      cm({ a: '1' }),
      first.managers,
      false,
    );
    expect(encodeManagers(again.managers)).toEqual(encodeManagers(first.managers));
  });

  test('an object without tracked fields belongs to one manager before its first apply', () => {
    const apply = (): unknown =>
      applyConfiguration(kind, writer('one'), cm({ a: '1' }), cm({ a: '2' }), new Map(), false);
    expect(apply).toThrow(ApplyConflict);
    const { managers } = applyConfiguration(kind, writer('one'), cm({ a: '1' }), cm({ a: '1' }), new Map(), false);
    expect([...managers.values()].map(one => one.manager)).toEqual(['before-first-apply', 'one']);
  });

  test('a manager in a version that is no longer served is removed by the next write', () => {
    const managers = all(owner('old', { apiVersion: 'gone/v1' }), owner('now', { set: { 'f:data': { 'f:b': {} } } }));
    const after = updateManagers(kind, writer('x'), cm({ a: '1', b: '1' }), cm({ a: '2', b: '1' }), managers);
    expect([...after.values()].map(one => one.manager)).toEqual(['now', 'x']);
  });

  test('more than ten entries of updates are merged per version, the oldest first; entries of applies are kept', () => {
    const many = Array.from({ length: 12 }, (_, i) =>
      owner(`m${i}`, { time: `2026-01-01T00:00:${10 + i}Z`, set: { 'f:data': { [`f:k${i}`]: {} } } }),
    );
    const appliers = Array.from({ length: 15 }, (_, i) => owner(`a${i}`, { operation: 'Apply' }));
    const after = [...capUpdaters(all(...many, ...appliers)).values()];
    const updates = after.filter(one => one.operation === 'Update');
    expect([updates.length, after.length - updates.length]).toEqual([10, 15]);
    expect(updates.find(one => one.manager === 'ancient-changes')).toMatchObject({
      time: '2026-01-01T00:00:12Z',
      set: { 'f:data': { 'f:k0': {}, 'f:k1': {}, 'f:k2': {} } },
    });
  });

  test('entries are ordered by operation, time and name, with the members that each needs', () => {
    const managers = all(
      owner('b'),
      owner('a'),
      owner('z', { time: '2025-01-01T00:00:00Z', subresource: 'status' }),
      owner('y', { operation: 'Apply' }),
    );
    const entries = encodeManagers(managers)!;
    expect(entries.map(entry => entry.manager)).toEqual(['y', 'z', 'a', 'b']);
    expect(Object.keys(entries[1]!)).toEqual([
      'manager',
      'operation',
      'apiVersion',
      'time',
      'fieldsType',
      'fieldsV1',
      'subresource',
    ]);
    expect(encodeManagers(decodeManagers(entries))).toEqual(entries);
    expect(encodeManagers(new Map())).toBeUndefined();
  });

  test('malformed entries of a client are not accepted', () => {
    const good = {
      manager: 'm',
      operation: 'Update',
      apiVersion: 'v1',
      fieldsType: 'FieldsV1',
      fieldsV1: { 'f:data': {} },
    };
    expect(parseManagers([good])?.size).toBe(1);
    for (const bad of [
      { operation: 'Steal' },
      { apiVersion: '' },
      { fieldsType: 'FieldsV2' },
      { fieldsV1: { data: {} } },
    ])
      expect(parseManagers([{ ...good, ...bad }])).toBeUndefined();
    for (const none of [null, 'x', [null], ['x']]) expect(parseManagers(none)).toBeUndefined();
  });
});

describe('changes of the schema', () => {
  const list = (listType: 'set' | 'atomic'): Shape => {
    const field = {
      name: 'list',
      type: { is: 'list', of: { is: 'scalar', name: 'string' } },
      pointer: true,
      omitEmpty: true,
      required: false,
      merge: { listType },
      number: 0,
    } as const;
    return shapeOf({
      is: 'struct',
      id: 'x',
      typeMeta: false,
      fields: [field],
      field: new Map([['list', field]]),
    } as Struct);
  };

  test('to atomic make the owners of items owners of the list [R098]', () => {
    const managers = all(owner('one', { operation: 'Apply', set: { 'f:list': { 'v:"x"': {} } } }));
    expect(shown(reconcileWithSchema(kindOf(list('atomic')), managers))).toEqual([['one', 'Apply', { 'f:list': {} }]]);
    const write = (): unknown =>
      applyConfiguration(kindOf(list('atomic')), writer('two'), { list: ['x'] }, { list: ['y'] }, managers, false);
    expect(write).toThrow(ApplyConflict);
  });

  test('from atomic leave items without an owner, so that later applies have no conflict [R099]', () => {
    const managers = all(owner('one', { operation: 'Apply', set: { 'f:list': {} } }));
    const { object } = applyConfiguration(
      kindOf(list('set')),
      writer('two'),
      { list: ['x'] },
      { list: ['y'] },
      managers,
      false,
    );
    expect(object).toEqual({ list: ['x', 'y'] });
  });
});

describe('scales', () => {
  const count = ['f:spec', 'f:replicas'];
  const parent = all(
    owner('main', {
      operation: 'Apply',
      apiVersion: 'apps/v1',
      set: { 'f:spec': { 'f:replicas': {}, 'f:paused': {} } },
    }),
    owner('only', { apiVersion: 'apps/v1', set: { 'f:spec': { 'f:replicas': {} } } }),
    owner('other', { apiVersion: 'apps/v1', set: { 'f:spec': { 'f:paused': {} } } }),
  );

  test('show only the managers of the count, in the version of scales', () => {
    const scale = [...scaleManagers(parent, count).values()];
    expect(scale.map(one => [one.manager, one.apiVersion])).toEqual([
      ['main', 'autoscaling/v1'],
      ['only', 'autoscaling/v1'],
    ]);
  });

  test('move ownership of the count to the manager that wrote it', () => {
    const writes = owner('hpa', {
      apiVersion: 'autoscaling/v1',
      subresource: 'scale',
      set: { 'f:spec': { 'f:replicas': {} } },
    });
    expect([...managersAfterScale(parent, all(writes), count, 'apps/v1').values()]).toMatchObject([
      { manager: 'main', set: { 'f:spec': { 'f:paused': {} } } },
      { manager: 'other' },
      { manager: 'hpa', apiVersion: 'apps/v1', subresource: 'scale', set: { 'f:spec': { 'f:replicas': {} } } },
    ]);
  });
});

describe('last applied configurations', () => {
  const name = 'last';
  const live = (annotation: string) => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { annotations: { [name]: annotation } },
    data: { a: '1', b: '2' },
  });

  test('own fields that still have their value, only in their own version', () => {
    const config = { apiVersion: 'v1', kind: 'ConfigMap', data: { a: '1', b: '1', c: '1' } };
    expect(unchangedLastApplied(configMap, live(JSON.stringify(config)), name)).toMatchObject({
      'f:data': { 'f:a': {} },
    });
    expect(unchangedLastApplied(configMap, live(JSON.stringify(config)), name)['f:data']).toEqual({ 'f:a': {} });
    for (const bad of ['', '{', '[]', JSON.stringify({ ...config, apiVersion: 'v2' })])
      expect(unchangedLastApplied(configMap, live(bad), name)).toEqual({});
  });

  test('are written with sorted members and without the annotation itself', () => {
    const config = {
      kind: 'ConfigMap',
      apiVersion: 'v1',
      metadata: { name: 'x', annotations: { z: '<', [name]: 'old' } },
    };
    expect(lastAppliedText(config, name)).toBe(
      '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"annotations":{"z":"\\u003c"},"name":"x"}}\n',
    );
  });
});
