import { expect, test } from 'vitest';
import { warningHeaders } from '../../core/request/warnings.js';
import { WARNING_CHARACTERS, WARNINGS_CHARACTERS } from '../../core/limits.js';

const values = (...texts: string[]): string[] => warningHeaders(texts).map(([, value]) => value);

test('each warning is a header once, quoted', () => {
  expect(values('unknown field "a\\b"', 'deprecated', 'deprecated')).toEqual([
    '299 - "unknown field \\"a\\\\b\\""',
    '299 - "deprecated"',
  ]);
  expect(values('☃ stays')).toEqual(['299 - "☃ stays"']);
});

test('characters that a header cannot contain are omitted', () => {
  expect(values('a\r\nset-cookie: b', '\u0000', '\u007f', '\u0085', '\ud800', '', 'kept')).toEqual(['299 - "kept"']);
});

test('with too many characters, every warning is truncated, and then those that fit are kept', () => {
  const long = 'x'.repeat(WARNINGS_CHARACTERS + 1);
  expect(values(long)).toEqual([`299 - "${'x'.repeat(WARNING_CHARACTERS)}"`]);
  const many = Array.from({ length: 100 }, (_, i) => `${i}${'y'.repeat(300)}`);
  expect(values(...many)).toHaveLength(WARNINGS_CHARACTERS / WARNING_CHARACTERS);
  expect(values('x'.repeat(WARNINGS_CHARACTERS))[0]).toHaveLength(WARNINGS_CHARACTERS + '299 - ""'.length);
});
