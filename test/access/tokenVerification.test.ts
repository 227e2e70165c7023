import { createHmac, createPublicKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import fc from 'fast-check';
import { type JWTPayload, jwtVerify } from 'jose';
import { describe, expect, test } from 'vitest';
import { LEEWAY } from '../../plugins/authn/serviceAccount/objects.js';
import { verifyToken } from '../../plugins/authn/serviceAccount/verify.js';

const NOW = 1_700_000_000;
const TOLERANCE = LEEWAY;
const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const stranger = generateKeyPairSync('rsa', { modulusLength: 2048 });
const KEYS = [
  { kid: 'r', alg: 'RS256', key: createPublicKey(rsa.privateKey) },
  { kid: 'e', alg: 'ES256', key: createPublicKey(ec.privateKey) },
];

const PRIMITIVE = 'square/go-jose: error in cryptographic primitive';

const part = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
const signRsa = (text: string, key: KeyObject = rsa.privateKey): Buffer => sign('sha256', Buffer.from(text), key);
const signEc = (text: string, dsaEncoding: 'der' | 'ieee-p1363' = 'ieee-p1363'): Buffer =>
  sign('sha256', Buffer.from(text), { key: ec.privateKey, dsaEncoding });

/** A token with arbitrary header and claims; its signature is valid. */
function made(header: object, claims: unknown, signer: (text: string) => Buffer = signRsa): string {
  const text = `${part(header)}.${part(claims)}`;
  return `${text}.${signer(text).toString('base64url')}`;
}

const ours = (token: string): Promise<JWTPayload | undefined> =>
  verifyToken(token, KEYS, NOW * 1000).catch(() => undefined);

/** True if jose accepts the token with one of the keys, and the algorithm of that key alone. */
async function theirs(token: string): Promise<JWTPayload | undefined> {
  for (const { key, alg } of KEYS) {
    const options = { algorithms: [alg], currentDate: new Date(NOW * 1000), clockTolerance: TOLERANCE };
    const found = await jwtVerify(token, key, options).catch(() => undefined);
    if (found) return found.payload;
  }
  return undefined;
}

const R = { alg: 'RS256', kid: 'r' };
const E = { alg: 'ES256', kid: 'e' };
const good = made(R, { sub: 'a', exp: NOW + 3600 });
const [head, body, signature] = good.split('.') as [string, string, string];
const withPublicKey = (text: string): Buffer =>
  createHmac('sha256', KEYS[0]!.key.export({ type: 'spki', format: 'pem' }))
    .update(text)
    .digest();

describe('a token is accepted if and only if jose accepts it', () => {
  const accepted: { [name: string]: string } = {
    'signed with RSA': good,
    'signed with an elliptic curve': made(E, { sub: 'a' }, signEc),
    'without the name of its key': made({ alg: 'RS256' }, { sub: 'a' }),
    'with an empty name of its key': made({ alg: 'ES256', kid: '' }, {}, signEc),
    'expired within the tolerance': made(R, { exp: NOW - TOLERANCE + 1 }),
    'valid soon, within the tolerance': made(R, { nbf: NOW + TOLERANCE }),
  };
  const refused: { [name: string]: string } = {
    'without signature': `${head}.${body}.`,
    'without algorithm': `${part({ alg: 'none' })}.${body}.`,
    'with a signature of another key': made(R, {}, text => signRsa(text, stranger.privateKey)),
    'with the public key as secret': made({ alg: 'HS256', kid: 'r' }, {}, withPublicKey),
    'with the algorithm of another key': made({ alg: 'ES256', kid: 'r' }, {}),
    'with an algorithm of the same family': made({ alg: 'RS512', kid: 'r' }, {}, text =>
      sign('sha512', Buffer.from(text), rsa.privateKey),
    ),
    'with a number as algorithm': made({ alg: 256, kid: 'r' }, {}),
    'with a signature in DER': made(E, {}, text => signEc(text, 'der')),
    'with other claims than signed': `${head}.${part({ sub: 'b' })}.${signature}`,
    'with another header than signed': `${part({ ...R, typ: 'x' })}.${body}.${signature}`,
    'with a fourth part': `${good}.${signature}`,
    'with a signature that is not base64url': `${head}.${body}.${signature.slice(0, -2)}=%`,
    'with an unknown extension': made({ ...R, crit: ['x'], x: 1 }, {}),
    'with an empty list of extensions': made({ ...R, crit: [] }, {}),
    'whose payload is not encoded': made({ ...R, crit: ['b64'], b64: false }, {}),
    'whose claims are a list': made(R, []),
    'whose claims are null': made(R, null),
    'with a string as expiration time': made(R, { exp: String(NOW + 3600) }),
    'with null as expiration time': made(R, { exp: null }),
    'with a string as not-before time': made(R, { nbf: '1' }),
    'with a string as issue time': made(R, { iat: '1' }),
    'that has expired': made(R, { exp: NOW - TOLERANCE }),
    'that is not valid yet': made(R, { nbf: NOW + TOLERANCE + 1 }),
    'that is empty': '',
    'that is only dots': '..',
  };

  test.each(Object.entries(accepted))('one %s', async (_, token) => {
    expect(await ours(token)).toBeDefined();
    expect(await ours(token)).toEqual(await theirs(token));
  });

  test.each(Object.entries(refused))('not one %s', async (_, token) => {
    expect([await ours(token), await theirs(token)]).toEqual([undefined, undefined]);
  });

  test('unless its header names an unknown key', async () => {
    const token = made({ alg: 'RS256', kid: 'x' }, {});
    expect([await ours(token), await theirs(token)]).toEqual([undefined, {}]);
  });

  test('also if one of its characters is changed, removed or added', async () => {
    const change = fc.record({
      at: fc.nat(good.length),
      removed: fc.nat(1),
      added: fc.constantFrom('', 'A', 'z', '-', '.', '=', '+', '/', ' ', '\n', 'é'),
    });
    await fc.assert(
      fc.asyncProperty(change, async ({ at, removed, added }) => {
        const token = good.slice(0, at) + added + good.slice(at + removed);
        expect(await ours(token)).toEqual(await theirs(token));
      }),
      { numRuns: 300 },
    );
  });
});

test.each([
  ['no token', 'a.b.c', 'Unauthorized'],
  ['a changed signature', `${head}.${body}.${signature.slice(0, -6)}AAAAAA`, PRIMITIVE],
  ['no algorithm', made({ alg: 'none' }, {}, () => Buffer.alloc(0)), PRIMITIVE],
  ['an unknown key', made({ alg: 'RS256', kid: 'x' }, {}), 'invalid signature, no keys found'],
  ['an expiration time in the past', made(R, { exp: NOW - TOLERANCE }), 'service account token has expired'],
  ['a not-before time in the future', made(R, { nbf: NOW + 1000 }), 'service account token is not valid yet'],
  ['an issue time in the future', made(R, { iat: NOW + 1000 }), 'service account token is issued in the future'],
  [
    'a string as expiration time',
    made(R, { exp: '1' }),
    'square/go-jose/jwt: expected number value to unmarshal NumericDate',
  ],
])('token reviews name the error: %s', async (_, token, message) => {
  await expect(verifyToken(token, KEYS, NOW * 1000)).rejects.toThrow(message);
});
