import type { SelfSubjectReview, UserInfo } from '../../../kinds/authentication/v1.js';
import { builtInKind } from '../../../core/api/resource.js';
import type { User } from '../../../core/model/user.js';

/** A user as reviews show it. */
export const userInfo = ({ name, uid, groups, extra }: User): UserInfo => ({
  username: name,
  ...(uid === '' ? {} : { uid }),
  ...(groups.length === 0 ? {} : { groups: [...groups] }),
  ...(extra.size === 0 ? {} : { extra: Object.fromEntries([...extra].map(([key, values]) => [key, [...values]])) }),
});

/** SelfSubjectReview: says who sends the request, with all groups. Nothing of the body is kept. */
export const selfSubjectReview = builtInKind<SelfSubjectReview>(
  'authentication.orchestrator.io/selfsubjectreviews',
  () => ({
    review: ({ apiVersion, kind }, { now, user }) => ({
      apiVersion,
      kind,
      metadata: { creationTimestamp: now },
      status: { userInfo: userInfo(user) },
    }),
  }),
);
