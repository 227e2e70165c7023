import type { Log } from '../api/host.js';
import { columnsFor } from '../../plugins/columns/index.js';
import { strategiesFor } from '../../plugins/resources/index.js';
import { namingOf, type NamingName } from '../naming.js';
import { buildRegistry } from '../schema/registry.js';
import { resourceSource, type ResourceType, resourceType } from '../api/resource.js';
import type { Plugins } from './load.js';
import { ConfigError } from '../api/point.js';
import { invalid } from '../model/refusal.js';
import { loadEngine } from '../schema/custom/engine.js';
import { structuralViolations } from '../schema/custom/structural.js';
import { LiveRegistry } from '../schema/live.js';
import type { Registry } from '../schema/resource.js';

/** The registry of the built-in kinds with their rules and columns; equal in every thread that builds it. */
export function servedRegistry(data: { readonly naming: NamingName }): Registry {
  const naming = namingOf(data.naming);
  const strategies = strategiesFor(naming);
  return buildRegistry({
    naming,
    generation: 1,
    strategies: storageName => {
      const columns = columnsFor(storageName, naming);
      const strategy = strategies(storageName);
      return columns ? { ...strategy, columns } : strategy;
    },
  });
}

/** What a thread needs to know to build the registry. */
interface RegistryData {
  readonly naming: NamingName;
  /** Resource types that travelled as JSON. */
  readonly resources: readonly ResourceType[];
}

/**
 * The registry of a thread: the built-in kinds, the types of the settings and of plugins, and those that stored objects
 * define.
 */
export const liveRegistry = (
  data: RegistryData,
  plugins: Plugins,
  log: Log,
  onChange?: LiveRegistry['onChange'],
): LiveRegistry => {
  const types = [...data.resources, ...plugins.at(resourceType)];
  return new LiveRegistry(servedRegistry(data), types, plugins.at(resourceSource), log, onChange);
};

/** Refuses resource types that cannot be served. Throws ConfigError with every finding. */
export async function checkTypes(types: readonly ResourceType[]): Promise<void> {
  if (types.length > 0) await loadEngine();
  for (const type of types) {
    const found = type.versions.flatMap(({ name, schema }) => structuralViolations(schema, `versions[${name}].schema`));
    if (type.versions.filter(version => version.storage).length !== 1)
      found.push(invalid('versions', type.versions.length, 'must have exactly one version marked as storage version'));
    if (found.length > 0)
      throw new ConfigError(
        `resources[${type.plural}.${type.group}]`,
        found.map(({ field, message }) => `${field}: ${message}`).join('; '),
      );
  }
}

/** Types of the settings travel to the threads as JSON. */
export function checkJson(types: readonly ResourceType[]): void {
  const own = types.find(type => type.validate);
  if (own)
    throw new ConfigError(
      `resources[${own.plural}.${own.group}].validate`,
      'a function cannot travel to the threads; contribute the type with resourceType.of(() => type) in a plugin',
    );
}
