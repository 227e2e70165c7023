import { builtInKind } from '../../../core/api/resource.js';
import type { Column } from '../../../core/api/strategy.js';
import type { ApiObject } from '../../../core/model/object.js';
import { numberAt, recordAt } from '../../../core/model/record.js';
import { invalid, type Violation } from '../../../core/model/refusal.js';
import { AGE, column, NAME, stringCell } from '../shared/columns.js';

function validateLease(object: ApiObject): Violation[] {
  const spec = recordAt(object, 'spec');
  const [seconds, transitions] = [numberAt(spec, 'leaseDurationSeconds'), numberAt(spec, 'leaseTransitions')];
  const found: Violation[] = [];
  if (seconds !== undefined && seconds <= 0)
    found.push(invalid('spec.leaseDurationSeconds', seconds, 'must be greater than 0'));
  if (transitions !== undefined && transitions < 0) {
    found.push(invalid('spec.leaseTransitions', transitions, 'must be greater than or equal to 0'));
  }
  return found;
}

const COLUMNS: readonly Column[] = [NAME, column('Holder', stringCell('spec.holderIdentity')), AGE];

/** Lease. */
export const lease = builtInKind('coordination.orchestrator.io/leases', () => ({
  allowCreateOnUpdate: true,
  allowAnyFinalizer: true,
  allowUnconditionalUpdate: false,
  validateCreate: validateLease,
  validateUpdate: object => validateLease(object),
  columns: COLUMNS,
}));
