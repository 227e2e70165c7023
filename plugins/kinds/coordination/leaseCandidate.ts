import type { LeaseCandidate } from '../../../kinds/coordination/v1alpha2.js';
import { builtInKind } from '../../../core/api/resource.js';
import type { Column } from '../../../core/api/strategy.js';
import { AGE, column, NAME } from '../shared/columns.js';

const COLUMNS: readonly Column<LeaseCandidate>[] = [
  NAME,
  column('LeaseName', object => object.spec.leaseName),
  column('BinaryVersion', object => object.spec.binaryVersion),
  column('EmulationVersion', object => object.spec.emulationVersion ?? ''),
  column('PreferredStrategy', object => object.spec.strategy ?? ''),
  AGE,
];

/** LeaseCandidate. */
export const leaseCandidate = builtInKind<LeaseCandidate>('coordination.orchestrator.io/leasecandidates', () => ({
  allowCreateOnUpdate: true,
  allowAnyFinalizer: true,
  allowUnconditionalUpdate: false,
  columns: COLUMNS,
}));
