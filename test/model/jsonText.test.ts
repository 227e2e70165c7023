import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { integerValue, OutOfRange, readJson, writeJson } from '../../core/model/text/jsonText.js';
import type { Json } from '../../core/model/object.js';

const integers = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map(integerValue);
/** Values whose strings may look like numbers, and need escapes. */
const values = fc.letrec<{ value: Json }>(tie => ({
  value: fc.oneof(
    { depthSize: 'medium' },
    integers,
    fc.string({ unit: fc.constantFrom('1234567890123456789', '"', '\\', '-', 'é', '\n') }),
    fc.double({ noDefaultInfinity: true, noNaN: true }).filter(value => !Object.is(value, -0)),
    fc.constantFrom(null, true, 9007199254740993n, -9007199254740993n),
    fc.array(tie('value')),
    fc.dictionary(fc.constantFrom('a', '__proto__', '90071992547409931'), tie('value')),
  ),
})).value;

describe('JSON texts', () => {
  test('every value with 64-bit integers is read as it was written, with and without indent', () => {
    fc.assert(
      fc.property(values, fc.constantFrom(undefined, 2), (value, indent) => {
        // Doubles beyond 2^53 are written as integers, which are exact.
        const canonical = readJson(writeJson(value));
        expect(readJson(Buffer.from(writeJson(canonical, indent)))).toEqual(canonical);
        expect(writeJson(readJson(writeJson(value)))).toBe(writeJson(canonical));
      }),
    );
  });

  test('the digits of a 64-bit integer are kept at any position of a text', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), fc.nat(40), (number, before) => {
        const text = `{"a":"${'x'.repeat(before)}","b":[${number}, 1]}`;
        expect(writeJson(readJson(text))).toBe(text.replace(', ', ','));
      }),
    );
  });

  test.each([
    ['9007199254740991', 9007199254740991],
    ['9007199254740992', 9007199254740992n],
    ['9007199254740993', 9007199254740993n],
    ['9223372036854775807', 9223372036854775807n],
    ['-9223372036854775808', -9223372036854775808n],
    ['9223372036854775808', 2 ** 63],
    ['-9223372036854775809', -(2 ** 63)],
    ['9007199254740993.0', 9007199254740992],
    ['9007199254740993e0', 9007199254740992],
    ['0.90071992547409931', 0.9007199254740993],
    ['1e16', 1e16],
  ])('%s is read as %s', (text, value) => expect(readJson(`[${text}]`)).toEqual([value]));

  test('strings with many digits remain strings, and members named __proto__ remain members', () => {
    const text = '{"__proto__":9007199254740993,"a":"9007199254740993","b":"\\"9007199254740993"}';
    expect(writeJson(readJson(text))).toBe(text);
  });

  test('malformed texts, integers beyond doubles and cycles are refused', () => {
    expect(() => readJson('{"a":9007199254740993')).toThrow(SyntaxError);
    expect(() => readJson('9'.repeat(400))).toThrow(OutOfRange);
    const cycle: { a?: unknown; big: bigint } = { big: 2n ** 60n };
    cycle.a = cycle;
    expect(() => writeJson(cycle)).toThrow(TypeError);
  });

  test('a long text of digits is read in linear time', () => {
    const text = `["${'9'.repeat(3_000_000)}",[${'9007199254740993,'.repeat(50_000)}1]]`;
    // With quadratic time, this would not end within the time limit of the test.
    expect(readJson(text)).toHaveLength(2);
  });
});
