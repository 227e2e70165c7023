import type { Log } from '../api/host.js';
import { ConfigError } from '../api/point.js';
import { resourceSource, type ResourceType, resourceType, type ResourceTypes } from '../api/resource.js';
import { namingOf, type NamingName } from '../naming.js';
import type { Enablement } from '../schema/registry/enablement.js';
import { LiveRegistry } from '../schema/registry/live.js';
import { buildRegistry } from '../schema/registry/registry.js';
import { builtInStorageNames } from '../schema/table/storageNames.js';
import type { Registry } from '../schema/resource.js';
import { storageNameOf } from './resourceNames.js';
import type { Plugins } from './load/load.js';

/**
 * Builds the registry of the built-in kinds with the strategies of plugins. The result is equal in all threads. Throws
 * ConfigError for a strategy of a kind that is not built in.
 */
export function builtInRegistry(
  naming: NamingName,
  strategies: ResourceTypes['builtIn'],
  enablement?: Enablement,
): Registry {
  const registry = buildRegistry({
    naming: namingOf(naming),
    generation: 1,
    ...(enablement ? { enablement } : {}),
    strategies: storageName => strategies.get(storageName),
  });
  // The registry does not contain individual kinds that are not served.
  const known = builtInStorageNames();
  const unknown = [...strategies.keys()].find(name => !known.has(name));
  if (unknown === undefined) return registry;
  throw new ConfigError(
    `resources[${unknown}]`,
    'there is no built-in kind of that name; use defineResource({ … }) for a kind with its own schema',
  );
}

/** The inputs of the registry of a thread. */
interface RegistryData {
  readonly naming: NamingName;
  /** Resource types of the settings, which were sent as JSON. */
  readonly resources: readonly ResourceType[];
  readonly enablement: Enablement;
}

/** The resource types of the settings and of plugins. Throws ConfigError for a type that is defined twice. */
export function resourceTypes({ resources }: Pick<RegistryData, 'resources'>, plugins: Plugins): ResourceTypes {
  const { custom, builtIn } = plugins.at(resourceType);
  return { custom: [...resources, ...custom], builtIn };
}

/**
 * The registry of a thread: built-in kinds, types of the settings and of plugins, and types that stored objects define.
 * Throws TypeError for a source of objects that no kind can have.
 */
export function liveRegistry(
  data: RegistryData,
  plugins: Plugins,
  log: Log,
  onChange?: LiveRegistry['onChange'],
): LiveRegistry {
  const { custom, builtIn } = resourceTypes(data, plugins);
  return new LiveRegistry(
    builtInRegistry(data.naming, builtIn, data.enablement),
    custom,
    plugins.at(resourceSource).map(({ storageName, define }) => ({ storageName: storageNameOf(storageName), define })),
    log,
    onChange,
  );
}
