/** Optional values. */
import { declare, declareGlobal } from '../check/declarations.js';
import type { Library } from '../library.js';
import { OPTIONAL_MACROS } from '../syntax/macros.js';
import { isZero } from '../evaluate/ops.js';
import { ArrayList, fail, iterate, type List, Optional, typeNameOf, type Value } from '../evaluate/values.js';

const has = (v: Value): boolean => (v as Optional).value !== undefined;
/** Refuses a value that is not an optional: `or` of an untyped value returns the value. */
const asOptional = (v: Value, fn: string): Optional =>
  v instanceof Optional ? v : fail(`no such overload: ${fn}(${typeNameOf(v)})`);
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
      declare('optional(A).hasValue(): bool', v => has(asOptional(v, 'hasValue'))),
      declare(
        'optional(A).value(): A',
        v => asOptional(v, 'value').value ?? (has(v) ? null : fail('optional.none() dereference')),
      ),
      // The planner compiles calls of both, whose argument is not always evaluated.
      declare('optional(A).or(optional(A)): optional(A)', neverCalled),
      declare('optional(A).orValue(A): A', neverCalled),
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
