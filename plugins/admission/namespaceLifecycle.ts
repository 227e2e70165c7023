import {
  type ApiObject,
  definePlugin,
  type Change,
  type Host,
  type Mutator,
  mutator,
  notFound,
  type Plugin,
  Refusal,
  type Validator,
  validator,
} from '../../core/api/index.js';

const NAMESPACES = { group: '', resource: 'namespaces' };
/** Creates of objects, and of subresources that create an object. */
const CREATES = { operations: ['CREATE'], subresources: ['', 'binding', 'eviction', 'token'] } as const;

/** 403 for a create in a namespace that is being deleted; clients read the cause. */
function terminatingError({ target }: Change, { metadata }: ApiObject, naming: Host['naming']): Refusal {
  const { namespace, resource } = target;
  const name = target.name || (metadata.generateName ?? '');
  const group = naming.group(target.group);
  const what = group ? `${resource}.${group}` : resource;
  const message = `unable to create new content in namespace ${namespace} because it is being terminated`;
  return new Refusal('Forbidden', `${what} ${JSON.stringify(name)} is forbidden: ${message}`, {
    name,
    ...(group ? { group } : {}),
    kind: resource,
    causes: [
      {
        reason: 'NamespaceTerminating',
        message: `namespace ${namespace} is being terminated`,
        field: 'metadata.namespace',
      },
    ],
  });
}

/** Refuses creates in namespaces that do not exist or are being deleted. */
function lifecycle(host: Host<'pool'>): Mutator {
  const namespaces = host.informer('core/namespaces');
  return {
    on: CREATES,
    mutate(change, draft) {
      const { namespace, resource, group } = change.target;
      // A review stores nothing, so it may ask about any namespace.
      if (namespace === '' || resource === 'localsubjectaccessreviews') return;
      if (group === '' && resource === 'namespaces') return;
      const found = namespaces.get('', namespace);
      if (!found) throw notFound(NAMESPACES, namespace);
      if (found.metadata.deletionTimestamp) throw terminatingError(change, draft, host.naming);
    },
  };
}

/** Refuses the deletion of namespaces that clients rely on. */
function protectSystemNamespaces(host: Host<'pool'>): Validator {
  const names = ['default', host.naming.component('orchestrator-system'), host.naming.component('orchestrator-public')];
  return {
    on: { groups: [''], resources: ['namespaces'], operations: ['DELETE'] },
    validate({ target }) {
      if (!names.includes(target.name)) return [];
      throw new Refusal(
        'Forbidden',
        `namespaces ${JSON.stringify(target.name)} is forbidden: this namespace may not be deleted`,
        {
          name: target.name,
          kind: 'namespaces',
        },
      );
    },
  };
}

/** Refuses creates in namespaces that are being deleted, and the deletion of system namespaces. */
export default definePlugin({
  name: 'namespace-lifecycle',
  parse: () => null,
  contribute: () => [mutator.of(lifecycle), validator.of(protectSystemNamespaces)],
}) satisfies Plugin<null>;
