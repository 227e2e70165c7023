import { Refusal, type Received } from '../../core/api/index.js';

const SPACED = 'the provided Authorization header contains extra space before the bearer token, and is ignored';

/**
 * White space around the header, as HTTP has it (RFC 9110, 5.5). Other bytes, whatever they are, belong to the value: a
 * token with them is a token, and an unknown one.
 */
const AROUND = /^[ \t]+|[ \t]+$/g;

/**
 * The bearer token of a request (spec, "Authentication: general rules"). Undefined if there is no header, if it has
 * another scheme, or if nothing follows the single space after the scheme. Words after the token are ignored; the
 * scheme is case-insensitive. A client that sends a second space gets a warning.
 */
export function bearerToken(request: Received): string | undefined {
  const header = request.header('authorization')?.replace(AROUND, '');
  if (!header) return undefined;
  const [scheme, token] = header.split(' ', 2);
  if (scheme?.toLowerCase() !== 'bearer') return undefined;
  if (token === '') request.warn(SPACED);
  return token || undefined;
}

/** The 401 for a token that no token authenticator knows. */
export const unknownToken = (): Refusal => new Refusal('Unauthorized', 'Unauthorized');
