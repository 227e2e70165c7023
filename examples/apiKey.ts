import { timingSafeEqual, createHash } from 'node:crypto';
import { authenticator, ConfigError, definePlugin, type Plugin, Refusal, type User } from 'capstan/api';

/** Keys and their users. */
interface Config {
  readonly header: string;
  readonly keys: readonly { readonly key: string; readonly user: string; readonly groups: readonly string[] }[];
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

function parse(config: unknown): Config {
  const { header = 'x-api-key', keys } = (config ?? {}) as Partial<Config>;
  if (!Array.isArray(keys) || keys.length === 0)
    throw new ConfigError('keys', 'expected a list of { key, user, groups }');
  for (const [i, one] of keys.entries()) {
    if (typeof one?.key !== 'string' || one.key.length < 8)
      throw new ConfigError(`keys[${i}].key`, 'expected at least 8 characters');
    if (typeof one.user !== 'string') throw new ConfigError(`keys[${i}].user`, 'expected a user name');
  }
  return { header: header.toLowerCase(), keys };
}

/** Authenticator: a key in a header identifies the user. */
export default definePlugin({
  name: 'api-key',
  parse,
  contribute: ({ header, keys }) => [
    authenticator.of(() => {
      const known = keys.map(one => ({
        digest: digest(one.key),
        user: { name: one.user, uid: '', groups: one.groups ?? [], extra: new Map() } satisfies User,
      }));
      return {
        cacheFor: 'forever',
        authenticate(request) {
          const sent = request.header(header);
          if (sent === undefined) return null;
          const sentDigest = digest(sent);
          const found = known.find(one => timingSafeEqual(one.digest, sentDigest));
          if (!found) throw new Refusal('Unauthorized', 'Unauthorized');
          return found.user;
        },
      };
    }),
  ],
}) satisfies Plugin<Config>;
