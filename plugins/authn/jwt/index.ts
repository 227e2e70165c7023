import { authenticator, definePlugin, type Plugin, service } from '../../../core/api/index.js';
import { jwtTokens } from './authenticator.js';
import { type JwtConfig, parseConfig } from './config.js';
import { JwtService } from './background.js';

/**
 * Authentication by tokens of identity providers: OpenID Connect by flags (spec, "OpenID Connect flags"), and those of
 * an authentication file (spec, "Authentication configuration file").
 */
export default definePlugin({
  name: 'jwt',
  parse: parseConfig,
  contribute: config => [service.of(host => new JwtService(config, host)), authenticator.of(host => jwtTokens(host))],
}) satisfies Plugin<JwtConfig>;
