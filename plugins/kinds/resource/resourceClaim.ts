import { builtInKind } from '../../../core/api/resource.js';
import type { Column } from '../../../core/api/strategy.js';
import { recordsAt, valueAt } from '../../../core/model/record.js';
import { AGE, type Cell, column, NAME } from '../shared/columns.js';

const claimState: Cell = claim => {
  const states = [
    ...(claim.metadata.deletionTimestamp ? ['deleted'] : []),
    ...(valueAt(claim, 'status', 'allocation') ? ['allocated'] : []),
    ...(recordsAt(claim, 'status', 'reservedFor').length > 0 ? ['reserved'] : []),
  ];
  return states.join(',') || 'pending';
};

const COLUMNS: readonly Column[] = [NAME, column('State', claimState), AGE];

/** ResourceClaim. */
export const resourceClaim = builtInKind('resource.orchestrator.io/resourceclaims', () => ({
  returnsDeletedObject: true,
  hasStatus: true,
  columns: COLUMNS,
}));
