import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkLinearizability, type Model, type Timed } from './linearizability.js';
import { type RegisterOperation, registerFrom } from './register.js';

/** A register that is written and read: histories are small enough to try every order. */
type Cell = Timed & { readonly is: 'write' | 'read'; readonly value: number };
const cell: Model<number, Cell> = {
  initial: 0,
  step: (state, { is, value }) => (is === 'write' ? value : state === value ? state : undefined),
  key: String,
};

/** True if one of the orders that time allows is possible. Tries all of them. */
function hasOrder(state: number, left: readonly Cell[]): boolean {
  if (left.every(({ end }) => end === undefined)) return true;
  return left.some(operation => {
    if (left.some(other => other !== operation && other.end !== undefined && other.end < operation.start)) return false;
    const after = cell.step(state, operation);
    return (
      after !== undefined &&
      hasOrder(
        after,
        left.filter(other => other !== operation),
      )
    );
  });
}

const cells = fc.array(
  fc.record({
    is: fc.constantFrom('write' as const, 'read' as const),
    value: fc.integer({ min: 0, max: 2 }),
    start: fc.integer({ min: 0, max: 12 }),
    length: fc.option(fc.integer({ min: 1, max: 6 })),
  }),
  { maxLength: 7 },
);

describe('search for a linearization', () => {
  it('finds one if and only if one exists among all orders', () => {
    fc.assert(
      fc.property(cells, drawn => {
        const operations = drawn
          .filter(({ is, length }) => is === 'write' || length !== null)
          .map(({ length, ...rest }): Cell => ({ ...rest, end: length === null ? undefined : rest.start + length }));
        expect(checkLinearizability(cell, operations).is === 'linearizable').toBe(hasOrder(0, operations));
      }),
      { numRuns: 2000 },
    );
  });

  it('names the operation that no order can have', () => {
    const stale: Cell = { is: 'read', value: 1, start: 5, end: 6 };
    const result = checkLinearizability(cell, [
      { is: 'write', value: 1, start: 0, end: 1 },
      { is: 'write', value: 2, start: 2, end: 3 },
      stale,
    ]);
    expect(result).toMatchObject({ is: 'violated', stuck: stale });
  });

  it('decides a long history with many concurrent calls', () => {
    const operations: Cell[] = Array.from({ length: 3000 }, (_, i) => ({
      is: 'write',
      value: i,
      start: i,
      end: i + 10,
    }));
    expect(checkLinearizability(cell, [...operations, { is: 'read', value: 2995, start: 3100, end: 3101 }]).is).toBe(
      'linearizable',
    );
  });
});

describe('register with revisions', () => {
  const model = registerFrom(100);
  const create: RegisterOperation = { id: 1, start: 0, end: 1, is: 'create', token: 'a', revision: 101, uid: 'u' };
  const update: RegisterOperation = {
    id: 2,
    start: 2,
    end: 3,
    is: 'update',
    token: 'b',
    expect: 101,
    revision: 102,
    uid: 'u',
  };
  const linearizable = (...operations: RegisterOperation[]): boolean =>
    checkLinearizability(model, operations).is === 'linearizable';
  const found = (start: number, revision: number, token: string): RegisterOperation => ({
    id: 9,
    start,
    end: start + 1,
    is: 'found',
    revision,
    token,
    uid: 'u',
  });

  it('accepts a read of either side of an overlapping write, not of the older one afterwards', () => {
    expect(linearizable(create, update, found(2, 101, 'a'))).toBe(true);
    expect(linearizable(create, update, found(2, 102, 'b'))).toBe(true);
    expect(linearizable(create, update, found(4, 101, 'a'))).toBe(false);
  });

  it('refuses two updates that expected the same revision', () => {
    expect(linearizable(create, update, { ...update, id: 3, token: 'c', revision: 103 })).toBe(false);
  });

  it('refuses decreasing revisions', () => {
    expect(linearizable(create, { id: 3, start: 2, end: 3, is: 'patch', token: 'c', revision: 99, uid: 'u' })).toBe(
      false,
    );
    expect(linearizable(create, { id: 3, start: 2, end: 3, is: 'delete', revision: 90, uid: 'u' })).toBe(false);
  });

  it('accepts that a write without an answer took place, or did not', () => {
    const lost: RegisterOperation = { id: 3, start: 2, is: 'delete', revision: 0, uid: '' };
    expect(linearizable(create, lost, found(4, 101, 'a'))).toBe(true);
    expect(linearizable(create, lost, { id: 4, start: 4, end: 5, is: 'missing' })).toBe(true);
    expect(linearizable(create, { id: 4, start: 4, end: 5, is: 'missing' })).toBe(false);
  });

  it('refuses a conflict where the revision was the expected one', () => {
    expect(linearizable(create, { id: 3, start: 2, end: 3, is: 'conflict', expect: 101 })).toBe(false);
    expect(linearizable(create, { id: 3, start: 2, end: 3, is: 'conflict', expect: 55 })).toBe(true);
  });
});
