import { controller, definePlugin, isDeepEqual, type Plugin, reconciler } from 'capstan/api';

const NAME = 'shared-config';
const LABEL = 'example.com/shared';
const SOURCE = 'default';

/**
 * Keeps copies of the ConfigMaps of the namespace `default` that have the label `example.com/shared` in every other
 * namespace. Each key is the name of a copy, so that a copy that cannot be written is retried separately.
 */
const sharedConfig = reconciler({
  name: NAME,
  for: 'configmaps',
  watches: [
    {
      resource: 'configmaps',
      keys: ({ namespace, name }, { list }) =>
        namespace === SOURCE ? list('namespaces').map(({ metadata }) => ({ namespace: metadata.name, name })) : [],
    },
    {
      resource: 'namespaces',
      keys: ({ name: namespace }, { list }) =>
        list('configmaps', SOURCE).map(({ metadata }) => ({ namespace, name: metadata.name })),
    },
  ],
  async reconcile({ namespace, name }, { object: copy, get, client }) {
    const source = get('configmaps', { namespace: SOURCE, name });
    const target = get('namespaces', { name: namespace });
    const isWanted = namespace !== SOURCE && source?.metadata.labels?.[LABEL] !== undefined;
    if (!isWanted || !target || target.metadata.deletionTimestamp) return;
    if (copy && isDeepEqual(copy.data, source.data)) return;
    const configMaps = client.resource('configmaps');
    if (copy) await configMaps.replace({ ...copy, data: source.data });
    else await configMaps.create({ metadata: { namespace, name }, data: source.data });
  },
});

/** Controller. It writes through the API, as the service account of its name. */
export default definePlugin({
  name: NAME,
  parse: () => null,
  contribute: () => [controller.of(sharedConfig)],
}) satisfies Plugin<null>;
