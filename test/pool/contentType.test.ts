import { describe, expect, test } from 'vitest';
import { isWellFormed, mediaTypeOf } from '../../workers/pool/body/contentType.js';

describe('a Content-Type', () => {
  test.each(['', 'application/json', 'a/b;', 'a/b ; c=d;e="f;\\"g" ', 'a/b;c=d;'])('may be %j', text => {
    expect(isWellFormed(text)).toBe(true);
  });

  test.each([';a=b', 'a/b;c', 'a/b;c=', 'a/b;c=d;C=e', 'a/b;c="d', 'a/b;=d', 'a/b;c=d e'])('may not be %j', text => {
    expect(isWellFormed(text)).toBe(false);
  });

  // With a pattern that backtracks, none of these would end.
  test.each(['a/b;c=d#x', 'a/b;#x', 'a/b;c#=', 'a/b;c=d;#x'])(
    'with a million spaces for # in %j is parsed in linear time',
    text => {
      expect(isWellFormed(text.replace('#', ' '.repeat(1_000_000)))).toBe(false);
    },
  );

  test('has a media type without parameters, in lower case', () => {
    expect(mediaTypeOf(' Application/JSON ; charset=utf-8')).toBe('application/json');
  });
});
