import { expect, it } from 'vitest';
import type { StoreOperation } from '../../core/api/index.js';
import { MemoryRecords, openMemory } from '../../plugins/storage/memory.js';

const put = (key: string, expect?: number): StoreOperation => ({ is: 'put', key, value: Buffer.from('v'), expect });

/** Records with slow reads. */
class SlowReads extends MemoryRecords {
  override async getMany(keys: readonly Buffer[]): Promise<(Buffer | undefined)[]> {
    for (let turn = 0; turn < 20; turn++) await new Promise(resolve => setImmediate(resolve));
    return super.getMany(keys);
  }
}

it('answers commits in order, also while the current value of a conflict is read, so that events are in order', async () => {
  const store = await openMemory({ records: new SlowReads() });
  await store.commit([[put('a')]]);
  const answered: number[] = [];
  const commit = async (...group: StoreOperation[][]): Promise<void> => {
    for (const outcome of await store.commit(group)) if (outcome.is === 'committed') answered.push(outcome.revision);
  };
  const raced = commit([put('a', 1)], [put('a', 1)]);
  const together = commit([put('b')]);
  // The next write is after both.
  await new Promise(resolve => setImmediate(resolve));
  await Promise.all([raced, together, commit([put('c')])]);
  expect(answered).toEqual([2, 3, 4]);
  await store.close();
});
