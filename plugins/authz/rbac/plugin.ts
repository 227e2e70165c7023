import { authorizer, definePlugin, type Plugin } from '../../../core/api/index.js';
import { rbac } from './evaluate.js';
import { STORED } from './policy.js';

/** Mode RBAC: decides by the roles and bindings in the store. */
export default definePlugin({
  name: 'rbac',
  parse: () => null,
  contribute: () => [
    authorizer.of(host =>
      rbac(
        {
          roles: host.informer(STORED.roles),
          clusterRoles: host.informer(STORED.clusterRoles),
          roleBindings: host.informer(STORED.roleBindings),
          clusterRoleBindings: host.informer(STORED.clusterRoleBindings),
        },
        host.naming,
      ),
    ),
  ],
}) satisfies Plugin<null>;
