import { ConfigError, definePlugin, mutator, type Plugin } from 'capstan/api';

/** Labels to set if they are absent, and the resources to which they apply. */
interface Config {
  readonly labels: { readonly [key: string]: string };
  readonly groups?: readonly string[];
  readonly resources?: readonly string[];
}

function parse(config: unknown): Config {
  const { labels, groups, resources } = (config ?? {}) as Partial<Config>;
  if (typeof labels !== 'object' || labels === null) throw new ConfigError('labels', 'expected a mapping of labels');
  for (const [key, value] of Object.entries(labels)) {
    if (typeof value !== 'string') throw new ConfigError(`labels.${key}`, 'expected a string');
  }
  return { labels, groups, resources };
}

/**
 * Mutator: new objects get the configured labels, unless their author set them; an annotation says who created them.
 */
export default definePlugin({
  name: 'default-labels',
  parse,
  contribute: ({ labels, groups, resources }) => [
    mutator.of(() => ({
      on: { groups, resources, operations: ['CREATE'] },
      mutate({ user }, draft) {
        const annotations = { 'example.com/created-by': user.name, ...draft.metadata.annotations };
        draft.metadata.annotations = annotations;
        draft.metadata.labels = { ...labels, ...draft.metadata.labels };
      },
    })),
  ],
}) satisfies Plugin<Config>;
