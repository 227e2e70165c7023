import { type ApiObject, type Client, type Host, reconciler } from '../../../core/api/index.js';
import { aggregateAll, reconcileBootstrap } from '../../authz/bootstrap/index.js';
import { forEachParallel } from '../parallel.js';
import { unlessRefused } from '../requests.js';
import { RBAC_BOOTSTRAP } from './rbac.js';

const GROUP = 'rbac.authorization.orchestrator.io';
const KINDS = [
  { kind: 'ClusterRole', plural: 'clusterroles' },
  { kind: 'ClusterRoleBinding', plural: 'clusterrolebindings' },
  { kind: 'Role', plural: 'roles' },
  { kind: 'RoleBinding', plural: 'rolebindings' },
] as const;
const CLUSTER_ROLES = `${GROUP}/clusterroles`;
/** Concurrent writes. There are about two hundred default objects, and the start waits for them. */
const MAX_PARALLEL = 32;

/** The resource of an object. */
const resourceOf = ({ kind }: ApiObject): string => `${GROUP}/${KINDS.find(known => known.kind === kind)!.plural}`;

/** Creates an object, unless there is one of its name. */
const create = (client: Client, object: ApiObject): Promise<unknown> =>
  unlessRefused('AlreadyExists', client.resource(resourceOf(object)).create(object));

/** Replaces an object that cannot be changed as needed. */
async function recreate(client: Client, object: ApiObject): Promise<void> {
  await client.resource(resourceOf(object)).delete(object.metadata);
  await create(client, object);
}

/**
 * At the start, creates missing default roles and bindings and completes the others (spec, "Default roles and
 * bindings").
 */
export const bootstrap = (host: Host<'control'>) =>
  reconciler({
    name: RBAC_BOOTSTRAP,
    keys: [{ name: 'defaults' }],
    async reconcile(_key, { list, client }) {
      const current = KINDS.flatMap(({ kind, plural }) =>
        // Stored objects may have their group in the other naming.
        list(`${GROUP}/${plural}`).map(object => ({
          ...object,
          kind,
          apiVersion: host.naming.apiVersion(`${GROUP}/v1`),
        })),
      );
      const missing = reconcileBootstrap(current as ApiObject[], host);
      const writes = [
        ...missing.create.map(object => () => create(client, object)),
        ...missing.update.map(
          object => () => unlessRefused('NotFound', client.resource(resourceOf(object)).replace(object)),
        ),
        ...missing.recreate.map(object => () => recreate(client, object)),
      ];
      await forEachParallel(MAX_PARALLEL, writes, write => write());
    },
  })(host);

/** Updates the rules of aggregated cluster roles from the roles that they select. */
export const aggregation = reconciler({
  name: 'clusterrole-aggregation-controller',
  watches: [{ resource: CLUSTER_ROLES, keys: () => [{ name: 'all' }] }],
  async reconcile(_key, { list, client }) {
    const roles = client.resource(CLUSTER_ROLES);
    const changed = aggregateAll(list(CLUSTER_ROLES) as unknown as ApiObject[]);
    await forEachParallel(MAX_PARALLEL, changed, ({ metadata, rules }) =>
      unlessRefused(
        'NotFound',
        roles.patch(metadata, { metadata: { resourceVersion: metadata.resourceVersion }, rules }),
      ),
    );
  },
});
