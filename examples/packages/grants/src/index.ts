import { type ApiObject, authorizer, definePlugin, type Plugin, type ResourceTarget, type User } from 'capstan/api';

const LABEL = 'access.example.com/grant';

const isGrant = ({ metadata }: ApiObject): boolean => metadata.labels?.[LABEL] === 'true';

/** The entries of a comma-separated text. */
const listOf = (text: unknown): string[] =>
  typeof text === 'string' ? text.split(',').map(entry => entry.trim()) : [];

function grants(object: ApiObject, user: User, target: ResourceTarget): boolean {
  const data = new Map(Object.entries((object['data'] ?? {}) as object));
  return listOf(data.get('users')).includes(user.name) && listOf(data.get('verbs')).includes(target.verb);
}

/** True if a grant may apply to these objects: it never applies to Secrets or to the objects of grants. */
const isGrantable = ({ resource, namespace, verb }: ResourceTarget): boolean =>
  namespace !== '' && verb !== '' && !['secrets', 'configmaps', 'namespaces'].includes(resource);

/** Allows users the requests that a ConfigMap in the namespace grants them. */
export default definePlugin({
  name: 'grants',
  parse: () => null,
  contribute: () => [
    authorizer.of(host => {
      const configMaps = host.informer('configmaps');
      return {
        // Decisions are cached until a ConfigMap changes.
        dependsOn: ['core/configmaps'],
        authorize(user, target) {
          if (target.is !== 'resource' || !isGrantable(target)) return { is: 'noOpinion' };
          const found = configMaps.list(target.namespace).find(one => isGrant(one) && grants(one, user, target));
          return found ? { is: 'allow', reason: `granted by ${found.metadata.name}` } : { is: 'noOpinion' };
        },
      };
    }),
  ],
}) satisfies Plugin<null>;
