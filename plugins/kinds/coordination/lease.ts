import type { Lease } from '../../../kinds/coordination/v1.js';
import { builtInKind } from '../../../core/api/resource.js';
import type { Column } from '../../../core/api/strategy.js';
import { invalid, type Violation } from '../../../core/model/refusal.js';
import { AGE, column, NAME } from '../shared/columns.js';

function validateLease(object: Lease): Violation[] {
  const spec = object.spec;
  const [seconds, transitions] = [spec.leaseDurationSeconds, spec.leaseTransitions];
  const found: Violation[] = [];
  if (seconds !== undefined && seconds <= 0)
    found.push(invalid('spec.leaseDurationSeconds', seconds, 'must be greater than 0'));
  if (transitions !== undefined && transitions < 0) {
    found.push(invalid('spec.leaseTransitions', transitions, 'must be greater than or equal to 0'));
  }
  return found;
}

const COLUMNS: readonly Column<Lease>[] = [NAME, column('Holder', object => object.spec.holderIdentity ?? ''), AGE];

/** Lease. */
export const lease = builtInKind<Lease>('coordination.orchestrator.io/leases', () => ({
  allowCreateOnUpdate: true,
  allowAnyFinalizer: true,
  allowUnconditionalUpdate: false,
  validateCreate: validateLease,
  validateUpdate: object => validateLease(object),
  columns: COLUMNS,
}));
