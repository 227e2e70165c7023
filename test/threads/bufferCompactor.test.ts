import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BufferCompactor, type Part } from '../../core/threads/entries/bufferCompactor.js';

const SIZE = 1000;
const GROUP = 64;

interface Item {
  value: Part;
}

/** Values in one buffer. */
function group(count: number, fill: number): Uint8Array[] {
  const bytes = new Uint8Array(count * SIZE).fill(fill);
  return Array.from({ length: count }, (_, i) => bytes.subarray(i * SIZE, (i + 1) * SIZE));
}

const moveAll = (buffers: BufferCompactor, items: Map<number, Item>): Promise<void> =>
  buffers.compact<Item>({
    items: () => items.values(),
    valueIn: item => item.value,
    move: (item, value) => {
      item.value = value;
    },
    moved: () => {},
  });

const bytesOf = ({ buffer, byteOffset, length }: Part): Uint8Array => new Uint8Array(buffer, byteOffset, length);

describe('a buffer compactor', () => {
  it('keeps the allocated bytes near the used ones when most values of each group are replaced', async () => {
    const buffers = new BufferCompactor(100_000);
    const items = new Map<number, Item>();
    for (let round = 0; round < 300; round++) {
      const values = group(GROUP, round % 256);
      for (const [i, value] of values.entries()) {
        // One object of each group is new and remains; the others are replaced by each group.
        const key = i === 0 ? 1000 + round : i;
        const before = items.get(key);
        if (before) buffers.remove(before.value);
        buffers.add(value);
        items.set(key, { value });
      }
      await moveAll(buffers, items);
      const { allocated, used } = buffers.totals;
      expect(used).toBe(items.size * SIZE);
      expect(allocated).toBeLessThanOrEqual(used * 1.6 + 100_000 + GROUP * SIZE);
    }
    for (let round = 0; round < 300; round++)
      expect(bytesOf(items.get(1000 + round)!.value).every(byte => byte === round % 256)).toBe(true);
  });

  it('counts exactly with any order of additions, removals and moves', async () => {
    const change = fc.record({ key: fc.nat(20), isGone: fc.boolean(), compact: fc.boolean() });
    await fc.assert(
      fc.asyncProperty(fc.array(change, { maxLength: 200 }), async changes => {
        const buffers = new BufferCompactor(0);
        const items = new Map<number, Item>();
        let fresh: Uint8Array[] = [];
        for (const { key, isGone, compact } of changes) {
          if (fresh.length === 0) fresh = group(8, key);
          const before = items.get(key);
          if (before) buffers.remove(before.value);
          items.delete(key);
          if (!isGone) {
            const value = fresh.pop()!;
            buffers.add(value);
            items.set(key, { value });
          }
          if (compact) await moveAll(buffers, items);
          const distinct = new Set(Array.from(items.values(), ({ value }) => value.buffer));
          expect(buffers.totals).toEqual({
            allocated: Array.from(distinct, buffer => buffer.byteLength).reduce((a, b) => a + b, 0),
            used: items.size * SIZE,
          });
        }
      }),
      { numRuns: 100 },
    );
  });

  it('does not copy values of buffers that are mostly used', async () => {
    const buffers = new BufferCompactor(0);
    const items = new Map(group(10, 1).map((value, i) => [i, { value }]));
    for (const { value } of items.values()) buffers.add(value);
    buffers.remove(items.get(0)!.value);
    items.delete(0);
    const before = items.get(5)!.value;
    await moveAll(buffers, items);
    expect(items.get(5)!.value).toBe(before);
  });
});
