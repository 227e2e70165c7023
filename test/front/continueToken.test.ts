import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ContinueTokens } from '../../workers/front/reads/continueToken.js';

const tokens = new ContinueTokens(Buffer.from('secret'));

test('[R168] a decoded token yields its position', () => {
  fc.assert(
    fc.property(fc.nat(), fc.string(), fc.string(), (revision, after, scope) => {
      expect(tokens.decode(tokens.encode({ revision, after }, scope), scope)).toEqual({ revision, after });
    }),
  );
});

test('[R168] a changed, truncated, extended or foreign token, and a token for another list, are refused', () => {
  const token = tokens.encode({ revision: 7, after: 'a/b' }, 'pods');
  for (let i = 0; i < token.length; i++) {
    const other = token[i] === 'A' ? 'B' : 'A';
    expect(() => tokens.decode(token.slice(0, i) + other + token.slice(i + 1), 'pods')).toThrow(
      'invalid continue token: continue key',
    );
    expect(() => tokens.decode(token.slice(0, i), 'pods')).toThrow('invalid continue token: continue key');
  }
  expect(() => tokens.decode(`${token}AAAA`, 'pods')).toThrow('continue key');
  expect(() => new ContinueTokens(Buffer.from('other')).decode(token, 'pods')).toThrow('continue key');
  expect(() => tokens.decode(token, 'secrets')).toThrow('for a list of this resource');
});

test.each([
  ['%%%', 0],
  ['ab$c', 2],
  ['x', 0],
  ['abcde', 4],
  ['abc=', 3],
])('text that is not base64url is refused with the position: %s', (token, place) => {
  expect(() => tokens.decode(token, '')).toThrow(`illegal base64 data at input byte ${place}`);
});
