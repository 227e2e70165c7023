/** Optional values. */
import { declare, declareGlobal } from '../check/declarations.js';
import type { Library } from '../library.js';
import { OPTIONAL_MACROS } from '../syntax/macros.js';
import { isZero } from '../evaluate/ops.js';
import { ArrayList, fail, iterate, type List, Optional, type Value } from '../evaluate/values.js';

const has = (v: Value): boolean => (v as Optional).value !== undefined;
const unwrap = (v: Value, _b: Value, _c: Value): Value => {
  const out: Value[] = [];
  for (const item of iterate(v as List)) if (item instanceof Optional && item.value !== undefined) out.push(item.value);
  return new ArrayList(out);
};
const neverCalled = (): never => fail('no such overload');

/** Optionals: construction, access, selection; version 1 adds `unwrap`. */
export function optionalsLibrary(version: number): Library {
  return {
    name: `optional/${version}`,
    optionalSyntax: true,
    types: ['optional_type'],
    macros: OPTIONAL_MACROS,
    functions: [
      declareGlobal('optional.of(A): optional(A)', v => new Optional(v)),
      declareGlobal('optional.ofNonZeroValue(A): optional(A)', v => (isZero(v) ? Optional.none : new Optional(v))),
      declareGlobal('optional.none(): optional(A)', () => Optional.none),
      declare('optional(A).hasValue(): bool', has),
      declare(
        'optional(A).value(): A',
        v => (v as Optional).value ?? (has(v) ? null : fail('optional.none() dereference')),
      ),
      declare('optional(A).or(optional(A)): optional(A)', (a, b) => (has(a) ? a : b)),
      declare('optional(A).orValue(A): A', (a, b) => (has(a) ? (a as Optional).value! : b)),
      declareGlobal('_[?_](list(A), int): optional(A)', neverCalled),
      declareGlobal('_[?_](optional(list(A)), int): optional(A)', neverCalled),
      declareGlobal('_[?_](map(A, B), A): optional(B)', neverCalled),
      declareGlobal('_[?_](optional(map(A, B)), A): optional(B)', neverCalled),
      declareGlobal('_[_](optional(list(A)), int): optional(A)', neverCalled),
      declareGlobal('_[_](optional(map(A, B)), A): optional(B)', neverCalled),
      ...(version >= 1
        ? [
            declareGlobal('optional.unwrap(list(optional(A))): list(A)', unwrap),
            declare('list(optional(A)).unwrapOpt(): list(A)', unwrap),
          ]
        : []),
    ],
  };
}
