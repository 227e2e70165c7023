import type { ResourceClaim } from '../../../kinds/resource/v1beta1.js';
import { builtInKind } from '../../../core/api/resource.js';
import type { Column } from '../../../core/api/strategy.js';
import { AGE, type Cell, column, NAME } from '../shared/columns.js';

const claimState: Cell<ResourceClaim> = claim => {
  const states = [
    ...(claim.metadata.deletionTimestamp ? ['deleted'] : []),
    ...(claim.status?.allocation ? ['allocated'] : []),
    ...((claim.status?.reservedFor ?? []).length > 0 ? ['reserved'] : []),
  ];
  return states.join(',') || 'pending';
};

const COLUMNS: readonly Column<ResourceClaim>[] = [NAME, column('State', claimState), AGE];

/** ResourceClaim. */
export const resourceClaim = builtInKind<ResourceClaim>('resource.orchestrator.io/resourceclaims', () => ({
  returnsDeletedObject: true,
  hasStatus: true,
  columns: COLUMNS,
}));
