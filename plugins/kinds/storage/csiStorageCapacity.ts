import { builtInKind } from '../../../core/api/resource.js';

/** CSIStorageCapacity. */
export const csiStorageCapacity = builtInKind('storage.orchestrator.io/csistoragecapacities', () => ({
  allowUnconditionalUpdate: false,
}));
