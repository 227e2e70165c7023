import { builtInKind } from '../../../core/api/resource.js';
import type { Column } from '../../../core/api/strategy.js';
import { AGE, column, countCell, NAME } from '../shared/columns.js';

const COLUMNS: readonly Column[] = [NAME, column('Drivers', countCell('spec.drivers'), { type: 'integer' }), AGE];

/** CSINode. */
export const csiNode = builtInKind('storage.orchestrator.io/csinodes', () => ({
  returnsDeletedObject: true,
  allowUnconditionalUpdate: false,
  columns: COLUMNS,
}));
