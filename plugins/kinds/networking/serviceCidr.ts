import type { ServiceCIDR } from '../../../kinds/networking/v1beta1.js';
import { builtInKind } from '../../../core/api/resource.js';
import type { Column } from '../../../core/api/strategy.js';
import { AGE, column, NAME } from '../shared/columns.js';

const COLUMNS: readonly Column<ServiceCIDR>[] = [
  NAME,
  column('CIDRs', object => (object.spec.cidrs ?? []).join(',')),
  AGE,
];

/** ServiceCIDR. */
export const serviceCidr = builtInKind<ServiceCIDR>('networking.orchestrator.io/servicecidrs', () => ({
  hasStatus: true,
  columns: COLUMNS,
}));
