import { builtInKind } from '../../../core/api/resource.js';
import type { ReviewContext } from '../../../core/api/strategy.js';
import type { ApiObject } from '../../../core/model/object.js';
import { stringAt, stringsAt } from '../../../core/model/record.js';
import { badRequest } from '../../../core/model/refusal.js';
import type { Naming } from '../../../core/naming.js';
import { userInfo } from './selfSubjectReview.js';

/** Whom the tokens of this server's authenticators are for (spec, "TokenReview"): the server itself. */
const ownAudience = ({ product }: Naming): string => `https://${product}.default.svc`;

/** Whose a token is, if it is for one of the audiences that the review names, or it names none. */
async function statusOf(review: ApiObject, { authenticate }: ReviewContext, own: string): Promise<object> {
  const audiences = stringsAt(review, 'spec', 'audiences');
  const isForServer = audiences.length === 0 || audiences.includes(own);
  const user = isForServer ? await authenticate(stringAt(review, 'spec', 'token')) : undefined;
  return user
    ? { authenticated: true, user: userInfo(user), audiences: [own] }
    : { user: {}, error: 'invalid bearer token' };
}

/** TokenReview: says whose a bearer token is. */
export const tokenReview = builtInKind('authentication.orchestrator.io/tokenreviews', naming => ({
  validateCreate(review) {
    if (stringAt(review, 'spec', 'token') === '')
      throw badRequest('token is required for TokenReview in authentication');
    return [];
  },
  review: async (review, context) => ({ ...review, status: await statusOf(review, context, ownAudience(naming)) }),
}));
