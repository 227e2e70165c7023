import type { ReviewContext } from '../../../../core/api/strategy.js';
import type { ApiObject } from '../../../../core/model/object.js';
import { entriesAt, recordAt, stringAt, stringsAt, type UnknownRecord } from '../../../../core/model/record.js';
import { Refusal } from '../../../../core/model/refusal.js';
import type { ResourceTarget, Target } from '../../../../core/model/target.js';
import type { User } from '../../../../core/model/user.js';
import { readFieldSelector, readLabelSelector } from './selectors.js';

/** The user that a review names. */
export const userOf = ({ spec }: ApiObject): User => ({
  name: stringAt(spec, 'user'),
  uid: stringAt(spec, 'uid'),
  groups: stringsAt(spec, 'groups'),
  extra: new Map(entriesAt(spec, 'extra').map(([key]) => [key, stringsAt(spec, 'extra', key)])),
});

/** The request that a review is about, and what of its selectors could not be read. */
function requestOf(review: ApiObject): { readonly target: Target; readonly errors: readonly string[] } {
  const attributes = recordAt(review, 'spec', 'resourceAttributes');
  if (attributes) return resourceRequest(attributes);
  const [path, verb] = ['path', 'verb'].map(member => stringAt(review, 'spec', 'nonResourceAttributes', member));
  return { target: { is: 'path', path: path!, verb: verb! }, errors: [] };
}

function resourceRequest(attributes: UnknownRecord): ReturnType<typeof requestOf> {
  const text = (member: string): string => stringAt(attributes, member);
  const fields = readFieldSelector(recordAt(attributes, 'fieldSelector'));
  const labels = readLabelSelector(recordAt(attributes, 'labelSelector'));
  const target: ResourceTarget = {
    is: 'resource',
    // A review may ask about any word.
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

/** The review with what the authorizers say about `user` in its status. */
export async function reviewAccess(review: ApiObject, user: User, { authorize }: ReviewContext): Promise<ApiObject> {
  const { target, errors } = requestOf(review);
  const status = (about: object, ...failed: string[]): ApiObject => {
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
