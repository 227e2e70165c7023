import { commonTests, type PointTemplate, serverTest, testHead, textSettings } from './shared.js';

/** A kind whose types follow from its schema. */
export const resourceType: PointTemplate = {
  config: '{ "mostCups": 20 }',
  source:
    name => `import { ConfigError, defineResource, definePlugin, invalid, type Plugin, resourceType, t } from 'capstan/api';

/** Settings: the largest number of cups of an order. */
interface Config {
  readonly mostCups: number;
}

function parse(config: unknown): Config {
  const { mostCups } = (config ?? {}) as Partial<Config>;
  if (!Number.isInteger(mostCups)) throw new ConfigError('mostCups', 'must be a whole number');
  return { mostCups: mostCups as number };
}

/** The schema of what is stored. The server checks it, and the types of the functions below follow from it. */
const schema = t.object({
  spec: t.object({ tea: t.enum(['assam', 'oolong', 'sencha']), cups: t.integer({ minimum: 1, default: 1 }) }),
  status: t.optional(t.object({ poured: t.integer() })),
});

/** Orders of tea. \`client.resource(orders(config))\` has their type. */
export const orders = ({ mostCups }: Config) =>
  defineResource({
    group: 'tea.example.com',
    kind: 'Order',
    plural: 'orders',
    scope: 'Namespaced',
    schema,
    subresources: { status: {} },
    // Rules that a schema cannot express.
    validate: ({ spec }) =>
      spec.cups > mostCups ? [invalid('spec.cups', spec.cups, \`must be at most \${mostCups}\`)] : [],
  });

export default definePlugin({
  name: '${name}',
  parse,
  contribute: config => [resourceType.of(() => orders(config))],
}) satisfies Plugin<Config>;
`,
  test: `${testHead('resourceType', 'fakeHost, partsOf, resourceTypeConformance, startTestServer').replace(
    'import plugin',
    "import type { ResourceType } from 'capstan/api';\nimport plugin, { orders }",
  )}
const config = { mostCups: 20 };
const make = async () =>
  (await partsOf(plugin, config, resourceType, fakeHost('pool').host))[0] as ResourceType;
const order = (cups: number) => ({
  apiVersion: 'tea.example.com/v1',
  kind: 'Order',
  metadata: { name: 'sample', namespace: 'default' },
  spec: { tea: 'assam', cups },
});
const samples = [
  { object: order(20), fields: [] },
  { object: order(21), fields: ['spec.cups'] },
];

for (const { name, run } of resourceTypeConformance({ make, samples })) test(name, run);
${commonTests('{}', 'mostCups: must be a whole number')}
${serverTest(
  'is served, with defaults and both kinds of checks',
  `const found = server.client.resource(orders(config));
const metadata = { name: 'sample', namespace: 'default' };
const { spec } = await found.create({ metadata, spec: { tea: 'assam' } });
assert.deepEqual(spec, { tea: 'assam', cups: 1 });
const other = { name: 'other', namespace: 'default' };
await assert.rejects(found.create({ metadata: other, spec: { tea: 'assam', cups: 21 } }), { code: 422 });
const body = { ...order(1), spec: { tea: 'coffee', cups: 1 } };
const path = '/apis/tea.example.com/v1/namespaces/default/orders';
assert.equal((await server.request('POST', path, { body })).status, 422);`,
)}`,
};

/** A converter of the kind of a definition. */
export const converter: PointTemplate = {
  config: '{ "unit": "cups" }',
  source:
    name => `import { type ApiObject, ConfigError, converter, customStorageName, definePlugin, type Plugin } from 'capstan/api';

${textSettings('the unit of amounts as version v1 has them', { unit: 'must be a word' })}

interface Order extends ApiObject {
  readonly spec: { readonly amount?: string; readonly cups?: number };
}

/** Version v1 has \`amount: 3 cups\`, and v2 \`cups: 3\`. It is called with objects of any other version. */
function convertOrder(order: Order, apiVersion: string, unit: string): ApiObject {
  const { amount, cups, ...others } = order.spec;
  const number = cups ?? Number.parseInt(amount ?? '0', 10);
  const own = apiVersion.endsWith('/v1') ? { amount: \`\${number} \${unit}\` } : { cups: number };
  return { ...order, apiVersion, spec: { ...others, ...own } };
}

/** Converts the orders of a CustomResourceDefinition \`orders.tea.example.com\`, instead of a webhook. */
export default definePlugin({
  name: '${name}',
  parse,
  contribute: ({ unit }) => [
    converter.of(() => ({
      selects: ({ storageName }) => storageName === customStorageName({ group: 'tea.example.com', plural: 'orders' }),
      convert: (_kind, objects, apiVersion) =>
        objects.map(object => convertOrder(object as Order, apiVersion, unit)),
    })),
  ],
}) satisfies Plugin<Config>;
`,
  test: `${testHead('converter', 'fakeHost, partsOf, startTestServer')}
const config = { unit: 'cups' };
const v2 = 'tea.example.com/v2';
const order = (version: string, spec: object) => ({
  apiVersion: \`tea.example.com/\${version}\`,
  kind: 'Order',
  metadata: { name: 'sample', namespace: 'default' },
  spec,
});

test('converts there and back, and does not modify its arguments', async () => {
  const [part] = await partsOf(plugin, config, converter, fakeHost('pool').host);
  const kind = { storageName: 'custom:tea.example.com/orders', kind: 'Order' };
  assert.ok(part!.selects(kind) && !part!.selects({ ...kind, storageName: 'custom:other.example.com/orders' }));
  const old = order('v1', { amount: '3 cups', sugar: true });
  const [converted] = await part!.convert(kind, [Object.freeze(old)], v2);
  assert.deepEqual(converted, order('v2', { cups: 3, sugar: true }));
  assert.deepEqual(await part!.convert(kind, [converted!], old.apiVersion), [old]);
});
${commonTests('{}', 'unit: must be a word')}
${serverTest(
  'converts the objects of a definition in a server',
  `const properties = { amount: { type: 'string' }, cups: { type: 'integer' } };
const schema = { openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object', properties } } } };
const versions = ['v1', 'v2'].map(name => ({ name, served: true, storage: name === 'v2', schema }));
const spec = { group: 'tea.example.com', names: { plural: 'orders', kind: 'Order' }, scope: 'Namespaced', versions };
const definitions = '/apis/apiextensions.orchestrator.io/v1/customresourcedefinitions';
await server.request('POST', definitions, { body: { metadata: { name: 'orders.tea.example.com' }, spec } });
const path = (version: string) => \`/apis/tea.example.com/\${version}/namespaces/default/orders\`;
await server.until(path('v1'), ({ status }) => status === 200);
await server.request('POST', path('v1'), { body: order('v1', { amount: '3 cups' }) });
const { body } = await server.request('GET', \`\${path('v2')}/sample\`);
assert.deepEqual(body.spec, { cups: 3 });`,
)}`,
};
