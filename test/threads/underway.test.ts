import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Underway } from '../../core/threads/underway.js';

test('gives ids once, finds what is under way, and reuses room', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.boolean(), fc.nat()), { maxLength: 200 }), steps => {
      const underway = new Underway<string>();
      const model = new Map<number, string>();
      const given = new Set<number>();
      for (const [adds, pick] of steps) {
        if (adds) {
          const id = underway.add(`value ${pick}`);
          expect(given.has(id)).toBe(false);
          given.add(id);
          model.set(id, `value ${pick}`);
        } else {
          const id = [...given][pick % Math.max(1, given.size)] ?? 0;
          underway.delete(id);
          model.delete(id);
          expect(underway.get(id)).toBeUndefined();
        }
        expect(underway.size).toBe(model.size);
      }
      expect(new Map(underway)).toEqual(model);
      for (const [id, value] of model) expect(underway.get(id)).toBe(value);
    }),
  );
});
