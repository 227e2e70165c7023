import { type Authenticator, authenticator, type Host, type Received } from '../../core/api/index.js';
import { OWN_PAGE_HEADER } from '../../core/model/wellKnown/ownPage.js';
import { unauthorized } from '../../core/model/wellKnown/senders.js';
import { cookiesOf, SESSION_COOKIE } from './sessions.js';

/** The service that keeps the sessions. */
export const SESSION_SERVICE = 'console-sessions';
/** Largest number of sessions that one request may name: those of several servers on ports of one host. */
const MOST_NAMED = 20;

/** The request with a bearer token as its only credentials. */
const withToken = (request: Received, token: string): Received => {
  const headers = [['authorization', `Bearer ${token}`] as const];
  return {
    header: name => (name === 'authorization' ? headers[0]![1] : undefined),
    headers: () => headers,
    remoteAddress: request.remoteAddress,
    path: request.path,
    warn: text => request.warn(text),
  };
};

/**
 * Authenticates requests of the console by the session in a cookie, as the user of the token that it stands for: by the
 * same authenticators as if the request had that token. A cookie counts only together with the header that pages of
 * other origins cannot set.
 */
export function sessionAuthenticator(host: Pick<Host<'pool'>, 'service' | 'at'>): Authenticator {
  const sessions = host.service(SESSION_SERVICE);
  return {
    cacheFor: 'forever',
    async authenticate(request) {
      if (request.header(OWN_PAGE_HEADER) === undefined) return null;
      const secrets = cookiesOf(request.header('cookie'), SESSION_COOKIE).map(([, value]) => value);
      if (secrets.length === 0) return null;
      const token = await sessions.ask(secrets.slice(0, MOST_NAMED));
      if (typeof token !== 'string') throw unauthorized();
      const { user, objects, use } = await host.at(authenticator).authenticate(withToken(request, token));
      if (!user) throw unauthorized();
      return { user, cacheFor: 'never', objects, ...(use ? { use } : {}) };
    },
  };
}
