import { describe, expect, test } from 'vitest';
import {
  type ApiObject,
  type CustomStrategy,
  defineResource,
  forbiddenField,
  numberAt,
  type ResourceDefinition,
  type ResourceSource,
  setDefault,
  specOf,
  stringAt,
} from '../../core/api/index.js';
import { resourceSourceConformance, resourceTypeConformance } from '../../core/testing/index.js';
import { testStrategy } from '../../core/testing/conformance/resource.js';
import { suite } from '../../core/testing/suite.js';
import { decodeObject } from '../../core/schema/decode/decode.js';
import type { Json } from '../../core/model/object.js';
import { SEEDS } from '../api/fuzz/seeds.js';
import { registryOf } from '../kinds/builtIn.js';
import { conforms } from './conforms.js';
import { failing } from './failing.js';

/* The suites of resource types and their sources: they find faults, and the built-in kinds pass them. */

const order = (spec: object): ApiObject => ({
  apiVersion: 'tea.example.com/v1',
  kind: 'Order',
  metadata: { name: 'o', namespace: 'default' },
  spec,
});
const definition: ResourceDefinition = {
  group: 'tea.example.com',
  kind: 'Order',
  plural: 'orders',
  scope: 'Namespaced',
  schema: {
    type: 'object',
    properties: { spec: { type: 'object', properties: { tea: { type: 'string' }, cups: { type: 'integer' } } } },
  },
};
const strategy: CustomStrategy = {
  applyDefaults: object => setDefault(specOf(object), 'cups', 1),
  validateUpdate: (object, old) =>
    stringAt(object, 'spec', 'tea') === stringAt(old, 'spec', 'tea') ? [] : [forbiddenField('spec.tea', 'is brewed')],
  selectableFields: new Map([['spec.tea', object => stringAt(object, 'spec', 'tea')]]),
};
const samples = [
  { object: order({ tea: 'assam' }) },
  { object: order({ cups: 'many' as never }), fields: ['spec.cups'] },
  { object: order({ tea: 'sencha' }), old: order({ tea: 'assam' }), fields: ['spec.tea'] },
];

conforms(
  'a resource type',
  resourceTypeConformance({ make: () => defineResource({ ...definition, strategy }), samples }),
);

describe('the suite of resource types', () => {
  const found = (changed: CustomStrategy, more: Partial<ResourceDefinition> = {}) =>
    failing(
      resourceTypeConformance({
        make: () => defineResource({ ...definition, strategy: { ...strategy, ...changed }, ...more }),
        samples,
      }),
    );

  test.each<[string, CustomStrategy, string[]]>([
    [
      'counts on with each default',
      { applyDefaults: object => void (specOf(object)['cups'] = (numberAt(object, 'spec', 'cups') ?? 0) + 1) },
      ['sets no further default when it is called again'],
    ],
    [
      'leaves undefined members',
      { prepareCreate: object => void (object['spec'] = { ...specOf(object), tea: undefined }) },
      ['leaves objects that are JSON'],
    ],
    [
      'changes the current object',
      { prepareUpdate: (_object, old) => void (old['spec'] = {}) },
      [
        'finds the expected violations, each time, and does not modify current objects',
        'leaves objects that are JSON',
        'does not fail for objects that lack members',
      ],
    ],
    [
      'relies on members that may be missing',
      { validateCreate: ({ spec }) => ((spec as { tea: string }).tea.length > 9 ? [] : []) },
      ['does not fail for objects that lack members'],
    ],
  ])('finds a type that %s', async (_name, changed, expected) => {
    expect((await found(changed)).filter(title => expected.includes(title))).toEqual(expected);
  });

  test('finds types that differ between threads, and schemas that cannot be served', async () => {
    let made = 0;
    const make = () => defineResource({ ...definition, shortNames: [`o${++made}`] });
    expect(await failing(resourceTypeConformance({ make, samples: [] }))).toEqual(['is the same in every thread']);
    expect(await found({}, { schema: { type: 'strnig' } })).toContain(
      'has names, versions and schemas that can be served',
    );
  });
});

test('the suite of sources finds sources that read missing members, or depend on more than the object', async () => {
  const objects = [{ object: order({ tea: 'assam' }), defines: 'assams.tea.example.com' }];
  const type = (tea: string) => defineResource({ ...definition, kind: 'Assam', plural: `${tea}s` });
  const source = (define: ResourceSource['define']) => () => ({ storageName: 'tea.example.com/orders', define });
  const found = (define: ResourceSource['define']) =>
    failing(resourceSourceConformance({ make: source(define), objects }));
  const teaOf = (object: ApiObject) => stringAt(object, 'spec', 'tea');
  expect(await found(object => (teaOf(object) ? type(teaOf(object)) : undefined))).toEqual([]);
  expect(await found(object => type((object['spec'] as { tea: string }).tea.toLowerCase()))).toEqual([
    'does not fail for objects that lack members',
  ]);
  let calls = 0;
  expect(await found(() => ({ ...type('assam'), shortNames: [`o${++calls}`] }))).toEqual([
    'defines the expected types from frozen objects, the same in every thread',
  ]);
});

/** Seeds that tests of a server change before they send them, with the fields that are invalid until then. */
const WRONG: ReadonlyMap<string, readonly string[]> = new Map([
  ['events', ['involvedObject.namespace']],
  ['customresourcedefinitions', ['metadata.name']],
]);
const registry = registryOf('kubernetes');
for (const resource of registry.stored) {
  const seed = SEEDS.get(resource.plural);
  if (!seed || !resource.builtIn) continue;
  const object = {
    apiVersion: resource.apiVersion,
    kind: resource.kind,
    metadata: { name: 'x', ...(resource.namespaced ? { namespace: 'default' } : {}), uid: 'u' },
    ...seed,
  } as ApiObject;
  const read = (given: ApiObject) =>
    decodeObject(resource, structuredClone(given) as unknown as Json, { strictErrors: [] });
  conforms(
    `the kind ${resource.kind}`,
    suite(builder =>
      testStrategy(builder, () => resource.strategy, [{ object, fields: WRONG.get(resource.plural) ?? [] }], read),
    ),
  );
}
