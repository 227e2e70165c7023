import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import {
  authenticator,
  ConfigError,
  definePlugin,
  httpSite,
  type Plugin,
  type Service,
  service,
} from '../../core/api/index.js';
import { systemTime } from '../../core/runtime/clock.js';
import type { SignInIssuer } from './openId.js';
import { Assets } from './assets.js';
import { SESSION_SERVICE, sessionAuthenticator } from './authenticator.js';
import { Sessions } from './sessions.js';
import { SignInLink } from './signInLink.js';
import { consoleSite } from './site.js';

/** The settings of the console, which the server makes. */
export interface ConsoleConfig {
  /** The file whose first token is the administrator's. */
  readonly adminTokens: string;
  /** The digest of the secret of the one-time link; absent if there is none. */
  readonly linkDigest?: string;
  /** The identity provider where people sign in; absent if there is none. */
  readonly issuer?: SignInIssuer;
}

/** The service that returns the tokens of sessions to the pool. */
const sessionService = (sessions: Sessions): Service => ({
  name: SESSION_SERVICE,
  start: () => undefined,
  ask(secrets) {
    for (const secret of secrets as readonly string[]) {
      const token = sessions.tokenOf(secret);
      if (token !== undefined) return token;
    }
    return null;
  },
});

/** The console: its pages, and the sessions that they sign in to. */
export default definePlugin({
  name: 'console',
  parse(config) {
    const { adminTokens } = (config ?? {}) as Partial<ConsoleConfig>;
    if (typeof adminTokens !== 'string') throw new ConfigError('adminTokens', 'expected the path of a token file');
    return config as ConsoleConfig;
  },
  contribute({ adminTokens, linkDigest, issuer }) {
    const sessions = new Sessions(systemTime);
    return [
      httpSite.of(async host =>
        consoleSite({
          assets: new Assets(fileURLToPath(new URL('./app/', import.meta.url))),
          sessions,
          link: new SignInLink(linkDigest, host.now),
          adminToken: () => readFileSync(adminTokens, 'utf8').split(',', 1)[0]!,
          // Loaded only for servers with a provider.
          openId: issuer && new (await import('./openId.js')).OpenId(issuer, host.now),
          host,
        }),
      ),
      service.of(() => sessionService(sessions)),
      authenticator.of(sessionAuthenticator),
    ];
  },
}) satisfies Plugin<ConsoleConfig>;
