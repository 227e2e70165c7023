import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Json } from '../../core/model/object.js';
import type { ManagedKind } from '../../core/schema/apply/managedKind.js';
import { applyConfiguration, type ApplyResult } from '../../core/schema/apply/applyConfiguration.js';
import { updateManagers, type Writer } from '../../core/schema/apply/ownership.js';
import { encodeManagers, type FieldManagers } from '../../core/schema/apply/fieldManagers.js';
import { shapeOf } from '../../core/schema/apply/shape.js';
import { typeOf } from '../../core/schema/table/types.js';

const shape = shapeOf(typeOf('core.v1.Pod'));
const kind: ManagedKind = {
  apiVersion: 'v1',
  empty: {},
  writable: set => set,
  version: () => ({ shape, convert: object => object }),
};
const writer = (manager: string): Writer => ({ manager, subresource: '', now: '2026-01-01T00:00:00Z' });
const NOBODY: FieldManagers = new Map();

type Part = { [member: string]: Json };
const optional = (members: { [name: string]: fc.Arbitrary<Json> }): fc.Arbitrary<Part> =>
  fc.record(members, { requiredKeys: [] }) as fc.Arbitrary<Part>;
const listOf = (items: fc.Arbitrary<Part>, key: string): fc.Arbitrary<Json> =>
  fc.uniqueArray(items, { selector: item => JSON.stringify(item[key]), minLength: 1, maxLength: 4 });
const keyed = (
  key: string,
  names: readonly Json[],
  members: { [name: string]: fc.Arbitrary<Json> },
): fc.Arbitrary<Part> =>
  fc.tuple(fc.constantFrom(...names), optional(members)).map(([name, rest]) => ({ [key]: name, ...rest }));

/**
 * Configurations whose values are derived from their paths, so that two of them never have different values for a
 * field.
 */
const labels = fc
  .uniqueArray(fc.constantFrom('a', 'b', '__proto__', 'constructor'), { minLength: 1 })
  .map(names => Object.fromEntries(names.map(name => [name, 'x'])));
const env = keyed('name', ['E1', 'E2', 'E3'], { value: fc.constant('v') });
const port = keyed('containerPort', [80, 81], { name: fc.constant('p'), hostPort: fc.constant(1) });
const container = keyed('name', ['c1', 'c2', 'c3', 'c4'], {
  image: fc.constant('i'),
  args: fc.constant(['x', 'y']),
  env: listOf(env, 'name'),
  ports: listOf(port, 'containerPort'),
});
const config: fc.Arbitrary<Part> = fc
  .tuple(
    optional({ labels, finalizers: fc.uniqueArray(fc.constantFrom('a/x', 'a/y', 'a/z'), { minLength: 1 }) }),
    optional({
      hostNetwork: fc.constant(true),
      nodeSelector: fc.constant({ disk: 'ssd' }),
      containers: listOf(container, 'name'),
    }),
  )
  .map(([metadata, spec]) => ({
    ...(Object.keys(metadata).length > 0 ? { metadata } : {}),
    ...(Object.keys(spec).length > 0 ? { spec } : {}),
  }));

const first = (manager: string, of: Json): ApplyResult =>
  applyConfiguration(kind, writer(manager), undefined, of, NOBODY, false);
const then = (
  manager: string,
  of: Json,
  { object, managers }: Omit<ApplyResult, 'isUnchanged'>,
  force = false,
): ApplyResult => applyConfiguration(kind, writer(manager), object, of, managers, force);

/** A value in a normal form: items with keys are sorted; empty structs, and nulls that an apply left, are removed. */
function said(value: Json): Json {
  if (Array.isArray(value)) return value.map(said).sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).map(([name, inner]): [string, Json] => [name, said(inner)]);
  return Object.fromEntries(
    members
      .filter(([, inner]) => inner !== null && (typeof inner !== 'object' || Object.keys(inner).length > 0))
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  );
}

describe('applies', () => {
  test('that are repeated change neither the object nor its managers', () => {
    fc.assert(
      fc.property(config, config, (mine, theirs) => {
        const before = then('one', mine, first('two', theirs));
        const after = then('one', mine, before);
        expect(JSON.stringify(after.object)).toBe(JSON.stringify(before.object));
        expect(encodeManagers(after.managers)).toEqual(encodeManagers(before.managers));
      }),
    );
  });

  test('of one manager leave only the fields of the last configuration', () => {
    fc.assert(
      fc.property(config, config, (before, now) => {
        const { object } = then('one', now, first('one', before));
        expect(said(object)).toEqual(said(now));
      }),
    );
  });

  test('remove fields without other owners, and keep fields that another manager applied', () => {
    fc.assert(
      fc.property(config, config, (mine, theirs) => {
        const both = then('one', mine, first('two', theirs));
        const { object, managers } = then('one', {}, both);
        expect(said(object)).toEqual(said(theirs));
        expect(encodeManagers(managers)).toEqual(encodeManagers(first('two', theirs).managers));
      }),
    );
  });

  test('keep fields that an update wrote', () => {
    fc.assert(
      fc.property(config, config, (mine, theirs) => {
        const managers = updateManagers(kind, writer('two'), undefined, theirs, NOBODY);
        const both = managers.size > 0 ? then('one', mine, { object: theirs, managers }) : first('one', mine);
        expect(said(then('one', {}, both).object)).toEqual(said(theirs));
      }),
    );
  });

  test('put the items of a configuration into its order, and keep the order of the others', () => {
    fc.assert(
      fc.property(config, config, (mine, theirs) => {
        const names = (of: Json): Json[] =>
          (((of as Part)['spec'] as Part | undefined)?.['containers'] as Part[] | undefined)?.map(
            item => item['name']!,
          ) ?? [];
        const { object } = then('one', mine, first('two', theirs));
        expect(names(object).filter(name => names(mine).includes(name))).toEqual(names(mine));
        const others = names(theirs).filter(name => !names(mine).includes(name));
        expect(names(object).filter(name => !names(mine).includes(name))).toEqual(others);
      }),
    );
  });

  test('replace duplicate items with the applied one', () => {
    const port = (name: string): Json => ({ containerPort: 80, protocol: 'TCP', name });
    const pod = (...ports: Json[]): Json => ({ spec: { containers: [{ name: 'c', ports }] } });
    const live = pod(port('a'), { ...(port('b') as Part), hostPort: 1 });
    const managers = updateManagers(kind, writer('two'), undefined, live, NOBODY);
    const { object } = applyConfiguration(kind, writer('one'), live, pod(port('new')), managers, true);
    expect(object).toEqual(pod(port('new')));
  });
});
