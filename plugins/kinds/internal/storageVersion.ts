import type { StorageVersion } from '../../../kinds/apiserverinternal/v1alpha1.js';
import { builtInKind } from '../../../core/api/resource.js';
import type { Column } from '../../../core/api/strategy.js';
import { AGE, type Cell, column, NAME, shortList } from '../shared/columns.js';

const versionsCell: Cell<StorageVersion> = object =>
  shortList(
    (object.status?.storageVersions ?? []).map(entry => `${entry.apiServerID ?? ''}=${entry.encodingVersion ?? ''}`),
    3,
    '<unset>',
  );

const COLUMNS: readonly Column<StorageVersion>[] = [
  NAME,
  column('CommonEncodingVersion', object => object.status?.commonEncodingVersion || '<unset>'),
  column('StorageVersions', versionsCell),
  AGE,
];

/** StorageVersion. */
export const storageVersion = builtInKind<StorageVersion>('internal.apiserver.orchestrator.io/storageversions', () => ({
  hasStatus: true,
  allowUnconditionalUpdate: false,
  columns: COLUMNS,
}));
