import { builtInKind } from '../../../core/api/resource.js';
import type { Column } from '../../../core/api/strategy.js';
import { AGE, column, NAME, stringCell } from '../shared/columns.js';

const COLUMNS: readonly Column[] = [
  NAME,
  column('LeaseName', stringCell('spec.leaseName')),
  column('BinaryVersion', stringCell('spec.binaryVersion')),
  column('EmulationVersion', stringCell('spec.emulationVersion')),
  column('PreferredStrategy', stringCell('spec.strategy')),
  AGE,
];

/** LeaseCandidate. */
export const leaseCandidate = builtInKind('coordination.orchestrator.io/leasecandidates', () => ({
  allowCreateOnUpdate: true,
  allowAnyFinalizer: true,
  allowUnconditionalUpdate: false,
  columns: COLUMNS,
}));
