import type { Column, Strategy } from '../../core/api/strategy.js';
import { type NamingName, namingOf } from '../../core/naming.js';
import { builtInRegistry } from '../../core/plugin/registry.js';
import type { Registry } from '../../core/schema/resource.js';
import { builtInStrategies as strategiesIn } from '../../core/command/manifests/builtInStrategies.js';

type Strategies = ReadonlyMap<string, Partial<Strategy>>;

const made = new Map<NamingName, Strategies>();

/** The strategies of the built-in kinds by neutral storage name, created as in a thread. */
export function builtInStrategies(naming: NamingName): Strategies {
  const known = made.get(naming);
  if (known) return known;
  const strategies = strategiesIn(namingOf(naming));
  made.set(naming, strategies);
  return strategies;
}

const registries = new Map<NamingName, Registry>();

/** The registry of a server without plugins. It is created once for each naming, which takes about 10 ms. */
export function registryOf(naming: NamingName): Registry {
  const known = registries.get(naming) ?? builtInRegistry(naming, builtInStrategies(naming));
  registries.set(naming, known);
  return known;
}

/** The columns of a built-in kind; undefined for kinds with the two default columns. */
export const columnsOf = (storageName: string, naming: NamingName = 'neutral'): readonly Column[] | undefined =>
  builtInStrategies(naming).get(storageName)?.columns;
