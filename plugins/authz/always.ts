import { type Authorizer, authorizer, definePlugin, type Plugin } from '../../core/api/index.js';

/** Allows everything (spec, "Authorization: modes and configuration": AlwaysAllow, testing only). */
export const allowAll: Authorizer = {
  dependsOn: [],
  authorize: () => ({ is: 'allow' }),
  rulesFor: () => ({
    resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }],
    pathRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
  }),
};
/** Allows nothing. It has no opinion instead of denying: upstream lets a later mode allow. */
export const denyAll: Authorizer = {
  dependsOn: [],
  authorize: () => ({ is: 'noOpinion', reason: 'Everything is forbidden.' }),
  rulesFor: () => ({ resourceRules: [], pathRules: [] }),
};

/** Mode AlwaysAllow. */
export const alwaysAllow = definePlugin({
  name: 'always-allow',
  parse: () => null,
  contribute: () => [authorizer.of(() => allowAll)],
}) satisfies Plugin<null>;

/** Mode AlwaysDeny. */
export const alwaysDeny = definePlugin({
  name: 'always-deny',
  parse: () => null,
  contribute: () => [authorizer.of(() => denyAll)],
}) satisfies Plugin<null>;
