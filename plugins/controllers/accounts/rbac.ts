import { controller, type Plugin, postStartHook } from '../../../core/api/index.js';

/** The controller that makes the default roles and bindings. */
export const RBAC_BOOTSTRAP = 'rbac-bootstrap';

/**
 * Default roles and bindings: until they exist, permissions that every server has are missing. The front end loads this
 * module for the hook, so it must not import the controllers.
 */
export const rbacBootstrap = {
  name: 'controllers/rbac-bootstrap',
  parse: () => ({}),
  contribute: () => [
    controller.of(async host => (await import('./rbacControllers.js')).bootstrap(host)),
    postStartHook.of(() => ({ name: 'rbac/bootstrap-roles', controllers: [RBAC_BOOTSTRAP] })),
  ],
} satisfies Plugin;

/** Aggregated cluster roles. */
export const roleAggregation = {
  name: 'controllers/role-aggregation',
  parse: () => ({}),
  contribute: () => [controller.of(async host => (await import('./rbacControllers.js')).aggregation(host))],
} satisfies Plugin;
