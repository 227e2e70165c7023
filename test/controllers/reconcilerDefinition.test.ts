import { afterEach, beforeEach, describe, expect, expectTypeOf, test } from 'vitest';
import { defineResource, type Frozen, reconciler, t, timestamp, withCondition } from '../../core/api/index.js';
import { type FakeHost, fakeHost } from '../../core/testing/index.js';
import type { Pod } from '../../kinds/v1.js';

/* Checks and types of the definitions of reconcilers, and their helper for conditions. */

const order = defineResource({
  group: 'tea.example.com',
  kind: 'Order',
  plural: 'orders',
  scope: 'Namespaced',
  subresources: { status: {} },
  schema: t.object({
    spec: t.object({ cups: t.integer({ default: 1 }) }),
    status: t.optional(t.object({ poured: t.integer() })),
  }),
});

let fake: FakeHost<'control'>;
beforeEach(() => {
  fake = fakeHost('control');
});
afterEach(() => fake.close());

describe('a definition', () => {
  const reconcile = () => undefined;

  test.each([
    [{ name: '', reconcile }, 'reconciler: name must be a text'],
    [{ name: 'x', reconcile: undefined as never }, 'reconciler x: reconcile must be a function'],
    [{ name: 'x', reconcile, concurrency: 0 }, 'reconciler x: concurrency must be an integer from 1 to 256'],
    [{ name: 'x', reconcile, resync: -1 }, 'reconciler x: resync must be milliseconds, from 1 to 2147483647'],
    [{ name: 'x', reconcile, backOff: { min: 2, max: 1 } }, 'reconciler x: backOff must be milliseconds from 1 on'],
  ])('that does not match its type is refused: %j', (definition, message) => {
    expect(() => reconciler(definition)).toThrow(message);
  });

  test.each([
    ['deployments', 'no stored resource can have the name "deployments"; did you mean apps/deployments?'],
    ['Namespace', 'did you mean namespaces?'],
    ['apps/deploiments', 'did you mean apps/deployments?'],
    ['apps/v1/deployments', 'did you mean apps/deployments?'],
  ])('with an impossible resource is refused when it is created: %s', (resource, message) => {
    expect(() => reconciler({ name: 'x', for: resource, reconcile })(fake.host)).toThrow(message);
    expect(() => reconciler({ name: 'x', owns: [resource], reconcile })(fake.host)).toThrow(message);
    const watches = [{ resource, keys: () => [] }];
    expect(() => reconciler({ name: 'x', watches, reconcile })(fake.host)).toThrow(message);
  });

  test('may name a built-in group in either naming, and a resource that a CustomResourceDefinition may add', () => {
    const storageNameOf = (name: string): string => fake.host.resources.storageNameOf(name);
    expect(
      ['networking.k8s.io/ingresses', 'networking.orchestrator.io/ingresses', 'pods', 'core/pods', 'a.io/b'].map(
        storageNameOf,
      ),
    ).toEqual([
      'networking.orchestrator.io/ingresses',
      'networking.orchestrator.io/ingresses',
      'core/pods',
      'core/pods',
      'custom:a.io/b',
    ]);
  });

  test('passes typed objects to its functions', () => {
    reconciler({
      name: 'types',
      for: order,
      owns: ['pods'],
      watches: [
        {
          resource: 'apps/deployments',
          keys: ({ object }) => [{ name: object().spec.template.metadata.name ?? '' }],
        },
      ],
      predicate: ({ object }) => object().spec.cups > 1,
      async reconcile(_key, { object, get, client }) {
        expectTypeOf(object?.spec.cups).toEqualTypeOf<number | undefined>();
        expectTypeOf(get('pods', { name: 'x' })).toEqualTypeOf<Frozen<Pod> | undefined>();
        expectTypeOf(await client.resource('networking.k8s.io/ingresses').get({})).not.toBeAny();
        // @ts-expect-error: objects are frozen.
        if (object) object.spec.cups = 2;
        // @ts-expect-error: there is no such member.
        await client.resource(order).create({ spec: { glasses: 1 } });
        // @ts-expect-error: it is a number.
        if (object) await client.resource(order).setStatus(object, { poured: 'all' });
      },
    });
  });
});

test('a condition keeps its time until its status changes, and the list is the same if nothing changes', () => {
  const update = { type: 'Ready', status: 'True', reason: 'Poured', message: 'all' };
  const first = withCondition([], update, timestamp(0));
  expect(first).toEqual([{ ...update, lastTransitionTime: '1970-01-01T00:00:00Z' }]);
  expect(withCondition(first, update, timestamp(1000))).toBe(first);
  expect(withCondition(first, { ...update, reason: 'Late' }, timestamp(1000))).toEqual([
    { ...first[0], reason: 'Late' },
  ]);
  expect(withCondition(first, { ...update, status: 'False' }, timestamp(1000))).toMatchObject([
    { status: 'False', lastTransitionTime: '1970-01-01T00:00:01Z' },
  ]);
});
