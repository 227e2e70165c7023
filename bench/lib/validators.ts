import { definePlugin, type Plugin, validator } from '../../core/api/index.js';

/** The number of validators of the plugin: enough for a measurable total time. */
export const VALIDATORS = 50;

/** A plugin with validators of one kind that read its objects and allow everything. */
export default definePlugin({
  name: 'bench-validators',
  parse: () => null,
  contribute: () =>
    Array.from({ length: VALIDATORS }, () =>
      validator.of(() => ({
        on: { groups: ['bench.example.com'], resources: ['validateds'], operations: ['CREATE'] },
        validate: (_change, after) =>
          (after?.['spec'] as { name: string } | undefined)?.name
            ? []
            : [{ reason: 'FieldValueRequired', field: 'spec.name', message: 'Required value' }],
      })),
    ),
}) satisfies Plugin<null>;
