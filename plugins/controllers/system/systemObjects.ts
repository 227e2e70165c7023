import { ConfigError, controller, type Plugin, timestamp } from '../../../core/api/index.js';
import { RBAC_BOOTSTRAP } from '../accounts/rbac.js';
import { desiredObjects } from '../desiredObjects.js';
import { flowSchemaStatus } from './flowSchemas.js';
import { apiServices, type ServedGroup, systemObjectsOf } from './systemObjectData.js';

/** Parses `{ groups: [{ group, priority, versions }] }`, which the server generates from its registry. */
function parse(config: unknown): { groups: readonly ServedGroup[] } {
  const groups = (config as { groups?: unknown } | undefined)?.groups;
  if (!Array.isArray(groups)) throw new ConfigError('config.groups', 'must be a list of served groups');
  return { groups };
}

/**
 * Maintains the objects that exist in every cluster: priority classes, flow schemas and priority levels, local
 * APIServices.
 */
export const systemObjects = {
  name: 'controllers/system-objects',
  parse,
  contribute: ({ groups }) => [
    controller.of(host =>
      desiredObjects(
        host,
        'system-objects',
        [...systemObjectsOf(host.naming), ...apiServices(groups, host.naming, timestamp(host.now()))],
        // These are most objects of a new store, and no client waits for them: they are written after the roles.
        { startsAfter: [RBAC_BOOTSTRAP] },
      ),
    ),
    controller.of(flowSchemaStatus),
  ],
} satisfies Plugin<{ groups: readonly ServedGroup[] }>;
