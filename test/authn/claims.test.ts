import { sign } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { namingOf } from '../../core/naming.js';
import { authenticatorOfFlags } from '../../plugins/authn/jwt/config.js';
import type { JwtAuthenticator } from '../../plugins/authn/jwt/types.js';
import { UserMaker } from '../../plugins/authn/jwt/user.js';
import { checkClaims, decodeToken, verificationKeysOf, verifySignature } from '../../plugins/authn/jwt/verify.js';
import { signingKey } from './provider.js';

/*
 * Tokens with unusual claims and headers: the results are those of the upstream server, release 1.32, except where
 * marked.
 */

const key = signingKey('one');
const NOW = Date.parse('2026-01-01T00:00:00Z');
const EXP = NOW / 1000 + 600;
const keys = verificationKeysOf([{ ...key.publicKey.export({ format: 'jwk' }), kid: 'one', kty: 'RSA' }]);
let authenticator: JwtAuthenticator;
let users: UserMaker;
beforeAll(async () => {
  const flags = { issuerUrl: 'https://issuer.example', clientId: 'client', usernamePrefix: 'p:' };
  const groups = { groupsClaim: 'groups', groupsPrefix: 'g:' };
  authenticator = await authenticatorOfFlags({ ...flags, ...groups }, namingOf('kubernetes'));
  users = new UserMaker(authenticator, undefined);
});

const encode = (text: string): string => Buffer.from(text).toString('base64url');
const CLAIMS = { iss: 'https://issuer.example', aud: 'client', sub: 's', exp: EXP, groups: ['g'] };
const HEADER = '"alg":"RS256","kid":"one"';

/** A signed token of claims as a text, followed by the members `more`, and of a header. */
function tokenOf(claims: object, more = '', header = HEADER): string {
  const payload = JSON.stringify({ ...CLAIMS, ...claims }).replace(/\}$/, `${more && `,${more}`}}`);
  const signed = `${encode(`{${header}}`)}.${encode(payload)}`;
  return `${signed}.${sign('sha256', Buffer.from(signed), key.privateKey).toString('base64url')}`;
}

/** The user of a token with its groups, or the reason why it is refused. */
async function userOf(token: string): Promise<string> {
  try {
    const decoded = decodeToken(token);
    if (!decoded) return 'no token';
    await verifySignature(token, decoded, keys, authenticator.issuer);
    checkClaims(decoded.claims, authenticator.issuer, NOW);
    const { name, groups } = users.userOf(decoded.claims);
    return [name, ...groups].join(' ');
  } catch (error) {
    return (error as Error).message;
  }
}

const GOOD = 'p:s g:g';
const NOT_A_NUMBER = 'must be a number of seconds';

describe('a token is accepted', () => {
  test.each<[what: string, claims: object, more?: string, header?: string, user?: string]>([
    ['whose times are strings', { exp: String(EXP), nbf: '1', iat: '1.5e3' }],
    ['whose times have fractions', { exp: EXP + 0.7, nbf: 1.5, iat: 1.5 }],
    ['with null as nbf', { nbf: null }],
    ['issued in the future', { iat: EXP }],
    ['for several audiences', { aud: ['x', 'client'] }],
    ['with a duplicate claim, of which the last counts', {}, '"sub":"t"', HEADER, 'p:t g:g'],
    ['with groups as a string', { groups: 'one' }, '', HEADER, 'p:s g:one'],
    ['without groups', { groups: null }, '', HEADER, 'p:s'],
    ['with a thousand groups', { groups: Array(1000).fill('x') }, '', HEADER, `p:s${' g:x'.repeat(1000)}`],
    [
      'with claims that have names of prototype members',
      {},
      '"__proto__":{"sub":"evil","groups":["evil"]},"constructor":{}',
    ],
    ['with deeply nested claims', {}, `"deep":${'['.repeat(2000)}${']'.repeat(2000)}`],
    ['with a lone surrogate, which is replaced', {}, '"sub":"\\ud800"', HEADER, 'p:\ufffd g:g'],
    ['without a key id', {}, '', '"alg":"RS256"'],
    ['that contains another key', {}, '', `${HEADER},"jku":"https://x","jwk":{"kty":"RSA","n":"AQAB","e":"AQAB"}`],
    [
      'with groups and a source of other groups',
      {},
      '"_claim_names":{"groups":"s"},"_claim_sources":{"s":{"JWT":"x"}}',
    ],
  ])('%s', async (_what, claims, more = '', header = HEADER, user = GOOD) => {
    expect(await userOf(tokenOf(claims, more, header))).toBe(user);
  });
});

describe('a token is refused', () => {
  test.each<[what: string, claims: object, why: string, more?: string, header?: string]>([
    ['whose expiration time overflows', { exp: 1e300 }, 'token is expired'],
    ['whose expiration time is too early to be shown', { exp: -1e300 }, 'token is expired'],
    ['whose expiration time is the last second of 64 bits', {}, 'token is expired', '"exp":9223372036854775807'],
    ['whose expiration time is null', { exp: null }, NOT_A_NUMBER],
    ['whose expiration time is not a number', { exp: 'soon' }, NOT_A_NUMBER],
    ['whose expiration time is an empty string', { exp: '' }, NOT_A_NUMBER],
    ['whose expiration time is hexadecimal', { exp: '0xffffffffff' }, NOT_A_NUMBER],
    ['whose expiration time is a list', { exp: [EXP] }, NOT_A_NUMBER],
    ['whose expiration time is true', { exp: true }, NOT_A_NUMBER],
    ['with two expiration times, the last in the past', {}, 'token is expired', '"exp":1'],
    ['with null as iat', { iat: null }, NOT_A_NUMBER],
    ['with an object as nbf', { nbf: {} }, NOT_A_NUMBER],
    ['for a number', { aud: 1 }, 'aud must be a string'],
    ['for the client and a number', { aud: ['client', 1] }, 'aud must be a string'],
    ['for lists', { aud: [['client']] }, 'aud must be a string'],
    ['with a number as sub', { sub: 1 }, 'sub must be a string'],
    ['with groups in lists', { groups: [['a'], 'b'] }, 'cannot read array'],
    ['with an object as groups', { groups: { a: 1 } }, 'cannot read object'],
    ['with a number among groups', { groups: ['a', 1] }, 'cannot read array'],
    ['with invalid sources', { groups: undefined }, '_claim_names must be an object', '"_claim_names":5'],
    [
      'with groups from a missing source',
      { groups: undefined },
      'source does not exist',
      '"_claim_names":{"groups":"s"}',
    ],
    [
      'with groups from a prototype member',
      { groups: undefined },
      'source does not exist',
      '"_claim_names":{"groups":"constructor"},"_claim_sources":{}',
    ],
    ['with two algorithms', {}, 'no token', '', `"alg":"none",${HEADER}`],
    ['with two key ids', {}, 'no token', '', `"kid":"two",${HEADER}`],
    ['with another key id', {}, 'failed to verify signature', '', '"alg":"RS256","kid":"two"'],
    ['with a list of algorithms', {}, 'unsupported algorithm', '', '"alg":["RS256"],"kid":"one"'],
    ['with a critical extension', {}, '`crit`', '', `${HEADER},"crit":["exp"]`],
    // Upstream accepts these. A name that is only the prefix would be the same for all users without a name.
    ['with an empty sub', { sub: '' }, 'the user name is empty'],
    ['with null as sub', { sub: null }, 'the user name is empty'],
    // Upstream also accepts these. Names of claims are case-sensitive (RFC 7519, 10.1.1), and null is not a group.
    ['with EXP as its expiration time', { exp: undefined }, 'token has no expiry', `"EXP":${EXP}`],
    ['with null among groups', { groups: ['a', null] }, 'cannot read array'],
  ])('%s', async (_what, claims, why, more = '', header = HEADER) => {
    expect(await userOf(tokenOf(claims, more, header))).toContain(why);
  });
});
