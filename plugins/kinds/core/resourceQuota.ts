import { builtInKind } from '../../../core/api/resource.js';
import type { Column } from '../../../core/api/strategy.js';
import { valueAt } from '../../../core/model/record.js';
import { AGE, type Cell, column, NAME, sortedEntries, textOf } from '../shared/columns.js';

/** The used amounts of each resource. With `limits`, those of limits; otherwise, those of requests and counts. */
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

/** ResourceQuota. */
export const resourceQuota = builtInKind('core/resourcequotas', () => ({
  hasStatus: true,
  returnsDeletedObject: true,
  columns: COLUMNS,
}));
