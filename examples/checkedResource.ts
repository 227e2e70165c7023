import { type ApiObject, defineResource, definePlugin, type Plugin, resourceType, type Violation } from 'capstan/api';

/** A booking that conforms to its schema. */
interface Booking extends ApiObject {
  readonly spec: { readonly seats?: readonly string[]; readonly hall?: string };
}

/** Rules that a schema cannot express: the number of rows of the hall, and that the hall cannot be changed. */
function check(booking: Booking, old: Booking | undefined, rows: number): Violation[] {
  const found: Violation[] = [];
  for (const [i, seat] of (booking.spec.seats ?? []).entries())
    if (Number(seat.slice(1)) > rows)
      found.push({
        reason: 'FieldValueInvalid',
        field: `spec.seats[${i}]`,
        message: `Invalid value: "${seat}": there are ${rows} rows`,
      });
  if (old && old.spec.hall !== booking.spec.hall)
    found.push({
      reason: 'FieldValueForbidden',
      field: 'spec.hall',
      message: 'Forbidden: a booking stays in its hall',
    });
  return found;
}

/** A resource type with a check in code. It is contributed by a plugin, so that every thread has the function. */
export default definePlugin({
  name: 'bookings',
  parse: config => ({ rows: (config as { rows?: number } | undefined)?.rows ?? 10 }),
  contribute: ({ rows }) => [
    resourceType.of(() =>
      defineResource({
        group: 'cinema.example.com',
        kind: 'Booking',
        plural: 'bookings',
        scope: 'Namespaced',
        schema: {
          type: 'object',
          required: ['spec'],
          properties: {
            spec: {
              type: 'object',
              properties: {
                hall: { type: 'string' },
                seats: {
                  type: 'array',
                  items: { type: 'string', pattern: '^[A-Z][0-9]+$' },
                  'x-kubernetes-list-type': 'set',
                },
              },
            },
          },
        },
        validate: (object, old) => check(object as Booking, old as Booking | undefined, rows),
      }),
    ),
  ],
}) satisfies Plugin<{ rows: number }>;
