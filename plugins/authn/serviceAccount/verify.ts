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

/** Whether a token is in use at a time in seconds (RFC 7519, 4.1.4 and 4.1.5). */
function isCurrent({ iat, nbf, exp }: JWTPayload, now: number): boolean {
  if (!isTime(iat) || !isTime(nbf) || !isTime(exp)) return false;
  return (nbf === undefined || nbf <= now + LEEWAY) && (exp === undefined || exp > now - LEEWAY);
}

/**
 * Verifies signature and times of a token. Returns its claims. Throws 401.
 *
 * jose decodes all parts of the token. The signature is verified on this thread: jose uses WebCrypto, whose way through
 * another thread takes longer than the verification (`docs/decisions/0013-tokens.md`). The algorithm is always that of
 * the key, and never only what the header says; extensions (`crit`) are refused.
 */
export async function verifyToken(token: string, keys: readonly VerificationKey[], now: number): Promise<JWTPayload> {
  const { base64url, decodeJwt, decodeProtectedHeader, errors } = await jose();
  try {
    const { alg, kid, crit } = decodeProtectedHeader(token);
    const payload = decodeJwt(token);
    const end = token.lastIndexOf('.');
    const [text, signature] = [Buffer.from(token.slice(0, end)), base64url.decode(token.slice(end + 1))];
    const isKnown = (key: VerificationKey): boolean => key.alg === alg && isSignedBy(key, text, signature);
    if (crit === undefined && candidates(keys, kid).some(isKnown) && isCurrent(payload, Math.floor(now / 1000)))
      return payload;
  } catch (thrown) {
    // Invalid tokens throw errors of the library, or TypeError if a part cannot be decoded.
    if (!(thrown instanceof errors.JOSEError || thrown instanceof TypeError)) throw thrown;
  }
  throw unknownToken();
}
