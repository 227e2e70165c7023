import {
  type CustomStrategy,
  defineResource,
  definePlugin,
  forbiddenField,
  numberAt,
  type Plugin,
  recordAt,
  resourceType,
  setDefault,
  specOf,
  stringAt,
} from 'capstan/api';

/** Rules of a reservation that a schema cannot express. */
const strategy: CustomStrategy = {
  applyDefaults: object => setDefault(specOf(object), 'guests', 2),
  prepareCreate: (object, context) => {
    object.status = { reservedBy: context.user.name };
  },
  // A table can be reserved only once, even with concurrent requests.
  claims: object => [stringAt(object, 'spec', 'table')],
  validateUpdate: (object, old) =>
    stringAt(object, 'spec', 'table') === stringAt(old, 'spec', 'table')
      ? []
      : [forbiddenField('spec.table', 'a reservation stays at its table')],
  subresources: new Map([
    [
      'confirmation',
      (_body, current, context) => ({
        ...current,
        status: { ...recordAt(current, 'status'), confirmedBy: context.user.name },
      }),
    ],
  ]),
  selectableFields: new Map([['party', object => ((numberAt(object, 'spec', 'guests') ?? 0) > 6 ? 'large' : 'small')]]),
  columns: [
    {
      name: 'Reservation',
      type: 'string',
      format: 'name',
      priority: 0,
      description: 'Guests and their table.',
      cell: ({ spec }) => `${numberAt(spec, 'guests')} at ${stringAt(spec, 'table')}`,
    },
  ],
};

const text = { type: 'string' };

/** A kind with a strategy, like a built-in kind. */
export default definePlugin({
  name: 'reservations',
  parse: () => null,
  contribute: () => [
    resourceType.of(() =>
      defineResource({
        group: 'cafe.example.com',
        kind: 'Reservation',
        plural: 'reservations',
        scope: 'Namespaced',
        schema: {
          type: 'object',
          properties: {
            spec: { type: 'object', required: ['table'], properties: { table: text, guests: { type: 'integer' } } },
            status: { type: 'object', properties: { reservedBy: text, confirmedBy: text } },
          },
        },
        subresources: { status: {} },
        strategy,
      }),
    ),
  ],
}) satisfies Plugin<null>;
