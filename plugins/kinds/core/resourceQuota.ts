import { builtInKind } from '../../../core/api/resource.js';
import type { Column } from '../../../core/api/strategy.js';
import { valueAt } from '../../../core/model/record.js';
import { AGE, type Cell, column, NAME, sortedEntries, textOf } from '../shared/columns.js';

const quotaCell =
  (limits: boolean): Cell =>
  object =>
    sortedEntries(object, 'status', 'hard')
      .filter(([resource]) => resource.startsWith('limits.') === limits)
      .map(
        ([resource, hard]) =>
          `${resource}: ${textOf(valueAt(object, 'status', 'used', resource), '0')}/${textOf(hard, '0')}`,
      )
      .join(', ');

const COLUMNS: readonly Column[] = [NAME, AGE, column('Request', quotaCell(false)), column('Limit', quotaCell(true))];

/** Rules of ResourceQuotas. */
export const resourceQuota = builtInKind('core/resourcequotas', () => ({
  hasStatus: true,
  returnsDeletedObject: true,
  columns: COLUMNS,
}));
