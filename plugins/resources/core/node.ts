import type { Strategy } from '../../../core/api/strategy.js';
import { at, entries, into } from '../record.js';
import { nodeStatusViolations } from '../validation/statuses.js';

/** Rules of Nodes: a node offers for use what it has, unless it says otherwise. */
export const node = (): Partial<Strategy> => ({
  hasStatus: true,
  validateStatus: nodeStatusViolations,
  // A node agent registers its node together with what the node has.
  keepsStatus: true,
  defaults: object => {
    const capacity = entries(at(object, 'status'), 'capacity');
    if (capacity.length === 0) return;
    const allocatable = into(into(object, 'status'), 'allocatable');
    for (const [name, amount] of capacity) allocatable[name] ??= amount;
  },
  selectableFields: new Map([['spec.unschedulable', object => String(at(object, 'spec')?.unschedulable === true)]]),
});
