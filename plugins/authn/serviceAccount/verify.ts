import type { JWTPayload } from 'jose';
import { unknownToken } from '../bearer.js';
import { jose } from './jose.js';
import { candidates, type VerificationKey } from './keys.js';
import { LEEWAY } from './objects.js';

type Jose = Awaited<ReturnType<typeof jose>>;

/**
 * Verifies signature and times of a token (RFC 7519, 7.2). Returns its claims. Throws 401; for reviews of a token that
 * can be decoded, with upstream's reason. The algorithm is always that of the key, and never only that of the header.
 */
export async function verifyToken(token: string, keys: readonly VerificationKey[], now: number): Promise<JWTPayload> {
  const library = await jose();
  const known = candidates(keys, keyIn(token, library));
  if (known.length === 0) throw unknownToken('invalid signature, no keys found');
  for (const { key, alg } of known) {
    const options = { algorithms: [alg], currentDate: new Date(now), clockTolerance: LEEWAY };
    try {
      const { payload } = await library.jwtVerify(token, key, options);
      if (payload.iat !== undefined && payload.iat > Math.floor(now / 1000) + LEEWAY)
        throw unknownToken('service account token is issued in the future');
      return payload;
    } catch (thrown) {
      checkSignatureFault(thrown, library);
    }
  }
  throw unknownToken('square/go-jose: error in cryptographic primitive');
}

/** The name of the key in the header of a token. Throws 401 for a text that is not a token. */
function keyIn(token: string, { decodeJwt, decodeProtectedHeader, errors }: Jose): string | undefined {
  try {
    decodeJwt(token);
    return decodeProtectedHeader(token).kid;
  } catch (thrown) {
    // jose throws TypeError where a part cannot be decoded.
    if (thrown instanceof errors.JOSEError || thrown instanceof TypeError) throw unknownToken();
    throw thrown;
  }
}

/** Throws unless jose found that a key has not signed the token: another key may have. */
function checkSignatureFault(thrown: unknown, { errors }: Jose): void {
  const { JOSEError, JWTClaimValidationFailed, JWTExpired } = errors;
  if (thrown instanceof JWTExpired) throw unknownToken('service account token has expired');
  if (thrown instanceof JWTClaimValidationFailed)
    throw unknownToken(
      thrown.reason === 'check_failed'
        ? 'service account token is not valid yet'
        : 'square/go-jose/jwt: expected number value to unmarshal NumericDate',
    );
  if (!(thrown instanceof JOSEError)) throw thrown;
}
