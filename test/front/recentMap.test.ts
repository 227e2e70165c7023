import fc from 'fast-check';
import { expect, test } from 'vitest';
import { RecentMap } from '../../workers/front/access/recentMap.js';

test('values used within the last half of the limit are kept, and never more than the limit', () => {
  const use = fc.record({ key: fc.nat({ max: 40 }), weight: fc.integer({ min: 1, max: 5 }) });
  fc.assert(
    fc.property(fc.array(use, { maxLength: 300 }), uses => {
      const map = new RecentMap<number>(40, (_, weight) => weight);
      const used: { key: string; weight: number }[] = [];
      for (const { key, weight } of uses) {
        const known = map.get(`${key}`);
        if (known === undefined) map.set(`${key}`, weight);
        used.unshift({ key: `${key}`, weight: known ?? weight });
        expect(map.weight).toBeLessThanOrEqual(40 + 5);
      }
      let sum = 0;
      const seen = new Set<string>();
      for (const { key, weight } of used) {
        if (seen.has(key)) continue;
        seen.add(key);
        sum += weight;
        if (sum > 20) break;
        expect(map.get(key)).toBe(weight);
      }
    }),
  );
});

test('a value replaces the previous one and its weight', () => {
  const map = new RecentMap<number>(100, (_, weight) => weight);
  map.set('a', 30);
  map.set('a', 10);
  expect([map.get('a'), map.weight]).toEqual([10, 10]);
  map.clear();
  expect([map.get('a'), map.weight]).toEqual([undefined, 0]);
});

test('a value that grows counts with its new weight', () => {
  const sizes = new Map([['a', 1]]);
  const map = new RecentMap<string>(100, key => sizes.get(key) ?? 1);
  map.set('a', 'x');
  sizes.set('a', 40);
  map.grow(39);
  expect(map.weight).toBe(40);
  for (let i = 0; i < 60; i++) map.set(`b${i}`, 'x');
  expect(map.get('a')).toBe('x');
  for (let i = 0; i < 130; i++) map.set(`c${i}`, 'x');
  expect(map.get('a')).toBeUndefined();
});
