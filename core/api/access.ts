import type { Target } from '../model/target.js';
import type { User } from '../model/user.js';
import { type Awaitable, type Contributed, definePoint } from './point.js';

/** What an authenticator sees of a request. Header names are lower case. */
export interface Received {
  header(name: string): string | undefined;
  /** Peer certificate in PEM, if the TLS handshake verified one against the client CA. */
  readonly certificate?: string;
  readonly remoteAddress: string;
  readonly path: string;
  /**
   * Tells the client something about its credentials, in a header of the answer where that is a refusal or the answer
   * to a write.
   */
  warn(text: string): void;
}

/** Until when a result may be cached: `forever` while the credentials are the same, milliseconds, or `never`. */
export type CacheFor = 'forever' | 'never' | number;

/** Tells who sent a request. */
export interface Authenticator {
  /** `null`: these credentials are not mine. Throw Refusal('Unauthorized') for credentials that are mine, and bad. */
  authenticate(request: Received): Awaitable<User | null>;
  readonly cacheFor: CacheFor;
}

/** Three-valued decision; nobody spoke means deny. */
export type Decision =
  | { readonly is: 'allow'; readonly reason?: string }
  | { readonly is: 'deny'; readonly reason: string }
  | { readonly is: 'noOpinion'; readonly reason?: string };

/**
 * How long a decision holds: until policy objects change, so many milliseconds if they do not change before, or never
 * cached.
 */
export type DependsOn = 'policy' | 'never' | number;

/** Decides whether a user may do something. */
export interface Authorizer {
  authorize(user: User, target: Target): Awaitable<Decision>;
  readonly dependsOn: DependsOn;
}

/**
 * All authenticators as one: the first user ends evaluation; a throw of one ends it with 401 unless a later one knows
 * the user. `cacheFor` is the shortest of those that were asked, because whoever knew nothing may know more next time.
 */
export interface Authentication {
  authenticate(request: Received): Promise<{ user: User | null; cacheFor: CacheFor }>;
}

/** All authorizers as one: the first allow or deny counts; reasons of those without opinion are joined with a comma. */
export interface Authorization {
  authorize(user: User, target: Target): Promise<{ decision: Decision; dependsOn: DependsOn }>;
}

/** How long a result made of two holds; every word but `never` is longer than any number. */
function shorter<T extends CacheFor | DependsOn>(a: T, b: T): T {
  if (a === 'never' || b === 'never') return 'never' as T;
  if (typeof a !== 'number') return b;
  return typeof b === 'number' && b < a ? b : a;
}

function firstUser(inputs: readonly Contributed<Authenticator>[]): Authentication {
  return {
    async authenticate(request) {
      let refusal: unknown;
      let cacheFor: CacheFor = 'forever';
      for (const { value } of inputs) {
        cacheFor = shorter<CacheFor>(cacheFor, value.cacheFor);
        try {
          const user = await value.authenticate(request);
          if (user) return { user, cacheFor };
        } catch (thrown) {
          refusal ??= thrown;
        }
      }
      if (refusal) throw refusal;
      return { user: null, cacheFor };
    },
  };
}

function firstOpinion(inputs: readonly Contributed<Authorizer>[]): Authorization {
  return {
    async authorize(user, target) {
      let dependsOn: DependsOn = 'policy';
      const reasons: string[] = [];
      for (const { value } of inputs) {
        const decision = await value.authorize(user, target);
        dependsOn = shorter<DependsOn>(dependsOn, value.dependsOn);
        if (decision.is !== 'noOpinion') return { decision, dependsOn };
        if (decision.reason) reasons.push(decision.reason);
      }
      return { decision: { is: 'noOpinion', reason: reasons.join(', ') }, dependsOn };
    },
  };
}

/** Who is it: first user wins; none is the anonymous user where that is allowed, else 401. */
export const authenticator = definePoint<Authenticator, Authentication>('authn', ['request'], firstUser);
/** May they: first opinion wins; none is deny. */
export const authorizer = definePoint<Authorizer, Authorization>('authz', ['request'], firstOpinion);
