import { type Authorizer, authorizer, definePlugin, type Plugin } from '../../core/api/index.js';
import { MASTERS_GROUP } from '../../core/model/wellKnown/senders.js';

const allowed = { is: 'allow' } as const;
const noOpinion = { is: 'noOpinion' } as const;

/** Allows members of `system:masters` everything. */
export const masters: Authorizer = {
  dependsOn: [],
  authorize: user => (user.groups.includes(MASTERS_GROUP) ? allowed : noOpinion),
  // The group's binding to the role cluster-admin lists the permissions of its members.
  rulesFor: () => ({ resourceRules: [], pathRules: [] }),
};

/** Asked before every mode, so that no policy can lock the administrators out. */
export default definePlugin({
  name: 'system-masters',
  parse: () => null,
  contribute: () => [authorizer.of(() => masters)],
}) satisfies Plugin<null>;
