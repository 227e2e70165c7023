import { builtInKind } from '../../../core/api/resource.js';

export const storageVersionMigration = builtInKind('storagemigration.orchestrator.io/storageversionmigrations', () => ({
  hasStatus: true,
}));
