import { columnsFor } from '../../plugins/columns/index.js';
import { strategiesFor } from '../../plugins/resources/index.js';
import { namingOf, type NamingName } from '../naming.js';
import { buildRegistry } from '../schema/registry.js';
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
