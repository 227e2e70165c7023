import type { LocalSubjectAccessReview } from '../../../kinds/authorization/v1.js';
import { builtInKind } from '../../../core/api/resource.js';
import { invalid, type Violation } from '../../../core/model/refusal.js';
import { reviewAccess, userOf } from '../shared/accessReview/answer.js';
import { checkReview, metadataViolations, pathText, subjectViolations } from '../shared/accessReview/validation.js';

/** A review in a namespace is about requests in that namespace. */
function scopeViolations(review: LocalSubjectAccessReview): Violation[] {
  const found: Violation[] = [];
  const resource = review.spec.resourceAttributes;
  const path = review.spec.nonResourceAttributes;
  const namespace = resource?.namespace ?? '';
  if (resource && namespace !== review.metadata.namespace)
    found.push(invalid('spec.resourceAttributes.namespace', namespace, 'must match metadata.namespace'));
  if (path) found.push(invalid('spec.nonResourceAttributes', pathText(path), 'disallowed on this kind of request'));
  return found;
}

/** LocalSubjectAccessReview: says whether any user may make a request in the namespace of the review. */
export const localSubjectAccessReview = builtInKind<LocalSubjectAccessReview>(
  'authorization.orchestrator.io/localsubjectaccessreviews',
  naming => ({
    validateCreate: review =>
      checkReview(review, naming, subjectViolations(review), [
        ...metadataViolations(review, ['namespace'], 'must be empty except for namespace'),
        ...scopeViolations(review),
      ]),
    review: (review, context) => reviewAccess(review, userOf(review), context),
  }),
);
