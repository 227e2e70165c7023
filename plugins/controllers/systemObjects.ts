import { ConfigError, controller, type Plugin } from '../../core/api/index.js';
import { FlowSchemaStatus } from './flowSchemas.js';
import { RBAC_BOOTSTRAP } from './rbac.js';
import { ObjectReconciler } from './reconciler.js';
import { timestamp } from './requests.js';
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
    controller.of(
      host =>
        new ObjectReconciler(
          host,
          'system-objects',
          [...systemObjectsOf(host.naming), ...apiServices(groups, host.naming, timestamp(host))],
          // They are most objects of a new store, and no client waits for them.
          [RBAC_BOOTSTRAP],
        ),
    ),
    controller.of(host => new FlowSchemaStatus(host)),
  ],
} satisfies Plugin<{ groups: readonly ServedGroup[] }>;
