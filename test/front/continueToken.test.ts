import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ContinueTokens } from '../../core/front/continueToken.js';

const tokens = new ContinueTokens(Buffer.from('secret'));

test('[R168] a token gives back its position, for its collection alone', () => {
  fc.assert(
    fc.property(fc.nat(), fc.string(), fc.string(), (revision, after, scope) => {
      const token = tokens.encode({ revision, after, scope });
      expect(tokens.decode(token, scope)).toEqual({ revision, after, scope });
      expect(() => tokens.decode(token, `${scope}x`)).toThrow('continue key is not valid');
    }),
  );
});

test('[R168] a changed, cut, extended or foreign token is refused', () => {
  const position = { revision: 7, after: '/secrets/a/b', scope: '/secrets/a/' };
  const token = tokens.encode(position);
  for (let i = 0; i < token.length; i++) {
    const other = token[i] === 'A' ? 'B' : 'A';
    expect(() => tokens.decode(token.slice(0, i) + other + token.slice(i + 1), position.scope)).toThrow('continue key');
    expect(() => tokens.decode(token.slice(0, i), position.scope)).toThrow('continue key');
  }
  expect(() => tokens.decode(`${token}AAAA`, position.scope)).toThrow('continue key');
  expect(() => new ContinueTokens(Buffer.from('other')).decode(token, position.scope)).toThrow('continue key');
});
