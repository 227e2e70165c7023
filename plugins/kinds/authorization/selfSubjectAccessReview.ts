import type { SelfSubjectAccessReview } from '../../../kinds/authorization/v1.js';
import { builtInKind } from '../../../core/api/resource.js';
import { reviewAccess } from '../shared/accessReview/answer.js';
import { checkReview, metadataViolations } from '../shared/accessReview/validation.js';

/** SelfSubjectAccessReview: says whether the sender of the review may make a request. */
export const selfSubjectAccessReview = builtInKind<SelfSubjectAccessReview>(
  'authorization.orchestrator.io/selfsubjectaccessreviews',
  naming => ({
    validateCreate: review => checkReview(review, naming, [], metadataViolations(review, [], 'must be empty')),
    review: (review, context) => reviewAccess(review, context.user, context),
  }),
);
