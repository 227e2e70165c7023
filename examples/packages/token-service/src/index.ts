import { authenticator, ConfigError, definePlugin, type Plugin, Refusal, type User } from 'capstan/api';

/** Settings: the endpoint of the service, and the time for which an answer is cached. */
interface Config {
  readonly url: string;
  readonly cacheMs: number;
}

/** The answer of the service (RFC 7662, 2.2), as far as it is used. */
interface Introspection {
  readonly active: boolean;
  readonly username?: string;
  readonly groups?: readonly string[];
}

function parse(config: unknown): Config {
  const { url, cacheMs = 10_000 } = (config ?? {}) as Partial<Config>;
  if (typeof url !== 'string' || !URL.canParse(url)) throw new ConfigError('url', 'must be the URL of the service');
  if (!Number.isInteger(cacheMs) || cacheMs < 0) throw new ConfigError('cacheMs', 'must be a number of milliseconds');
  return { url, cacheMs };
}

/** The token of an Authorization header; undefined for other credentials. */
const bearerToken = (header: string | undefined): string | undefined => /^Bearer +(\S+)$/i.exec(header ?? '')?.[1];

const areTexts = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every(one => typeof one === 'string');

/** Sends a token to the service. Throws Refusal for an inactive token, and an Error if the service fails. */
async function introspect(url: string, token: string): Promise<User> {
  const answer = await fetch(url, { method: 'POST', body: new URLSearchParams({ token }) });
  if (!answer.ok) throw new Error(`the token service answered ${answer.status}`);
  const { active, username, groups = [] } = (await answer.json()) as Introspection;
  if (active !== true) throw new Refusal('Unauthorized', 'Unauthorized');
  if (typeof username !== 'string' || username === '' || !areTexts(groups))
    throw new Error('the token service answered without username or groups');
  return { name: username, uid: '', groups, extra: new Map() };
}

/** Authenticates bearer tokens by means of a service. */
export default definePlugin({
  name: 'token-service',
  parse,
  contribute: ({ url, cacheMs }) => [
    authenticator.of(() => ({
      cacheFor: cacheMs === 0 ? 'never' : cacheMs,
      authenticate(request) {
        const token = bearerToken(request.header('authorization'));
        return token === undefined ? null : introspect(url, token);
      },
    })),
  ],
}) satisfies Plugin<Config>;
