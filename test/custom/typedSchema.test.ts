import { describe, expect, expectTypeOf, test } from 'vitest';
import { type ApiObject, defineResource, t, type ValueOf } from '../../core/api/index.js';
import { resourcesOf } from '../../core/schema/custom/kind.js';
import { structuralViolations } from '../../core/schema/custom/structural/structural.js';
import { loadEngine } from '../../core/schema/custom/engine.js';
import { contextWith } from '../kinds/helpers.js';

/* Schemas with types. A line with `@ts-expect-error` fails the type check of the project if its code compiles. */

const order = t.object({
  spec: t.object({
    tea: t.enum(['assam', 'sencha']),
    cups: t.integer({ minimum: 0, default: 1 }),
    notes: t.optional(t.list(t.string())),
    price: t.nullable(t.number()),
    port: t.intOrString(),
    labels: t.map(t.string()),
    guests: t.keyedList(['name'], t.object({ name: t.string(), vip: t.optional(t.boolean()) })),
    days: t.set(t.integer()),
    template: t.embedded(),
    free: t.optional(t.any()),
  }),
  status: t.optional(t.object({ poured: t.integer() })),
});
type Order = ValueOf<typeof order>;

test('the type of values follows from the schema', () => {
  expectTypeOf<Order['spec']['tea']>().toEqualTypeOf<'assam' | 'sencha'>();
  expectTypeOf<Order['spec']['cups']>().toEqualTypeOf<number>();
  expectTypeOf<Order['spec']['notes']>().toEqualTypeOf<string[] | undefined>();
  expectTypeOf<Order['spec']['price']>().toEqualTypeOf<number | null>();
  expectTypeOf<Order['spec']['port']>().toEqualTypeOf<number | string>();
  expectTypeOf<Order['spec']['labels']>().toEqualTypeOf<{ [name: string]: string }>();
  expectTypeOf<Order['spec']['guests']>().toEqualTypeOf<{ name: string; vip?: boolean }[]>();
  expectTypeOf<Order['status']>().toEqualTypeOf<{ poured: number } | undefined>();
  // @ts-expect-error: the key of a list must be a member of its items
  t.keyedList(['nick'], t.object({ name: t.string() }));
  // @ts-expect-error: a type is not a limit
  t.string({ type: 'integer' });
});

test('the schema is structural, and requires fields that are not optional and have no default', async () => {
  await loadEngine();
  expect(structuralViolations(order, 'schema')).toEqual([]);
  expect(order.required).toEqual(['spec']);
  expect(order.properties!['spec']!.required).toEqual(['tea', 'price', 'port', 'labels', 'guests', 'days', 'template']);
  expect(JSON.parse(JSON.stringify(order))).toEqual(order);
});

const NAMES = { group: 'tea.example.com', kind: 'Order', plural: 'orders', scope: 'Namespaced' } as const;

test('functions of a kind with one version get objects of its schema', () => {
  defineResource({
    ...NAMES,
    schema: t.object({ spec: t.object({ cups: t.integer() }) }),
    validate: ({ spec, metadata }, old) => {
      expectTypeOf(spec.cups).toEqualTypeOf<number>();
      expectTypeOf(metadata.name).toEqualTypeOf<string | undefined>();
      expectTypeOf(old?.spec).toEqualTypeOf<{ cups: number } | undefined>();
      // @ts-expect-error: not in the schema
      spec.pots;
      return [];
    },
    strategy: {
      applyDefaults: object => {
        object.spec.cups += 0;
        // @ts-expect-error: not a number
        object.spec.cups = 'many';
      },
      claims: object => [String(object.spec.cups)],
      selectableFields: { cups: ({ spec }) => String(spec.cups) },
      columns: [
        { name: 'Cups', type: 'integer', format: '', priority: 0, description: '', cell: ({ spec }) => spec.cups },
      ],
      subresources: { refill: (_body, current) => ({ ...current, spec: { cups: current.spec.cups + 1 } }) },
    },
  });
});

test('functions of a kind with a schema as JSON get untyped objects', () => {
  defineResource({
    ...NAMES,
    schema: { type: 'object', properties: { spec: { type: 'object' } } },
    validate: object => {
      expectTypeOf(object).toEqualTypeOf<ApiObject>();
      return [];
    },
  });
});

describe('several versions', () => {
  const v1 = t.object({ spec: t.object({ amount: t.string() }) });
  const v2 = t.object({ spec: t.object({ cups: t.integer(), hot: t.boolean({ default: true }) }) });
  const type = defineResource({
    ...NAMES,
    versions: [
      { name: 'v2', schema: v2, storage: true },
      { name: 'v1', schema: v1 },
      { name: 'v1beta1', schema: v1, served: false },
    ],
    conversion: {
      v1: {
        toStored: ({ apiVersion, spec }) => {
          expectTypeOf(apiVersion).toEqualTypeOf<'tea.example.com/v1'>();
          return { spec: { cups: Number(spec.amount), hot: true } };
        },
        fromStored: ({ apiVersion, spec }) => {
          expectTypeOf(apiVersion).toEqualTypeOf<'tea.example.com/v2'>();
          return { spec: { amount: String(spec.cups) } };
        },
      },
      v1beta1: {
        toStored: ({ spec }) => ({ spec: { cups: spec.amount.length, hot: false } }),
        fromStored: ({ spec }) => ({ spec: { amount: '|'.repeat(spec.cups) } }),
      },
    },
    validate: object => {
      if (object.apiVersion === 'tea.example.com/v2') expectTypeOf(object.spec.cups).toEqualTypeOf<number>();
      else expectTypeOf(object.spec.amount).toEqualTypeOf<string>();
      return [];
    },
  });

  test('are converted by functions from and to the stored one', () => {
    const convert = type.strategy!.convert!;
    const metadata = { name: 'a', labels: { a: 'b' } };
    const of = (version: string, spec: object) => ({
      apiVersion: `${NAMES.group}/${version}`,
      kind: 'Order',
      metadata,
      spec,
    });
    expect(convert(of('v1', { amount: '3' }), `${NAMES.group}/v2`)).toEqual(of('v2', { cups: 3, hot: true }));
    expect(convert(of('v2', { cups: 3 }), `${NAMES.group}/v1beta1`)).toEqual(of('v1beta1', { amount: '|||' }));
    expect(convert(of('v1', { amount: '2' }), `${NAMES.group}/v1beta1`)).toEqual(of('v1beta1', { amount: '||' }));
    const [stored] = resourcesOf(type);
    expect(stored!.strategy.validateCreate(of('v2', { cups: 1, hot: true }), contextWith())).toEqual([]);
  });

  const versions = [
    { name: 'v2', schema: v2 },
    { name: 'v1', schema: v1 },
  ] as const;
  const toStored = () => ({ spec: { cups: 1, hot: true } });

  test('need a conversion for each version that is not stored', () => {
    const make = () =>
      defineResource({
        ...NAMES,
        versions: [...versions],
        // @ts-expect-error: v1 is missing
        conversion: {},
      });
    expect(make).toThrow('conversion.v1 must have the functions toStored and fromStored');
    const wrong = () =>
      defineResource({
        ...NAMES,
        versions: [...versions],
        // @ts-expect-error: an amount is a text
        conversion: { v1: { toStored, fromStored: ({ spec }) => ({ spec: { amount: spec.cups } }) } },
      });
    expect(wrong).not.toThrow();
  });

  test('cannot have two kinds of conversion', () => {
    const conversion = { v1: { toStored, fromStored: () => ({ spec: { amount: '' } }) } };
    const convert = (object: ApiObject) => object;
    expect(() => defineResource({ ...NAMES, versions: [...versions], conversion, strategy: { convert } })).toThrow(
      'give either conversion or strategy.convert',
    );
  });
});
