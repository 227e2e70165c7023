import { createHash } from 'node:crypto';
import type { Authenticator, Awaitable, Host, Identified, User } from '../../../core/api/index.js';
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
 * keys, takes effect within this time. Upstream caches tokens as long.
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

/** The authenticators of a state of the service. */
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

type JwtHost = Pick<Host<'pool'>, 'now' | 'service' | 'observe'>;
type ServiceClient = ReturnType<JwtHost['service']>;

/** Verifies the tokens of the issuers of a configuration. */
class TokenVerifier {
  readonly #host: JwtHost;
  readonly #service: ServiceClient;
  #prepared: Promise<Prepared> | undefined;
  #current: Prepared | undefined;

  constructor(host: JwtHost) {
    this.#host = host;
    this.#service = host.service(JWT_SERVICE);
  }

  /**
   * The user of a token, and how long this may be cached. The user of a token that was verified before is known at
   * once.
   */
  identify(token: string): Awaitable<Identified> {
    const state = this.#service.state();
    const current = this.#current;
    return current !== undefined && current.state === state
      ? this.#identifyBy(current, token)
      : this.#authenticators().then(prepared => this.#identifyBy(prepared, token));
  }

  #identifyBy({ byIssuer, remembered }: Prepared, token: string): Awaitable<Identified> {
    const key = digest(token);
    const known = remembered.get(key);
    if (known) {
      this.#host.observe(CACHE_REQUESTS, { status: 'hit' }, 1);
      return this.#identified(known);
    }
    const decoded = decodeToken(token);
    const ready = decoded && byIssuer.get(decoded.issuer);
    if (!ready) throw unknownToken();
    this.#host.observe(CACHE_REQUESTS, { status: 'miss' }, 1);
    return this.#measured(ready, () => this.#verify(token, decoded, ready, true)).then(({ found, by }) => {
      this.#remember(key, found, by);
      return this.#identified(found);
    });
  }

  #identified({ user, until }: Remembered): Identified {
    const left = until - this.#host.now();
    if (left < 0) throw unknownToken('oidc: verify token: oidc: token is expired');
    return { user, cacheFor: Math.min(left, CACHED_MS) };
  }

  /** The authenticators of the current state of the service. */
  async #authenticators(): Promise<Prepared> {
    const state = (await this.#service.state()) as JwtState;
    if (this.#current?.state === state) return this.#current;
    // Requests that come meanwhile wait for the same preparation.
    const before = this.#current;
    const mine = (this.#prepared ??= prepare(state, before).finally(() => {
      this.#prepared = undefined;
    }));
    this.#current = await mine;
    return this.#current.state === state ? this.#current : await this.#authenticators();
  }

  /** Verifies a token. `mayRefresh`: keys that do not suffice may be fetched again, once. */
  async #verify(token: string, decoded: DecodedToken, ready: Ready, mayRefresh: boolean): Promise<Verified> {
    if (ready.keys.length > 0 || !mayRefresh) {
      if (ready.error !== undefined) throw new Error(ready.error);
      try {
        await verifySignature(token, decoded, ready.keys, ready.of.issuer);
        const until = checkClaims(decoded.claims, ready.of.issuer, this.#host.now());
        return { found: { user: ready.user.userOf(decoded.claims), until }, by: ready };
      } catch (error) {
        if (!(error instanceof UnknownKey) || !mayRefresh) throw error;
      }
    }
    await this.#refresh(ready);
    const next = (await this.#authenticators()).byIssuer.get(decoded.issuer);
    if (!next) throw unknownToken();
    return await this.#verify(token, decoded, next, false);
  }

  /** Asks for newer keys than those of an authenticator. */
  async #refresh({ of: { issuer }, fetchedAt }: Ready): Promise<void> {
    const question: RefreshQuestion = { issuer: issuer.url, ...(fetchedAt === undefined ? {} : { fetchedAt }) };
    await this.#service.ask(question);
  }

  /** Remembers a token that an authenticator has verified, as long as that is used with the same keys. */
  #remember(key: string, found: Remembered, by: Ready): void {
    if (this.#current?.byIssuer.get(by.of.issuer.url) !== by) return;
    const { remembered } = this.#current;
    if (remembered.size >= REMEMBERED_TOKENS) remembered.delete(remembered.keys().next().value as string);
    remembered.set(key, found);
  }

  /** Observes how long the verification of a token takes. Throws 401 for one that is refused, with the reason. */
  async #measured(ready: Ready, run: () => Promise<Verified>): Promise<Verified> {
    const began = monotonicTime();
    const observe = (result: 'success' | 'failure', status: 'ok' | 'error'): void => {
      this.#host.observe(LATENCY, { jwt_issuer_hash: ready.hash, result }, (monotonicTime() - began) / 1000);
      this.#host.observe(FETCHES, { status }, 1);
    };
    try {
      const found = await run();
      observe('success', 'ok');
      return found;
    } catch (error) {
      observe('failure', 'error');
      throw unknownToken((error as Error).message);
    }
  }
}

/** Authenticates the tokens of the issuers of a configuration. */
export function jwtTokens(host: JwtHost): Authenticator {
  const verifier = new TokenVerifier(host);
  return {
    cacheFor: 'forever',
    authenticate(request) {
      const token = bearerToken(request);
      return token === undefined ? null : verifier.identify(token);
    },
  };
}
