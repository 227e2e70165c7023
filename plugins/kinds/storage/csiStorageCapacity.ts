import { builtInKind } from '../../../core/api/resource.js';

export const csiStorageCapacity = builtInKind('storage.orchestrator.io/csistoragecapacities', () => ({
  allowUnconditionalUpdate: false,
}));
