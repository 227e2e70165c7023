import type { NonResourceRule, ResourceRule, SelfSubjectRulesReview } from '../../../kinds/authorization/v1.js';
import { builtInKind } from '../../../core/api/resource.js';
import { badRequest } from '../../../core/model/refusal.js';

/** SelfSubjectRulesReview: lists the rules of the sender in a namespace. The body is not part of the answer. */
export const selfSubjectRulesReview = builtInKind<SelfSubjectRulesReview>(
  'authorization.orchestrator.io/selfsubjectrulesreviews',
  () => ({
    validateCreate(review) {
      if ((review.spec.namespace ?? '') === '') throw badRequest('no namespace on request');
      return [];
    },
    async review(review, { user, rulesFor }) {
      const { resourceRules, pathRules, incomplete, error } = await rulesFor(user, review.spec.namespace ?? '');
      return {
        apiVersion: review.apiVersion,
        kind: review.kind,
        metadata: {},
        spec: {},
        status: {
          resourceRules: resourceRules.map(rule => structuredClone(rule) as ResourceRule),
          nonResourceRules: pathRules.map(rule => structuredClone(rule) as NonResourceRule),
          incomplete,
          ...(error === undefined ? {} : { evaluationError: error }),
        },
      };
    },
  }),
);
