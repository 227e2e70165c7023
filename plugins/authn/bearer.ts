import { Refusal, type Received } from '../../core/api/index.js';
import { withoutBlanks } from '../../core/model/text/trailing.js';
import { unauthorized } from '../../core/model/wellKnown/senders.js';

const SPACED = 'the provided Authorization header contains extra space before the bearer token, and is ignored';

/**
 * The bearer token of a request (spec, "Authentication: general rules"). Undefined if there is no header, if it has
 * another scheme, or if nothing follows the single space after the scheme. Words after the token are ignored; the
 * scheme is case-insensitive. A client that sends a second space gets a warning. All bytes except the blanks around the
 * value belong to the token: one with invalid bytes is an unknown token.
 */
export function bearerToken(request: Received): string | undefined {
  const header = withoutBlanks(request.header('authorization') ?? '');
  if (header === '') return undefined;
  const [scheme, token] = header.split(' ', 2);
  if (scheme?.toLowerCase() !== 'bearer') return undefined;
  if (token === '') request.warn(SPACED);
  return token || undefined;
}

/** The 401 for a token that is not valid. `why` is shown in reviews of the token only. */
export const unknownToken = (why?: string): Refusal =>
  why === undefined ? unauthorized() : new Refusal('Unauthorized', why);
