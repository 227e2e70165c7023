import { defineResource, definePlugin, forbiddenField, type Plugin, resourceType, t } from 'capstan/api';

/** An order as it is stored. The types of the functions below follow from the schemas. */
const v2 = t.object({
  spec: t.object({
    tea: t.enum(['assam', 'oolong', 'sencha']),
    cups: t.integer({ minimum: 1, maximum: 20, default: 1 }),
    sugar: t.optional(t.boolean()),
    guests: t.optional(t.keyedList(['name'], t.object({ name: t.string(), seat: t.optional(t.integer()) }))),
  }),
  status: t.optional(t.object({ poured: t.integer(), servedBy: t.optional(t.string()) })),
});

/** The older form, which clients may still use: the amount was a string. */
const v1 = t.object({
  spec: t.object({ tea: t.string(), amount: t.string({ pattern: '^[0-9]+ cups?$' }) }),
  status: t.optional(t.object({ poured: t.integer() })),
});
const subresources = { status: {} };

/** Orders of tea in two versions, with rules in code. */
const order = defineResource({
  group: 'teahouse.example.com',
  kind: 'Order',
  plural: 'orders',
  scope: 'Namespaced',
  versions: [
    { name: 'v2', schema: v2, storage: true, subresources, selectableFields: ['.spec.tea'] },
    { name: 'v1', schema: v1, subresources, deprecationWarning: 'use teahouse.example.com/v2' },
  ],
  conversion: {
    v1: {
      toStored: ({ spec: { tea, amount }, status }) => ({
        spec: { tea: teaOf(tea), cups: Number.parseInt(amount, 10) },
        status,
      }),
      fromStored: ({ spec, status }) => ({
        spec: { tea: spec.tea, amount: `${spec.cups} cup${spec.cups === 1 ? '' : 's'}` },
        status: status && { poured: status.poured },
      }),
    },
  },
  validate: order =>
    order.apiVersion === 'teahouse.example.com/v2' && order.spec.sugar && order.spec.tea === 'sencha'
      ? [forbiddenField('spec.sugar', 'no sugar in sencha')]
      : [],
  strategy: {
    selectableFields: { size: object => ('cups' in object.spec && object.spec.cups > 6 ? 'large' : 'small') },
    subresources: {
      serving: (_body, current, { user }) =>
        current.apiVersion === 'teahouse.example.com/v2'
          ? { ...current, status: { poured: current.spec.cups, servedBy: user.name } }
          : current,
    },
    columns: [
      {
        name: 'Order',
        type: 'string',
        format: '',
        priority: 0,
        description: 'Cups and their tea.',
        cell: ({ spec }) => ('cups' in spec ? `${spec.cups} × ${spec.tea}` : spec.tea),
      },
    ],
  },
});

/** The field was an arbitrary text and became a list of teas. */
function teaOf(text: string): 'assam' | 'oolong' | 'sencha' {
  const name = text.toLowerCase();
  return name === 'oolong' || name === 'sencha' ? name : 'assam';
}

/** A kind in several versions, whose functions have types. */
export default definePlugin({
  name: 'tea-house',
  parse: () => null,
  contribute: () => [resourceType.of(() => order)],
}) satisfies Plugin<null>;
