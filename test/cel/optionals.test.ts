import { describe, expect, it } from 'vitest';
import * as C from '../../core/cel/index.js';

/* Optionals in untyped data, where the compiler cannot tell whether a value is an optional. */

const env = C.createEnvironment({ libraries: C.allLibraries(), variables: { x: C.DYN } });
const run = (text: string): unknown => {
  const { program, errors } = env.compile(text);
  const { value, error } = program!.evaluate({ x: { a: '1', none: null, list: [1] } });
  return errors || (error ?? value);
};

describe('an alternative', () => {
  it.each([
    ["x.a.orValue('z')", '1'],
    ["x.none.orValue('z')", null],
    ["dyn('s').or(optional.none()).orValue('y')", 's'],
    ["x.?a.orValue('z')", '1'],
    ["x.?gone.orValue('z')", 'z'],
    ["dyn(optional.none()).orValue('z')", 'z'],
  ])('%s of a value that is not an optional is the value', (text, value) => expect(run(text)).toEqual(value));

  it.each(['x.a.orValue(x.gone)', 'x.?a.orValue(x.gone)', 'optional.of(1).or(optional.of(1 / 0)).value()'])(
    '%s is not evaluated where there is a value',
    text => expect(String(run(text))).toBe('1'),
  );

  it('that is needed and fails makes the expression fail', () =>
    expect(run('x.?gone.orValue(x.other)')).toBe('no such key: other'));

  it.each([
    ['x.a.hasValue()', 'hasValue(string)'],
    ['x.a.or(optional.of(1)).value()', 'value(string)'],
    ['x.a.optMap(v, v).hasValue()', 'hasValue(string)'],
  ])('%s is an error for a value that is not an optional', (text, call) =>
    expect(run(text)).toBe(`no such overload: ${call}`),
  );
});

describe('an optional member', () => {
  it.each(['x.none.?b', 'x.?none.?b', 'x.a.?b', 'x.?a.?b.?c', 'x.?a.b', 'dyn(1).?b', 'dyn(null)[?"b"]'])(
    '%s of a value without members is empty',
    text => expect(run(`${text}.hasValue()`)).toBe(false),
  );

  it('of a list is an error', () => expect(run('x.?list.?b')).toBe("unsupported index type 'string' in list"));
});
