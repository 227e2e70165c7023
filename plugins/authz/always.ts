import { type Authorizer, authorizer, ConfigError, definePlugin, type Plugin } from '../../core/api/index.js';
import { alwaysAllowedPaths } from '../../core/model/alwaysAllowedPaths.js';

/** Allows everything (spec, "Authorization: modes and configuration": AlwaysAllow, testing only). */
export const allowAll: Authorizer = {
  dependsOn: 'policy',
  authorize: () => ({ is: 'allow' }),
  rulesFor: () => ({
    resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }],
    pathRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
  }),
};
/** Allows nothing. It has no opinion, so that a later mode can allow, as upstream. */
export const denyAll: Authorizer = {
  dependsOn: 'policy',
  authorize: () => ({ is: 'noOpinion', reason: 'Everything is forbidden.' }),
  rulesFor: () => ({ resourceRules: [], pathRules: [] }),
};

/** Allows requests for these paths outside of the resources; a `*` at the end of one stands for any rest. */
function allowPaths(paths: readonly string[]): Authorizer {
  const isAllowed = alwaysAllowedPaths(paths);
  return {
    dependsOn: 'policy',
    authorize: (_user, target) => ({ is: isAllowed(target) ? 'allow' : 'noOpinion' }),
    // As upstream's, the authorizer lists no rules, because its paths have nothing to do with the user.
    rulesFor: () => ({ resourceRules: [], pathRules: [] }),
  };
}

/** Allows the paths of its configuration, a list, to every sender. */
export const alwaysAllowPaths = definePlugin({
  name: 'always-allow-paths',
  parse(config: unknown) {
    if (Array.isArray(config) && config.every(path => typeof path === 'string')) return config as string[];
    throw new ConfigError('config', 'must be a list of paths');
  },
  contribute: paths => [authorizer.of(() => allowPaths(paths))],
}) satisfies Plugin<string[]>;

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
