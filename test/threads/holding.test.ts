import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Holding } from '../../core/threads/holding.js';

const SIZE = 1000;
const GROUP = 64;

interface Item {
  value: Uint8Array;
}

/** Values that came in one buffer. */
function group(count: number, fill: number): Uint8Array[] {
  const bytes = new Uint8Array(count * SIZE).fill(fill);
  return Array.from({ length: count }, (_, i) => bytes.subarray(i * SIZE, (i + 1) * SIZE));
}

const moveAll = (holding: Holding, items: Map<number, Item>): Promise<void> =>
  holding.tidy(
    () => items.values(),
    item => item.value,
    (item, value) => {
      item.value = value;
    },
  );

describe('what a thread holds of the buffers that values share', () => {
  it('stays near what is of use, however many hot values came beside each cold one', async () => {
    const holding = new Holding(100_000);
    const items = new Map<number, Item>();
    for (let round = 0; round < 300; round++) {
      const values = group(GROUP, round % 256);
      for (const [i, value] of values.entries()) {
        // One object of each group is new and stays; the others are the same ones again and again.
        const key = i === 0 ? 1000 + round : i;
        const before = items.get(key);
        if (before) holding.drop(before.value);
        holding.keep(value);
        items.set(key, { value });
      }
      await moveAll(holding, items);
      const { held, used } = holding.totals;
      expect(used).toBe(items.size * SIZE);
      expect(held).toBeLessThanOrEqual(used * 1.6 + 100_000 + GROUP * SIZE);
    }
    for (let round = 0; round < 300; round++)
      expect(items.get(1000 + round)!.value.every(byte => byte === round % 256)).toBe(true);
  });

  it('accounts exactly, whatever is kept, dropped and moved', async () => {
    const change = fc.record({ key: fc.nat(20), gone: fc.boolean(), tidy: fc.boolean() });
    await fc.assert(
      fc.asyncProperty(fc.array(change, { maxLength: 200 }), async changes => {
        const holding = new Holding(0);
        const items = new Map<number, Item>();
        let fresh: Uint8Array[] = [];
        for (const { key, gone, tidy } of changes) {
          if (fresh.length === 0) fresh = group(8, key);
          const before = items.get(key);
          if (before) holding.drop(before.value);
          items.delete(key);
          if (!gone) {
            const value = fresh.pop()!;
            holding.keep(value);
            items.set(key, { value });
          }
          if (tidy) await moveAll(holding, items);
          const buffers = new Set(Array.from(items.values(), ({ value }) => value.buffer));
          expect(holding.totals).toEqual({
            held: Array.from(buffers, buffer => buffer.byteLength).reduce((a, b) => a + b, 0),
            used: items.size * SIZE,
          });
        }
      }),
      { numRuns: 100 },
    );
  });

  it('leaves buffers alone that are mostly of use', async () => {
    const holding = new Holding(0);
    const items = new Map(group(10, 1).map((value, i) => [i, { value }]));
    for (const { value } of items.values()) holding.keep(value);
    holding.drop(items.get(0)!.value);
    items.delete(0);
    const before = items.get(5)!.value;
    await moveAll(holding, items);
    expect(items.get(5)!.value).toBe(before);
  });
});
