import type { SubjectAccessReview } from '../../../kinds/authorization/v1.js';
import { builtInKind } from '../../../core/api/resource.js';
import { reviewAccess, userOf } from '../shared/accessReview/answer.js';
import { checkReview, metadataViolations, subjectViolations } from '../shared/accessReview/validation.js';

/** SubjectAccessReview: says whether any user may make a request. */
export const subjectAccessReview = builtInKind<SubjectAccessReview>(
  'authorization.orchestrator.io/subjectaccessreviews',
  naming => ({
    validateCreate: review =>
      checkReview(review, naming, subjectViolations(review), metadataViolations(review, [], 'must be empty')),
    review: (review, context) => reviewAccess(review, userOf(review), context),
  }),
);
