import { Refusal } from '../model/refusal.js';
import type { Target } from '../model/target.js';
import type { User } from '../model/user.js';
import { after } from './awaitable.js';
import { type Awaitable, type Contributed, definePoint } from './point.js';

/**
 * What an authenticator sees of a request. Header names are lower case.
 *
 * @example
 * const key = request.header('x-api-key');
 */
export interface Received {
  header(name: string): string | undefined;
  /** Peer certificate in PEM, if the TLS handshake verified one against the client CA. */
  readonly certificate?: string;
  readonly remoteAddress: string;
  readonly path: string;
  /**
   * Tells the client something about its credentials, in a Warning header of the answer where that is a refusal or the
   * answer to a write.
   */
  warn(text: string): void;
}

/**
 * Until when a result may be cached: `forever` while the credentials are the same, milliseconds, or `never`.
 *
 * @example
 * const cacheFor: CacheFor = 60_000;
 */
export type CacheFor = 'forever' | 'never' | number;

/**
 * Finds out who sent a request.
 *
 * @example
 * const sessions: Authenticator = {
 *   cacheFor: 'never',
 *   authenticate: request => users.get(request.header('x-session') ?? '') ?? null,
 * };
 */
export interface Authenticator {
  /**
   * The sender; `null` if the request carries no credentials that this authenticator knows how to read. Throws
   * Refusal('Unauthorized') for credentials that it reads and finds bad. Anything else that it throws is 401 as well,
   * and logged. The client is not told why: every 401 has the same body.
   */
  authenticate(request: Received): Awaitable<User | null>;
  readonly cacheFor: CacheFor;
}

/**
 * Three-valued decision; if nobody allows, the request is denied.
 *
 * @example
 * const decision: Decision = { is: 'deny', reason: 'come back at six' };
 */
export type Decision =
  | { readonly is: 'allow'; readonly reason?: string }
  | { readonly is: 'deny'; readonly reason: string }
  | { readonly is: 'noOpinion'; readonly reason?: string };

/**
 * How long a decision holds: until policy objects change, so many milliseconds if they do not change before, or never
 * cached.
 *
 * @example
 * const dependsOn: DependsOn = 'never'; // it looks at other objects than roles and bindings
 */
export type DependsOn = 'policy' | 'never' | number;

/**
 * What a user may do, as rules of RBAC express it. Groups are named as clients name them.
 *
 * @example
 * const readers: UserRules = { resourceRules: [{ verbs: ['get'], apiGroups: [''], resources: ['*'] }], pathRules: [] };
 */
export interface UserRules {
  readonly resourceRules: readonly {
    readonly verbs: readonly string[];
    readonly apiGroups: readonly string[];
    readonly resources: readonly string[];
    /** Absent or empty: objects of every name. */
    readonly resourceNames?: readonly string[];
  }[];
  readonly pathRules: readonly { readonly verbs: readonly string[]; readonly nonResourceURLs: readonly string[] }[];
  /** Why rules may be missing; absent: these are all. */
  readonly error?: string;
}

/**
 * Decides whether a user may do something. A throw refuses the request, whatever other authorizers would say: with the
 * Refusal that was thrown, or else with 500.
 *
 * @example
 * const readOnly: Authorizer = {
 *   dependsOn: 'policy',
 *   authorize: (user, target) =>
 *     target.verb === 'get' ? { is: 'noOpinion' } : { is: 'deny', reason: 'maintenance' },
 * };
 */
export interface Authorizer {
  authorize(user: User, target: Target): Awaitable<Decision>;
  readonly dependsOn: DependsOn;
  /**
   * The rules by which the authorizer allows what a user does in a namespace, for reviews that list them. Absent: it
   * has no rules that could be listed, and such reviews are marked as incomplete.
   */
  rulesFor?(user: User, namespace: string): Awaitable<UserRules>;
}

/**
 * All authenticators as one. The first user ends evaluation. If one throws and no later one knows the user, it is 401.
 * `cacheFor` is the shortest of those that were asked, because one that knew nothing may know more next time.
 *
 * @example
 * const { user, cacheFor } = await authentication.authenticate(request);
 */
export interface Authentication {
  /** Throws the 401 that is the same for every cause, and nothing else. */
  authenticate(request: Received): Promise<{ user: User | null; cacheFor: CacheFor }>;
}

/**
 * All authorizers as one: the first allow or deny counts; reasons of those without opinion are joined with a comma.
 *
 * @example
 * const { decision, dependsOn } = await authorization.authorize(user, target);
 */
export interface Authorization {
  /** Throws the Refusal of an authorizer, or PluginFailure: nobody is allowed then. */
  authorize(user: User, target: Target): Promise<{ decision: Decision; dependsOn: DependsOn }>;
  /** The rules of all authorizers. `incomplete`: one of them has none that could be listed. */
  rulesFor(user: User, namespace: string): Promise<UserRules & { readonly incomplete: boolean }>;
}

/** The shorter of two times that a result holds; every word but `never` is longer than any number. */
function shorter<T extends CacheFor | DependsOn>(a: T, b: T): T {
  if (a === 'never' || b === 'never') return 'never' as T;
  if (typeof a !== 'number') return b;
  return typeof b === 'number' && b < a ? b : a;
}

/** The only code of an authenticator's own refusals; all others are faults. */
const isUnauthorized = (thrown: unknown): boolean => thrown instanceof Refusal && thrown.code === 401;

const areTexts = (value: unknown): boolean => Array.isArray(value) && value.every(one => typeof one === 'string');

/** Throws unless an authenticator returned a user or nobody. */
function checkUser(user: User | null | undefined): User | null {
  if (user === null || user === undefined) return null;
  const { name, uid, groups, extra } = user;
  if (typeof name === 'string' && name !== '' && typeof uid === 'string' && areTexts(groups) && extra instanceof Map)
    return user;
  throw new TypeError('authenticate must return null or { name, uid, groups, extra }, with a name and extra as a Map');
}

/** Throws unless an authorizer returned a decision. */
function checkDecision(decision: Decision): Decision {
  if (decision?.is === 'allow' || decision?.is === 'deny' || decision?.is === 'noOpinion') return decision;
  throw new TypeError("authorize must return { is: 'allow' | 'deny' | 'noOpinion' }");
}

function firstUser(inputs: readonly Contributed<Authenticator>[]): Authentication {
  return {
    async authenticate(request) {
      let isRefused = false;
      let cacheFor: CacheFor = 'forever';
      for (const input of inputs) {
        const { value } = input;
        cacheFor = shorter<CacheFor>(cacheFor, value.cacheFor);
        try {
          const user = await input.call(() => after(value.authenticate(request), checkUser), isUnauthorized);
          if (user) return { user, cacheFor };
        } catch {
          isRefused = true;
        }
      }
      if (isRefused) throw new Refusal('Unauthorized', 'Unauthorized');
      return { user: null, cacheFor };
    },
  };
}

/** Those of an authorizer that has no rules or fails to list them: the review says so and shows the others. */
async function rulesOf({ plugin, value, call }: Contributed<Authorizer>, user: User, namespace: string) {
  if (!value.rulesFor) return { ...NO_RULES, incomplete: true, error: `the authorizer ${plugin} cannot list rules` };
  try {
    return { ...(await call(() => value.rulesFor!(user, namespace))), incomplete: false };
  } catch (thrown) {
    return { ...NO_RULES, incomplete: true, error: (thrown as Error).message };
  }
}

const NO_RULES: UserRules = { resourceRules: [], pathRules: [] };

function firstOpinion(inputs: readonly Contributed<Authorizer>[]): Authorization {
  return {
    async rulesFor(user, namespace) {
      const all = await Promise.all(inputs.map(input => rulesOf(input, user, namespace)));
      const errors = all.flatMap(({ error }) => error ?? []);
      return {
        resourceRules: all.flatMap(({ resourceRules }) => resourceRules),
        pathRules: all.flatMap(({ pathRules }) => pathRules),
        incomplete: all.some(({ incomplete }) => incomplete),
        ...(errors.length > 0 ? { error: errors.length === 1 ? errors[0] : `[${errors.join(', ')}]` } : {}),
      };
    },
    async authorize(user, target) {
      let dependsOn: DependsOn = 'policy';
      const reasons: string[] = [];
      for (const input of inputs) {
        const { value } = input;
        const decision = await input.call(() => after(value.authorize(user, target), checkDecision));
        dependsOn = shorter<DependsOn>(dependsOn, value.dependsOn);
        if (decision.is !== 'noOpinion') return { decision, dependsOn };
        if (decision.reason) reasons.push(decision.reason);
      }
      return { decision: { is: 'noOpinion', reason: reasons.join(', ') }, dependsOn };
    },
  };
}

/**
 * Who sent a request: the first user wins; none is the anonymous user where that is allowed, else 401.
 *
 * @example
 * contribute: config => [authenticator.of(host => new ApiKeys(config, host.log))],
 */
export const authenticator = definePoint<Authenticator>()('authn', ['request'], firstUser);
/**
 * Whether the sender may do what the request asks for: the first allow or deny wins; none is deny.
 *
 * @example
 * contribute: () => [authorizer.of(() => ({ dependsOn: 'policy', authorize: () => ({ is: 'noOpinion' }) }))],
 */
export const authorizer = definePoint<Authorizer>()('authz', ['request'], firstOpinion);
