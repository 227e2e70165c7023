import type { Strategy } from '../../../core/api/strategy.js';
import { absent, at } from '../record.js';
import { nodeStatusViolations } from '../validation/statuses.js';

/** Rules of Nodes: a node offers for use what it has, unless it says otherwise. */
export const node = (): Partial<Strategy> => ({
  hasStatus: true,
  validateStatus: nodeStatusViolations,
  // Configuration from the server is no more; what still says it is kept.
  prepareStatus: (object, old) => {
    if (!at(old, 'status')?.config) delete at(object, 'status')?.config;
  },
  // A node agent registers its node together with what the node has.
  keepsStatus: true,
  defaults: object => {
    const status = at(object, 'status');
    if (status && at(status, 'capacity') && absent(status.allocatable))
      status.allocatable = { ...at(status, 'capacity') };
  },
  selectableFields: new Map([['spec.unschedulable', object => String(at(object, 'spec')?.unschedulable === true)]]),
});
