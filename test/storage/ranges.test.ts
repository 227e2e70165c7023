import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { StoreOperation } from '../../core/api/index.js';
import { MemoryRecords, openMemory } from '../../plugins/storage/memory.js';

/** Counts how values are read. */
class CountedReads extends MemoryRecords {
  lookedUp = 0;
  scans = 0;

  override getMany(keys: readonly Buffer[]): Promise<(Buffer | undefined)[]> {
    this.lookedUp += keys.length;
    return super.getMany(keys);
  }

  override scan(...bounds: Parameters<MemoryRecords['scan']>): ReturnType<MemoryRecords['scan']> {
    this.scans++;
    return super.scan(...bounds);
  }
}

const put = (key: string, text: string): StoreOperation => ({ is: 'put', key, value: Buffer.from(text) });
const keyOf = (i: number): string => `core/pods/${String(i).padStart(3, '0')}`;
const many = Array.from({ length: 100 }, (_, i) => keyOf(i));

async function openWith(...groups: StoreOperation[][]) {
  const records = new CountedReads();
  const store = await openMemory({ records });
  for (const group of groups) await store.commit([group]);
  records.lookedUp = records.scans = 0;
  return { records, store };
}

it('reads the values of a long range in one scan, and those of a short one by their keys', async () => {
  const { records, store } = await openWith(many.map(key => put(key, key)));
  expect((await store.range('core/pods/')).items).toHaveLength(100);
  expect([records.scans, records.lookedUp]).toEqual([1, 0]);
  expect((await store.range('core/pods/', { limit: 10 })).items).toHaveLength(10);
  expect([records.scans, records.lookedUp]).toEqual([1, 10]);
  await store.close();
});

it('does not scan past many old versions', async () => {
  const changes = Array.from({ length: 200 }, (_, i) => [put(keyOf(50), String(i))]);
  const { records, store } = await openWith(
    many.map(key => put(key, key)),
    ...changes,
  );
  expect((await store.range('core/pods/')).items).toHaveLength(100);
  expect([records.scans, records.lookedUp]).toEqual([0, 100]);
  await store.close();
});

it('has the same values as reads of single keys, at any revision and with any keys', async () => {
  const name = fc.string({
    unit: fc.constantFrom('a', 'b', '\0', '\u00ff', '\ud7ff', '\uffff', '\u{10000}'),
    minLength: 1,
    maxLength: 5,
  });
  const names = fc.uniqueArray(name, { minLength: 64, maxLength: 90 });
  await fc.assert(
    fc.asyncProperty(names, fc.array(fc.tuple(fc.nat(63), fc.boolean()), { maxLength: 40 }), async (keys, changes) => {
      const groups = changes.map(([i, isPut], n): StoreOperation[] => [
        isPut ? put(keys[i]!, `change ${n}`) : { is: 'delete', key: keys[i]! },
      ]);
      const { store } = await openWith(
        keys.map(key => put(key, `value of ${key}`)),
        ...groups,
      );
      const last = await store.revision();
      for (const revision of [1, Math.ceil(last / 2), last]) {
        const { items } = await store.range('', { revision });
        const single = await Promise.all(items.map(({ key }) => store.get(key, revision)));
        expect(items).toEqual(single);
      }
      await store.close();
    }),
    { numRuns: 50 },
  );
});
