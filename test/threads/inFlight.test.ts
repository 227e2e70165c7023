import fc from 'fast-check';
import { expect, test } from 'vitest';
import { InFlight } from '../../core/threads/inFlight.js';

test('assigns unique ids, finds their values until they are deleted, and reuses slots', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.boolean(), fc.nat()), { maxLength: 200 }), steps => {
      const inFlight = new InFlight<string>();
      const model = new Map<number, string>();
      const given = new Set<number>();
      for (const [adds, pick] of steps) {
        if (adds) {
          const id = inFlight.add(`value ${pick}`);
          expect(given.has(id)).toBe(false);
          given.add(id);
          model.set(id, `value ${pick}`);
        } else {
          const id = [...given][pick % Math.max(1, given.size)] ?? 0;
          inFlight.delete(id);
          model.delete(id);
          expect(inFlight.get(id)).toBeUndefined();
        }
        expect(inFlight.size).toBe(model.size);
      }
      expect(new Map(inFlight)).toEqual(model);
      for (const [id, value] of model) expect(inFlight.get(id)).toBe(value);
    }),
  );
});
