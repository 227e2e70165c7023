import { authorizer, definePlugin, type Host, mutator, type Plugin, validator } from '../../../core/api/index.js';
import { withLoggedDenials } from './denials.js';
import { Escalation } from './escalation.js';
import { type Rbac, rbac } from './evaluate.js';
import { STORED } from './policy.js';

/** Evaluates the roles and bindings in the store. */
const rbacOf = ({ informer, naming }: Pick<Host<'pool'>, 'informer' | 'naming'>): Rbac =>
  rbac(
    {
      roles: informer(STORED.roles),
      clusterRoles: informer(STORED.clusterRoles),
      roleBindings: informer(STORED.roleBindings),
      clusterRoleBindings: informer(STORED.clusterRoleBindings),
    },
    naming,
  );

/** Decides by the roles and bindings in the store, and logs requests that it does not allow from verbosity 2. */
export const makeRbacAuthorizer = (host: Pick<Host<'pool'>, 'informer' | 'naming' | 'log'>): Rbac =>
  withLoggedDenials(rbacOf(host), host);

/** Mode RBAC: decides by the roles and bindings in the store. Logs requests that it does not allow from verbosity 2. */
export default definePlugin({
  name: 'rbac',
  parse: () => null,
  contribute: () => [authorizer.of(makeRbacAuthorizer)],
}) satisfies Plugin<null>;

/** Refuses roles and bindings that grant more than their writer holds, in every mode. */
export const roleEscalation = definePlugin({
  name: 'role-escalation',
  parse: () => null,
  contribute: () => [
    mutator.of(host => new Escalation(rbacOf(host), host).ofDrafts),
    validator.of(host => new Escalation(rbacOf(host), host).ofObjects),
  ],
}) satisfies Plugin<null>;
