import { builtInKind } from '../../../core/api/resource.js';
import type { Column } from '../../../core/api/strategy.js';
import { recordsAt, stringAt } from '../../../core/model/record.js';
import { AGE, type Cell, column, NAME, shortList, stringCell } from '../shared/columns.js';

const versionsCell: Cell = object =>
  shortList(
    recordsAt(object, 'status', 'storageVersions').map(
      entry => `${stringAt(entry, 'apiServerID')}=${stringAt(entry, 'encodingVersion')}`,
    ),
    3,
    '<unset>',
  );

const COLUMNS: readonly Column[] = [
  NAME,
  column('CommonEncodingVersion', stringCell('status.commonEncodingVersion', '<unset>')),
  column('StorageVersions', versionsCell),
  AGE,
];

/** StorageVersion. */
export const storageVersion = builtInKind('internal.apiserver.orchestrator.io/storageversions', () => ({
  hasStatus: true,
  allowUnconditionalUpdate: false,
  columns: COLUMNS,
}));
