import { verify as verifySignature } from 'node:crypto';
import type { JWTPayload } from 'jose';
import { unknownToken } from '../bearer.js';
import { jose } from './jose.js';
import { candidates, type VerificationKey } from './keys.js';
import { LEEWAY } from './objects.js';

/** The hash of an algorithm such as RS256 (RFC 7518, 3.1). */
const hashOf = (alg: string): string => `sha${alg.slice(2)}`;

/** Whether the key has signed the text with its own algorithm. EC signatures are two numbers of fixed length. */
const isSignedBy = ({ key, alg }: VerificationKey, text: Uint8Array, signature: Uint8Array): boolean =>
  verifySignature(hashOf(alg), text, alg.startsWith('ES') ? { key, dsaEncoding: 'ieee-p1363' } : key, signature);

/** Whether a claim may be a time: absent, or a number (RFC 7519, 2). */
const isTime = (value: unknown): value is number | undefined => value === undefined || typeof value === 'number';

/** Why a token is not in use at a time in seconds (RFC 7519, 4.1.4 to 4.1.6), as upstream says; undefined if it is. */
function timeFault({ iat, nbf, exp }: JWTPayload, now: number): string | undefined {
  if (!isTime(iat) || !isTime(nbf) || !isTime(exp))
    return 'square/go-jose/jwt: expected number value to unmarshal NumericDate';
  if (nbf !== undefined && nbf > now + LEEWAY) return 'service account token is not valid yet';
  if (exp !== undefined && exp <= now - LEEWAY) return 'service account token has expired';
  return iat !== undefined && iat > now + LEEWAY ? 'service account token is issued in the future' : undefined;
}

/**
 * Verifies signature and times of a token. Returns its claims. Throws 401; for reviews of a token that can be decoded,
 * with upstream's reason.
 *
 * jose decodes all parts of the token. The signature is verified on this thread: jose uses WebCrypto, whose way through
 * another thread takes longer than the verification (`docs/decisions/0013-tokens.md`). The algorithm is always that of
 * the key, and never only what the header says; extensions (`crit`) are refused.
 */
export async function verifyToken(token: string, keys: readonly VerificationKey[], now: number): Promise<JWTPayload> {
  const { header, payload, signature } = await decode(token);
  const known = candidates(keys, header.kid);
  if (known.length === 0) throw unknownToken('invalid signature, no keys found');
  const text = Buffer.from(token.slice(0, token.lastIndexOf('.')));
  const isSigned = known.some(key => key.alg === header.alg && isSignedBy(key, text, signature));
  if (!isSigned || header.crit !== undefined) throw unknownToken('square/go-jose: error in cryptographic primitive');
  const fault = timeFault(payload, Math.floor(now / 1000));
  if (fault) throw unknownToken(fault);
  return payload;
}

/** The decoded parts of a token. Throws 401 for a text that is none. */
async function decode(token: string) {
  const { base64url, decodeJwt, decodeProtectedHeader, errors } = await jose();
  try {
    const signature = base64url.decode(token.slice(token.lastIndexOf('.') + 1));
    return { header: decodeProtectedHeader(token), payload: decodeJwt(token), signature };
  } catch (thrown) {
    // jose throws TypeError where a part cannot be decoded.
    if (thrown instanceof errors.JOSEError || thrown instanceof TypeError) throw unknownToken();
    throw thrown;
  }
}
