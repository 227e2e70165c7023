import type { JWTPayload } from 'jose';
import type { Authenticator, Host, Identified } from '../../../core/api/index.js';
import { bearerToken, unknownToken } from '../bearer.js';
import { type AccountClaims, accountUser, readClaims, userNameOf } from './claims.js';
import type { ServiceAccountConfig } from './config.js';
import { jose } from './jose.js';
import { legacyIssuer, readLegacyToken } from './legacy.js';
import type { TokenCounter } from './metrics.js';
import { endOfAll, LEEWAY, TokenObjects } from './objects.js';
import { tokenKeys } from './tokenKeys.js';
import { verifyToken } from './verify.js';

/** The issuer in a token, which is not verified; undefined if the token is not a JWT. */
async function issuerIn(token: string): Promise<string | undefined> {
  try {
    return (await jose()).decodeJwt(token).iss;
  } catch {
    return undefined;
  }
}

const quoted = (texts: readonly string[]): string => `[${texts.map(text => JSON.stringify(text)).join(' ')}]`;

const audiencesIn = ({ aud = [] }: JWTPayload): readonly string[] => (Array.isArray(aud) ? aud : [aud]);

/** When a token expires, in milliseconds since the epoch. `exp`: its claim, in seconds. */
const endOf = (exp: number): number => (exp + LEEWAY) * 1000;

/** How often the use of a token that should have been replaced is recorded: upstream caches its tokens this long. */
const STALE_MS = 10_000;

/**
 * How long a token may be cached, and the record about it: whether it should have been replaced, because its
 * client can use it only as long as the server extends such tokens. `endsAt` is in milliseconds since the epoch.
 */
function useOf(
  { namespace, account, warnAfter }: AccountClaims,
  endsAt: number,
  { now, naming, log }: Pick<Host, 'now' | 'naming' | 'log'>,
): Pick<Identified, 'cacheFor' | 'use'> {
  const left = endsAt - now();
  const warnsIn = warnAfter === undefined ? Number.POSITIVE_INFINITY : warnAfter * 1000 - now();
  if (warnsIn >= 0) {
    const cached = Math.min(left, warnsIn + 1);
    return {
      cacheFor: Number.isFinite(cached) ? cached : 'forever',
      use: { counters: ['serviceaccount_valid_tokens_total' satisfies TokenCounter] },
    };
  }
  const subject = userNameOf(namespace, account.name);
  const late = Math.floor(-warnsIn / 1000);
  log.warn({ subject, seconds: late }, 'a service account uses a token that should have been replaced');
  const annotation = `subject: ${subject}, seconds after warning threshold: ${late}`;
  return {
    cacheFor: Math.min(left, STALE_MS),
    use: {
      counters: ['serviceaccount_stale_tokens_total' satisfies TokenCounter],
      annotations: { [`${naming.group('authentication.orchestrator.io')}/stale-token`]: annotation },
    },
  };
}

/**
 * Authenticates the tokens of service accounts. Bound tokens are valid while their
 * account, and the pod, secret or node that they are bound to, exist under the uid that they name.
 */
export function serviceAccountTokens(
  config: ServiceAccountConfig,
  host: Pick<Host<'pool'>, 'informer' | 'now' | 'naming' | 'log'>,
): Authenticator {
  const { naming, now } = host;
  const keys = tokenKeys(config);
  const objects = new TokenObjects(host);

  function authenticateBound(payload: JWTPayload, asked: readonly string[]): Identified {
    const claims = readClaims(payload, naming);
    // Upstream accepts a token without audiences as one for the server.
    const own = payload.aud === undefined ? config.audiences : audiencesIn(payload);
    const audiences = asked.filter(audience => own.includes(audience));
    if (audiences.length === 0)
      throw unknownToken(`token audiences ${quoted(own)} is invalid for the target audiences ${quoted(asked)}`);
    if (!claims) throw unknownToken('resource name may not be empty');
    const { exp, jti } = payload;
    const { namespace, account, pod, secret, node } = claims;
    const found = [objects.live('core/serviceaccounts', namespace, account)];
    if (secret) found.push(objects.live('core/secrets', namespace, secret));
    if (pod) found.push(objects.live('core/pods', namespace, pod));
    // The node of a pod is reported and not checked, because the token ends with the pod.
    else if (node) found.push(objects.live('core/nodes', '', node));
    return {
      user: accountUser(claims, typeof jti === 'string' ? jti : '', naming),
      objects: found,
      audiences,
      // An object that is being deleted may stay as it is for any time, but the token ends soon.
      ...useOf(claims, Math.min(endOfAll(found), exp === undefined ? Number.POSITIVE_INFINITY : endOf(exp)), host),
    };
  }

  return {
    cacheFor: 'forever',
    async authenticate(request) {
      const token = bearerToken(request);
      if (token === undefined) return null;
      const issuer = await issuerIn(token);
      const isLegacy = issuer === legacyIssuer(naming);
      if (issuer === undefined || !(isLegacy || config.issuers.includes(issuer))) throw unknownToken();
      const { verifying } = await keys();
      const payload = await verifyToken(token, verifying, now());
      return isLegacy
        ? readLegacyToken(token, payload, objects, config, host, request)
        : authenticateBound(payload, request.audiences ?? config.audiences);
    },
  };
}
