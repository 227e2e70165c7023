import { createHash } from 'node:crypto';
import type { Authenticator, Host, Identified, User } from '../../../core/api/index.js';
import { REMEMBERED_TOKENS } from '../../../core/limits.js';
import { monotonicTime } from '../../../core/runtime/clock.js';
import { bearerToken, unknownToken } from '../bearer.js';
import { digest } from '../tokenFile.js';
import { environments } from './expressions.js';
import { JWT_SERVICE, type JwtAuthenticator, type JwtState, type RefreshQuestion } from './types.js';
import { needsEnvironments, UserMaker } from './user.js';
import {
  checkClaims,
  type DecodedToken,
  decodeToken,
  UnknownKey,
  type VerificationKey,
  verificationKeysOf,
  verifySignature,
} from './verify.js';

/**
 * How long the front end may use an identity without asking again, in milliseconds: a change of the file, or of the
 * keys, is effective after that. Upstream caches tokens as long.
 */
const CACHED_MS = 10_000;

/** An authenticator that is ready to be used. */
interface Ready {
  readonly of: JwtAuthenticator;
  readonly user: UserMaker;
  readonly keys: readonly VerificationKey[];
  /** When the keys were fetched; undefined if there are none. */
  readonly fetchedAt: number | undefined;
  /** Why there are no keys. */
  readonly error: string | undefined;
  readonly hash: string;
}

/** A token that was verified before. */
interface Remembered {
  readonly user: User;
  readonly until: number;
}

/** A token that was verified now, and by which authenticator. */
interface Verified {
  readonly found: Remembered;
  readonly by: Ready;
}

/** What was made of a state of the service. */
interface Prepared {
  readonly state: JwtState;
  readonly byIssuer: ReadonlyMap<string, Ready>;
  /** Users by the hash of their token. */
  readonly remembered: Map<string, Remembered>;
}

/** Makes the authenticators of a state. Those whose settings are the same are kept: they are compiled already. */
async function prepare(state: JwtState, before: Prepared | undefined): Promise<Prepared> {
  const made = state.authenticators.some(needsEnvironments) ? await environments() : undefined;
  const ready = state.authenticators.map((one): readonly [string, Ready] => {
    const { url } = one.issuer;
    const keys = state.keys.get(url) ?? { error: 'oidc: authenticator not initialized' };
    const known = before?.byIssuer.get(url);
    const isSame = known !== undefined && JSON.stringify(known.of) === JSON.stringify(one);
    return [
      url,
      {
        of: one,
        user: isSame ? known.user : new UserMaker(one, made),
        keys: 'keys' in keys ? verificationKeysOf(keys.keys) : [],
        fetchedAt: 'keys' in keys ? keys.fetchedAt : undefined,
        error: 'keys' in keys ? undefined : keys.error,
        hash: `sha256:${createHash('sha256').update(url).digest('hex')}`,
      },
    ];
  });
  return { state, byIssuer: new Map(ready), remembered: new Map() };
}

const CACHE_REQUESTS = 'authentication_token_cache_request_total';
const FETCHES = 'authentication_token_cache_fetch_total';
const LATENCY = 'apiserver_authentication_jwt_authenticator_latency_seconds';

/** Authenticates the tokens of the issuers of a configuration. */
export function jwtTokens(host: Pick<Host<'pool'>, 'now' | 'service' | 'observe'>): Authenticator {
  const { now } = host;
  const service = host.service(JWT_SERVICE);
  let prepared: Promise<Prepared> | undefined;
  let current: Prepared | undefined;

  /** The authenticators of the current state of the service. */
  async function authenticators(): Promise<Prepared> {
    const state = (await service.state()) as JwtState;
    if (current?.state === state) return current;
    // Requests that come meanwhile wait for the same preparation.
    const before = current;
    const mine = (prepared ??= prepare(state, before).finally(() => {
      prepared = undefined;
    }));
    current = await mine;
    return current.state === state ? current : await authenticators();
  }

  /** Asks for newer keys than those of an authenticator. */
  const refresh = async ({ of: { issuer }, fetchedAt }: Ready): Promise<void> => {
    const question: RefreshQuestion = { issuer: issuer.url, ...(fetchedAt === undefined ? {} : { fetchedAt }) };
    await service.ask(question);
  };

  /** Verifies a token. `mayRefresh`: keys that do not suffice may be fetched again, once. */
  async function verify(token: string, decoded: DecodedToken, ready: Ready, mayRefresh: boolean): Promise<Verified> {
    if (ready.keys.length > 0 || !mayRefresh) {
      if (ready.error !== undefined) throw new Error(ready.error);
      try {
        await verifySignature(token, decoded, ready.keys, ready.of.issuer);
        const until = checkClaims(decoded.claims, ready.of.issuer, now());
        return { found: { user: ready.user.userOf(decoded.claims), until }, by: ready };
      } catch (error) {
        if (!(error instanceof UnknownKey) || !mayRefresh) throw error;
      }
    }
    await refresh(ready);
    const next = (await authenticators()).byIssuer.get(decoded.issuer);
    if (!next) throw unknownToken();
    return await verify(token, decoded, next, false);
  }

  /** Remembers a token that an authenticator has verified, as long as that is used with the same keys. */
  function remember(key: string, found: Remembered, by: Ready): void {
    if (current?.byIssuer.get(by.of.issuer.url) !== by) return;
    const { remembered } = current;
    if (remembered.size >= REMEMBERED_TOKENS) remembered.delete(remembered.keys().next().value as string);
    remembered.set(key, found);
  }

  /** The user of a token, with how long that holds. That of one that was verified before is looked up. */
  async function identify(token: string): Promise<Identified> {
    const { byIssuer, remembered } = await authenticators();
    const key = digest(token);
    let found = remembered.get(key);
    host.observe(CACHE_REQUESTS, { status: found ? 'hit' : 'miss' }, 1);
    if (!found) {
      const decoded = decodeToken(token);
      const ready = decoded && byIssuer.get(decoded.issuer);
      if (!ready) throw unknownToken();
      const verified = await measured(ready, () => verify(token, decoded, ready, true));
      found = verified.found;
      remember(key, found, verified.by);
    }
    const left = found.until - now();
    if (left < 0) throw unknownToken('oidc: verify token: oidc: token is expired');
    return { user: found.user, cacheFor: Math.min(left, CACHED_MS) };
  }

  /** Observes how long the verification of a token takes. Throws 401 for one that is refused, with the reason. */
  async function measured(ready: Ready, run: () => Promise<Verified>): Promise<Verified> {
    const began = monotonicTime();
    const observe = (result: 'success' | 'failure'): void =>
      host.observe(LATENCY, { jwt_issuer_hash: ready.hash, result }, (monotonicTime() - began) / 1000);
    try {
      const found = await run();
      observe('success');
      host.observe(FETCHES, { status: 'ok' }, 1);
      return found;
    } catch (error) {
      observe('failure');
      host.observe(FETCHES, { status: 'error' }, 1);
      throw unknownToken((error as Error).message);
    }
  }

  return {
    cacheFor: 'forever',
    authenticate(request) {
      const token = bearerToken(request);
      return token === undefined ? null : identify(token);
    },
  };
}
