import { builtInKind } from '../../../core/api/resource.js';
import { stringAt } from '../../../core/model/record.js';
import { badRequest } from '../../../core/model/refusal.js';

/** SelfSubjectRulesReview: lists what the sender may do in a namespace. Of the body, nothing is kept. */
export const selfSubjectRulesReview = builtInKind('authorization.orchestrator.io/selfsubjectrulesreviews', () => ({
  validateCreate(review) {
    if (stringAt(review, 'spec', 'namespace') === '') throw badRequest('no namespace on request');
    return [];
  },
  async review(review, { user, rulesFor }) {
    const { resourceRules, pathRules, incomplete, error } = await rulesFor(user, stringAt(review, 'spec', 'namespace'));
    return {
      apiVersion: review.apiVersion,
      kind: review.kind,
      metadata: {},
      spec: {},
      status: {
        resourceRules,
        nonResourceRules: pathRules,
        incomplete,
        ...(error === undefined ? {} : { evaluationError: error }),
      },
    };
  },
}));
