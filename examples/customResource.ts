import { defineResource, type RunningServer, startServer } from 'capstan';

/** A resource type of the program's own: orders of tea, with a status and a count that autoscalers can read and set. */
export const order = defineResource({
  group: 'tea.example.com',
  version: 'v1',
  kind: 'Order',
  plural: 'orders',
  shortNames: ['ord'],
  scope: 'Namespaced',
  schema: {
    type: 'object',
    required: ['spec'],
    properties: {
      spec: {
        type: 'object',
        required: ['tea'],
        properties: {
          tea: { type: 'string', enum: ['assam', 'oolong', 'sencha'] },
          cups: { type: 'integer', minimum: 0, maximum: 20, default: 1 },
          sugar: { type: 'boolean' },
        },
        'x-kubernetes-validations': [
          { rule: "!self.?sugar.orValue(false) || self.tea != 'sencha'", message: 'no sugar in sencha' },
        ],
      },
      status: { type: 'object', properties: { poured: { type: 'integer' } } },
    },
  },
  subresources: { status: {}, scale: { specReplicasPath: '.spec.cups', statusReplicasPath: '.status.poured' } },
  columns: [
    { name: 'Tea', type: 'string', jsonPath: '.spec.tea' },
    { name: 'Cups', type: 'integer', jsonPath: '.spec.cups' },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  ],
  selectableFields: ['.spec.tea'],
});

/** A server inside this program that serves orders in addition to all built-in kinds: in memory, on a free port. */
export const start = (): Promise<RunningServer> => startServer({ storage: 'memory', port: 0, resources: [order] });
