import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isBase64 } from '../../core/model/text/base64.js';

test('the base64 of all bytes is accepted, and not without a character of it', () => {
  fc.assert(
    fc.property(fc.uint8Array(), bytes => {
      const text = Buffer.from(bytes).toString('base64');
      expect(isBase64(text)).toBe(true);
      if (text !== '') expect(isBase64(text.slice(1))).toBe(false);
    }),
  );
});

test.each(['A', 'AA', 'AAA', 'A===', '====', '==', 'AA=A', 'AA==AAAA', 'AAA\n', 'AA A', 'AA-_', 'AAé='])(
  '%j is refused',
  text => {
    expect(isBase64(text)).toBe(false);
  },
);
