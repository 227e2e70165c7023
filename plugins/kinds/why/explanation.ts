import { builtInKind } from '../../../core/api/resource.js';
import type { Explanation } from '../../../kinds/why/v1.js';
import { requestOf, userOf } from '../shared/accessReview/answer.js';
import { checkReview, metadataViolations } from '../shared/accessReview/validation.js';
import { explainedOpinions } from '../shared/accessReview/opinions.js';

/**
 * Explanation: says whether a user may do something, and why. Without a user it is about its sender. It shows rules and
 * bindings, so its permission is for administrators.
 */
export const explanation = builtInKind<Explanation>('why.orchestrator.io/explanations', naming => ({
  validateCreate: review =>
    checkReview(review, naming, [], metadataViolations(review, [], 'must be empty'), 'why.orchestrator.io'),
  async review(review, context) {
    const { spec } = review;
    const isOfSender = !spec.user && !spec.groups?.length;
    const { target } = requestOf(review);
    const user = isOfSender ? context.user : userOf(review);
    return { ...review, status: explainedOpinions(await context.explain(user, target), context.now) };
  },
}));
