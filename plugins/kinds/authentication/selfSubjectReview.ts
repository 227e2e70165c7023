import { builtInKind } from '../../../core/api/resource.js';
import type { User } from '../../../core/model/user.js';

/** A user as reviews show it. */
export const userInfo = ({ name, uid, groups, extra }: User): object => ({
  username: name,
  ...(uid === '' ? {} : { uid }),
  ...(groups.length === 0 ? {} : { groups }),
  ...(extra.size === 0 ? {} : { extra: Object.fromEntries(extra) }),
});

/** SelfSubjectReview: says who sends the request, with all groups. Nothing of the body is kept. */
export const selfSubjectReview = builtInKind('authentication.orchestrator.io/selfsubjectreviews', () => ({
  review: ({ apiVersion, kind }, { now, user }) => ({
    apiVersion,
    kind,
    metadata: { creationTimestamp: now },
    status: { userInfo: userInfo(user) },
  }),
}));
