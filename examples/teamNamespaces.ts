import { authorizer, ConfigError, definePlugin, type Plugin } from 'capstan/api';

/** The label of a namespace that names its team, and the prefix of groups. */
interface Config {
  readonly label: string;
  readonly groupPrefix: string;
}

function parse(config: unknown): Config {
  const { label = 'team', groupPrefix = 'team:' } = (config ?? {}) as Partial<Config>;
  if (typeof label !== 'string' || label === '') throw new ConfigError('label', 'expected a label key');
  return { label, groupPrefix };
}

/**
 * Authorizer: members of the group `team:red` may do everything inside namespaces labeled `team: red`, but not to the
 * namespaces themselves. Its decisions depend on namespaces, and are cached until one changes: a changed label is
 * effective for the next request.
 */
export default definePlugin({
  name: 'team-namespaces',
  parse,
  contribute: ({ label, groupPrefix }) => [
    authorizer.of(host => {
      const namespaces = host.informer('namespaces');
      return {
        dependsOn: ['core/namespaces'],
        authorize(user, target) {
          if (target.is !== 'resource' || target.namespace === '' || target.resource === 'namespaces')
            return { is: 'noOpinion' };
          const team = namespaces.get('', target.namespace)?.metadata.labels?.[label];
          if (team !== undefined && user.groups.includes(groupPrefix + team))
            return { is: 'allow', reason: `namespace of team ${team}` };
          return { is: 'noOpinion' };
        },
      };
    }),
  ],
}) satisfies Plugin<Config>;
