import fc from 'fast-check';
import { expect, test } from 'vitest';
import { SortedMap } from '../../core/runtime/sortedMap.js';

const keys = fc.array(fc.string({ unit: fc.constantFrom('a', 'b', '/', '0'), maxLength: 6 }), { maxLength: 2000 });

test('ranges and counts are those of a sorted array after any inserts, replacements and deletions', () => {
  fc.assert(
    fc.property(
      keys,
      keys,
      fc.constantFrom('', 'a', 'a/', 'b0'),
      fc.option(fc.constantFrom('', 'a/a', 'b')),
      (put, gone, prefix, after) => {
        const map = new SortedMap<{ key: string; is: string }>();
        for (const key of put) map.set({ key, is: 'old' });
        for (const key of put) map.set({ key, is: 'new' });
        for (const key of gone) map.delete(key);
        const kept = [...new Set(put)].filter(key => !gone.includes(key)).sort();
        const from = after ?? undefined;
        const expected = kept.filter(key => key.startsWith(prefix) && (from === undefined || key > from));
        expect(map.size).toBe(kept.length);
        expect(map.range(prefix, from)).toEqual(expected.map(key => ({ key, is: 'new' })));
        expect(map.count(prefix, from)).toBe(expected.length);
      },
    ),
  );
});

test('a visit that returns false is the last', () => {
  const map = new SortedMap<{ key: string }>();
  for (let i = 0; i < 2000; i++) map.set({ key: String(i).padStart(4, '0') });
  const seen: string[] = [];
  map.each('', '0009', ({ key }) => seen.push(key) < 3);
  expect(seen).toEqual(['0010', '0011', '0012']);
});
