import type { TokenReview, TokenReviewStatus } from '../../../kinds/authentication/v1.js';
import { builtInKind } from '../../../core/api/resource.js';
import type { ReviewContext } from '../../../core/api/strategy.js';
import { badRequest } from '../../../core/model/refusal.js';
import type { Naming } from '../../../core/naming.js';
import { tokenIssuer } from '../../../core/api/tokens.js';
import { userInfo } from './selfSubjectReview.js';

/** The default audience of tokens (spec, "TokenReview"): the server itself. */
const ownAudience = ({ product }: Naming): string => `https://${product}.default.svc`;

/**
 * The user of a token, if it is for one of the audiences that the review names, or for the server if it names none.
 * Tokens of authenticators that do not report audiences are for the server.
 */
async function statusOf(
  review: TokenReview,
  { authenticate }: ReviewContext,
  own: readonly string[],
): Promise<TokenReviewStatus> {
  const given = review.spec.audiences ?? [];
  const asked = given.length > 0 ? given : own;
  const { user, audiences = own, reasons = [] } = await authenticate(review.spec.token ?? '', asked);
  const matching = audiences.filter(audience => asked.includes(audience));
  return user && matching.length > 0
    ? { authenticated: true, user: userInfo(user), audiences: matching }
    : { user: {}, error: errorText([INVALID, ...reasons]) };
}

const INVALID = 'invalid bearer token';

/** Errors in the format that upstream gives a list of several. */
const errorText = (errors: readonly string[]): string => (errors.length > 1 ? `[${errors.join(', ')}]` : INVALID);

/** TokenReview: says whose a bearer token is. */
export const tokenReview = builtInKind<TokenReview>('authentication.orchestrator.io/tokenreviews', (naming, host) => ({
  confidential: [''],
  validateCreate(review) {
    if ((review.spec.token ?? '') === '') throw badRequest('token is required for TokenReview in authentication');
    return [];
  },
  review: async (review, context) => {
    const own = host.at(tokenIssuer)?.audiences ?? [ownAudience(naming)];
    return { ...review, status: await statusOf(review, context, own) };
  },
}));
