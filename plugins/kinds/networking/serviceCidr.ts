import { builtInKind } from '../../../core/api/resource.js';
import type { Column } from '../../../core/api/strategy.js';
import { AGE, column, joinedCell, NAME } from '../shared/columns.js';

const COLUMNS: readonly Column[] = [NAME, column('CIDRs', joinedCell('spec.cidrs')), AGE];

/** ServiceCIDR. */
export const serviceCidr = builtInKind('networking.orchestrator.io/servicecidrs', () => ({
  hasStatus: true,
  columns: COLUMNS,
}));
