import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { jsonSyntaxError } from '../../core/schema/json/jsonSyntax.js';

const syntaxErrorOf = (text: string): string | undefined => jsonSyntaxError(Buffer.from(text));

describe('errors of malformed JSON', () => {
  test.each([
    ['', 'unexpected end of JSON input'],
    ['{', 'unexpected end of JSON input'],
    ['{"a":"b', 'unexpected end of JSON input'],
    ['apiVersion: v1', "invalid character 'a' looking for beginning of value"],
    ['{a:1}', "invalid character 'a' looking for beginning of object key string"],
    ['{"a":1,}', "invalid character '}' looking for beginning of object key string"],
    ['{"a" 1}', "invalid character '1' after object key"],
    ['{"a":1 "b"}', `invalid character '"' after object key:value pair`],
    ['[1 2]', "invalid character '2' after array element"],
    ['{}}', "invalid character '}' after top-level value"],
    ['{"a":01}', "invalid character '1' after object key:value pair"],
    ['-x', "invalid character 'x' in numeric literal"],
    ['1.x', "invalid character 'x' after decimal point in numeric literal"],
    ['1ex', "invalid character 'x' in exponent of numeric literal"],
    ['tru', 'unexpected end of JSON input'],
    ['nxll', "invalid character 'x' in literal null (expecting 'u')"],
    ['"\n"', "invalid character '\\n' in string literal"],
    ['"\\x"', "invalid character 'x' in string escape code"],
    ['"\\u00g0"', "invalid character 'g' in \\u hexadecimal character escape"],
    ["'a'", "invalid character '\\'' looking for beginning of value"],
    ['\u0000', "invalid character '\\x00' looking for beginning of value"],
    ['é', "invalid character 'Ã' looking for beginning of value"],
  ])('%j: %s', (text, expected) => {
    expect(syntaxErrorOf(text)).toBe(expected);
  });

  test('text has an error if and only if the parser refuses it', () => {
    const mangled = fc.tuple(
      fc.json(),
      fc.nat(),
      fc.constantFrom('', '{', '}', ',', '"', '\\', '1', '-', 'e', ' ', '\u0001'),
    );
    fc.assert(
      fc.property(mangled, ([json, where, put]) => {
        const at = where % (json.length + 1);
        const text = json.slice(0, at) + put + json.slice(at + 1);
        const parses = ((): boolean => {
          try {
            JSON.parse(text);
            return true;
          } catch {
            return false;
          }
        })();
        expect(syntaxErrorOf(text) === undefined).toBe(parses);
      }),
    );
  });

  test('deep nesting does not overflow the stack', () => {
    expect(syntaxErrorOf('['.repeat(1_000_000))).toBe('unexpected end of JSON input');
  });
});
