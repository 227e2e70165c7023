import type { Column } from '../../core/api/strategy.js';
import { type Naming, type NamingName, namingOf } from '../../core/naming.js';
import { clusterColumns } from './cluster.js';
import { NETWORK } from './network.js';
import { PODS } from './pods.js';
import { storageColumns } from './storage.js';
import { WORKLOADS } from './workloads.js';

export { humanDuration } from './cells.js';
export { SCALE as scaleColumns } from './workloads.js';

type Tables = ReadonlyMap<string, readonly Column[]>;

const tables = new Map<NamingName, Tables>();

/** One table per naming, built when first asked for: some cells read labels and annotations by name. */
function tablesOf(naming: Naming): Tables {
  let built = tables.get(naming.name);
  if (!built) {
    built = new Map([
      ['core/pods', PODS],
      ...WORKLOADS,
      ...NETWORK,
      ...storageColumns(naming),
      ...clusterColumns(naming),
    ]);
    tables.set(naming.name, built);
  }
  return built;
}

/**
 * The printed columns of a built-in kind by its neutral storage name (`core/pods`, `apps/deployments`); undefined where
 * the default two columns apply. Cells expect objects in the storage version and in the given naming.
 */
export const columnsFor = (storageName: string, naming: Naming = namingOf('neutral')): readonly Column[] | undefined =>
  tablesOf(naming).get(storageName);
