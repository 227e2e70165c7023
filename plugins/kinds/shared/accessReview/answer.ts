import type { TextMember } from '../values/members.js';
import type {
  SubjectAccessReviewSpec,
  SubjectAccessReviewStatus,
  LocalSubjectAccessReview,
  SelfSubjectAccessReview,
  SubjectAccessReview,
  ResourceAttributes,
} from '../../../../kinds/authorization/v1.js';
import type { ReviewContext } from '../../../../core/api/strategy.js';
import { Refusal } from '../../../../core/model/refusal.js';
import type { ResourceTarget, Target } from '../../../../core/model/target.js';
import type { User } from '../../../../core/model/user.js';
import { readFieldSelector, readLabelSelector } from './selectors.js';

/** The user that a review names. */
export const userOf = ({ spec }: { readonly spec: SubjectAccessReviewSpec }): User => ({
  name: spec.user ?? '',
  uid: spec.uid ?? '',
  groups: spec.groups ?? [],
  extra: new Map(Object.entries(spec.extra ?? {})),
});

/** An access review, or another object with the same spec. */
export type AccessReview =
  | LocalSubjectAccessReview
  | SelfSubjectAccessReview
  | SubjectAccessReview
  | Pick<SubjectAccessReview, 'spec'>;

/** The request that a review is about, and the parts of its selectors that could not be parsed. */
export function requestOf(review: AccessReview): {
  readonly target: Target;
  readonly errors: readonly string[];
} {
  const attributes = review.spec.resourceAttributes;
  if (attributes) return resourceRequest(attributes);
  const [path, verb] = (['path', 'verb'] as const).map(member => review.spec.nonResourceAttributes?.[member] ?? '');
  return { target: { is: 'path', path: path!, verb: verb! }, errors: [] };
}

function resourceRequest(attributes: ResourceAttributes): ReturnType<typeof requestOf> {
  const text = (member: TextMember<ResourceAttributes>): string => attributes[member] ?? '';
  const fields = readFieldSelector(attributes.fieldSelector);
  const labels = readLabelSelector(attributes.labelSelector);
  const target: ResourceTarget = {
    is: 'resource',
    // A review may name any verb.
    verb: text('verb') as ResourceTarget['verb'],
    group: text('group'),
    version: text('version'),
    resource: text('resource'),
    subresource: text('subresource'),
    namespace: text('namespace'),
    name: text('name'),
    path: '',
    ...(fields.selector && { fieldSelector: fields.selector }),
    ...(labels.selector && { labelSelector: labels.selector }),
  };
  const error = (member: string, unread: string): string[] =>
    unread === '' ? [] : [`spec.resourceAttributes.${member} ${unread} due to parse error`];
  return { target, errors: [...error('fieldSelector', fields.unread), ...error('labelSelector', labels.unread)] };
}

/** The review with the decision of the authorizers about `user` in its status. */
export async function reviewAccess<
  Review extends LocalSubjectAccessReview | SelfSubjectAccessReview | SubjectAccessReview,
>(review: Review, user: User, { authorize }: ReviewContext): Promise<Review> {
  const { target, errors } = requestOf(review);
  const status = (about: SubjectAccessReviewStatus, ...failed: string[]): Review => {
    const evaluationError = [...failed, ...errors].join('; ');
    return { ...review, status: { ...about, ...(evaluationError === '' ? {} : { evaluationError }) } };
  };
  try {
    const { is, reason = '' } = await authorize(user, target);
    return status({
      allowed: is === 'allow',
      ...(is === 'deny' ? { denied: true } : {}),
      ...(reason === '' ? {} : { reason }),
    });
  } catch (thrown) {
    if (!(thrown instanceof Refusal)) throw thrown;
    return status({ allowed: false }, thrown.message);
  }
}
