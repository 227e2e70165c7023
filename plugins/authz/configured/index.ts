import {
  type Authorizer,
  authorizer,
  ConfigError,
  definePlugin,
  type Host,
  type Plugin,
  service,
} from '../../../core/api/index.js';
import { ACCESS_REVIEW_MS, REVIEW_ANSWERS } from '../../../core/limits.js';
import { SharedAnswers } from '../../../core/services/webhooks/sharedAnswers.js';
import { abacAuthorizer } from '../abac/authorizer.js';
import { abacService } from '../abac/background.js';
import { allowAll, denyAll } from '../always.js';
import { makeNodeAuthorizer } from '../node/plugin.js';
import { makeRbacAuthorizer } from '../rbac/plugin.js';
import { ACCESS_WEBHOOK_SERVICE } from '../webhook/authorizer.js';
import { chainService } from './background.js';
import { chainAuthorizer } from './chain.js';
import type { AuthorizerType } from './file.js';

/** The settings of the plugin, which the server generates. */
export interface ChainConfig {
  /** The authorization file. */
  readonly file: string;
  /** The types of its authorizers. All but Webhook stay until the server ends. */
  readonly types: readonly AuthorizerType[];
  /** The policies of the type ABAC. */
  readonly policyFile?: string;
}

function parseConfig(config: unknown): ChainConfig {
  const given = (config ?? {}) as ChainConfig;
  if (!given.file) throw new ConfigError('file', 'must be the path of an authorization file');
  return given;
}

const FIXED: Readonly<Record<Exclude<AuthorizerType, 'Webhook'>, (host: Host<'pool'>) => Authorizer>> = {
  ABAC: abacAuthorizer,
  AlwaysAllow: () => allowAll,
  AlwaysDeny: () => denyAll,
  Node: makeNodeAuthorizer,
  RBAC: makeRbacAuthorizer,
};

/** `--authorization-config`: decides by the authorizers of a file, in their order. */
export default definePlugin({
  name: 'authorization-file',
  parse: parseConfig,
  contribute: ({ file, types, policyFile }) => [
    service.of(host => chainService(file, host)),
    service.of(host => new SharedAnswers(ACCESS_WEBHOOK_SERVICE, host.now, REVIEW_ANSWERS, ACCESS_REVIEW_MS)),
    ...(policyFile === undefined ? [] : [service.of(host => abacService(policyFile, host))]),
    authorizer.of(host => {
      const fixed = types.flatMap(type => (type === 'Webhook' ? [] : [[type, FIXED[type](host)] as const]));
      return chainAuthorizer(new Map(fixed), host);
    }),
  ],
}) satisfies Plugin<ChainConfig>;
