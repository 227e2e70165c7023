import { MemoryRecords, openMemory } from '../../../plugins/storage/memory.js';
import { storageConformance } from '../storage.js';

storageConformance('memory', async () => {
  const records = new MemoryRecords();
  return { open: () => openMemory({ records }), dispose: async () => {} };
});
