import { authorizer, ConfigError, definePlugin, type Plugin, service } from '../../../core/api/index.js';
import { abacAuthorizer } from './authorizer.js';
import { abacService } from './background.js';

/** The settings of the plugin, which the server generates. */
export interface AbacConfig {
  /** The policy file. */
  readonly file: string;
}

function parseConfig(config: unknown): AbacConfig {
  const given = (config ?? {}) as AbacConfig;
  if (!given.file) throw new ConfigError('file', 'must be the path of a policy file');
  return given;
}

/** Mode ABAC: decides by a file with one policy on each line (`--authorization-policy-file`). */
export default definePlugin({
  name: 'abac',
  parse: parseConfig,
  contribute: ({ file }) => [service.of(host => abacService(file, host)), authorizer.of(abacAuthorizer)],
}) satisfies Plugin<AbacConfig>;
