import { type Authenticator, authenticator, ConfigError, definePlugin, type Plugin } from '../../core/api/index.js';
import { bearerToken, unknownToken } from './bearer.js';
import { digest, readTokenFile, type TokenTable } from './tokenFile.js';

/** The token file; it is read once, at start. */
export interface StaticTokenConfig {
  readonly file: string;
}

/** Authenticates the bearer tokens of a table, and refuses others. */
export function staticTokens(table: TokenTable): Authenticator {
  return {
    cacheFor: 'forever',
    authenticate(request) {
      const token = bearerToken(request);
      if (token === undefined) return null;
      const user = table.get(digest(token));
      if (!user) throw unknownToken();
      return user;
    },
  };
}

function parse(config: unknown): StaticTokenConfig {
  const file = (config as Partial<StaticTokenConfig> | null | undefined)?.file;
  if (typeof file !== 'string' || file === '') throw new ConfigError('file', 'expected the path of a token file');
  return { file };
}

/** `--token-auth-file`: bearer tokens from a CSV file. */
export default definePlugin({
  name: 'static-token',
  parse,
  contribute: config => [authenticator.of(() => staticTokens(readTokenFile(config.file)))],
}) satisfies Plugin<StaticTokenConfig>;
