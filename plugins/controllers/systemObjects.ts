import { ConfigError, controller, type Plugin } from '../../core/api/index.js';
import { FlowSchemaStatus } from './flowSchemas.js';
import { Keeper } from './keeper.js';
import { timestamp } from './requests.js';
import { apiServices, type ServedGroup, systemObjectsOf } from './systemObjectData.js';

/** Checks `{ groups: [{ group, priority, versions }] }`, which the server fills from its registry. */
function parse(config: unknown): { groups: readonly ServedGroup[] } {
  const groups = (config as { groups?: unknown } | undefined)?.groups;
  if (!Array.isArray(groups)) throw new ConfigError('config.groups', 'must be a list of served groups');
  return { groups };
}

/**
 * Keeps the objects that clients and tools find on every server: priority classes, flow schemas and their levels, the
 * local API services.
 */
export const systemObjects = {
  name: 'controllers/system-objects',
  parse,
  contribute: ({ groups }) => [
    controller.of(
      host =>
        new Keeper(host, 'system-objects', [
          ...systemObjectsOf(host.naming),
          ...apiServices(groups, host.naming, timestamp(host)),
        ]),
    ),
    controller.of(host => new FlowSchemaStatus(host)),
  ],
} satisfies Plugin<{ groups: readonly ServedGroup[] }>;
