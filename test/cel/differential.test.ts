import { celEnv, isCelError, parse, plan } from '@bufbuild/cel';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { allLibraries, createEnvironment, DYN, type Value } from '../../core/cel/index.js';

const ours = createEnvironment({ libraries: allLibraries(), variables: { a: DYN, b: DYN } });
const theirs = celEnv();

/** Expressions of type int and bool over two variables, small enough that errors are frequent. */
const { int, bool } = fc.letrec<{ int: string; bool: string }>(tie => ({
  int: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom('0', '1', '-1', '2', 'a', 'b', '9223372036854775807'),
    fc.tuple(tie('int'), fc.constantFrom('+', '-', '*', '/', '%'), tie('int')).map(([x, op, y]) => `(${x} ${op} ${y})`),
    fc.tuple(tie('bool'), tie('int'), tie('int')).map(([c, x, y]) => `(${c} ? ${x} : ${y})`),
    tie('int').map(x => `size([${x}, 1])`),
  ),
  bool: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom('true', 'false'),
    fc
      .tuple(tie('int'), fc.constantFrom('<', '<=', '>', '>=', '==', '!='), tie('int'))
      .map(([x, op, y]) => `(${x} ${op} ${y})`),
    fc.tuple(tie('bool'), fc.constantFrom('&&', '||'), tie('bool')).map(([x, op, y]) => `(${x} ${op} ${y})`),
    tie('bool').map(x => `!${x}`),
    fc
      .tuple(tie('int'), tie('int'), fc.constantFrom('all', 'exists', 'exists_one'), tie('bool'))
      .map(([x, y, m, body]) => `[${x}, ${y}].${m}(a, ${body})`),
  ),
}));

const shown = (v: unknown): string => String(typeof v === 'number' ? BigInt(v) : v);

describe('differential test against another engine', () => {
  it('generated expressions have the same value, or fail in both engines', () => {
    fc.assert(
      fc.property(fc.oneof(int, bool), text => {
        const mine = ours.compile(text).program!.evaluate({ a: 3, b: -2 });
        const other = plan(theirs, parse(text))({ a: 3n, b: -2n });
        expect(mine.error === undefined ? shown(mine.value as Value) : 'error').toBe(
          isCelError(other) ? 'error' : shown(other),
        );
      }),
      { numRuns: 1000, seed: 5 },
    );
  });
});
