import { builtInKind } from '../../../core/api/resource.js';

/** StorageVersionMigration. */
export const storageVersionMigration = builtInKind('storagemigration.orchestrator.io/storageversionmigrations', () => ({
  hasStatus: true,
}));
