import type { ApiObject } from '../../model/object.js';
import { Refusal } from '../../model/refusal.js';
import type { Target } from '../../model/target.js';
import type { User } from '../../model/user.js';
import type { ExplainedOpinion, Explanation, Opinion, UserRules } from '../observe/explain.js';
import type { Awaitable } from '../point.js';

/**
 * A request as authenticators see it. Header names are in lower case.
 *
 * @example
 * const key = request.header('x-api-key');
 */
export interface Received {
  /** The first header with this name. */
  header(name: string): string | undefined;
  /** All headers in the order of the request. */
  headers(): readonly (readonly [name: string, value: string])[];
  /** The client's certificate in PEM, if the TLS handshake verified one against the client CA. */
  readonly certificate?: string;
  /**
   * Whether the client sent a certificate that the listener did not accept: of another CA, not for clients, or expired.
   * It is not in `certificate`.
   */
  readonly hasInvalidCertificate?: boolean;
  readonly remoteAddress: string;
  readonly path: string;
  /** The token must be for one of these audiences; absent: for this server. */
  readonly audiences?: readonly string[];
  /** Adds a Warning header about the credentials to a refusal, and to the answer of a write. */
  warn(text: string): void;
}

/**
 * How long a result may be cached for the same credentials: `forever`, a number of milliseconds, or `never`.
 *
 * @example
 * const cacheFor: CacheFor = 60_000;
 */
export type CacheFor = 'forever' | 'never' | number;

/**
 * A stored object by the storage name of its resource.
 *
 * @example
 * const account: StoredObject = { storageName: 'core/serviceaccounts', object };
 */
export interface StoredObject {
  readonly storageName: string;
  readonly object: ApiObject;
}

/**
 * Counters, labels and annotations that the server sets for credentials whose user was found.
 *
 * @example
 * const use: CredentialUse = { counters: ['api_keys_total'] };
 */
export interface CredentialUse {
  /** Names of counters without labels that are raised by one. A plugin defines them at the point `metrics`. */
  readonly counters?: readonly string[];
  /** Labels that the server sets on the object at a path, such as the day of the last use. No request waits for it. */
  readonly labels?: { readonly path: string; readonly set: Readonly<Record<string, string>> };
  /** Annotations of the audit event of the request. */
  readonly annotations?: Readonly<Record<string, string>>;
}

/**
 * A user, with the objects, besides the credentials, on which the identity depends.
 *
 * @example
 * return { user, cacheFor: expiresAt - host.now(), objects: [{ storageName: 'core/serviceaccounts', object }] };
 */
export interface Identified {
  readonly user: User;
  /** How long these credentials identify the user; absent: the `cacheFor` of the authenticator applies. */
  readonly cacheFor?: CacheFor;
  /**
   * Objects from which the identity was read. The authenticator is called again after one of them was changed or
   * deleted: at the next request after the change was acknowledged.
   */
  readonly objects?: readonly StoredObject[];
  /**
   * Those of the requested audiences for which the token is valid. Absent: the authenticator does not know audiences.
   */
  readonly audiences?: readonly string[];
  /** Recorded whenever the authenticator was called: a cached identity is not recorded again. */
  readonly use?: CredentialUse;
}

/**
 * Determines the sender of a request.
 *
 * @example
 * const sessions: Authenticator = {
 *   cacheFor: 'never',
 *   authenticate: request => users.get(request.header('x-session') ?? '') ?? null,
 * };
 */
export interface Authenticator {
  /**
   * The sender; `null` if the request has no credentials that this authenticator supports. Throws
   * Refusal('Unauthorized') for invalid credentials. Any other error is logged and also answered with 401. The client
   * does not learn the cause, because every 401 has the same body; a message other than `Unauthorized` is shown to
   * those who may review tokens or read decisions. It must not repeat credentials.
   */
  authenticate(request: Received): Awaitable<User | Identified | null>;
  readonly cacheFor: CacheFor;
  /**
   * Whether only this authenticator may read a header, because it trusts some senders of it: all others do not see it.
   * The name is in lower case.
   */
  owns?(header: string): boolean;
}

/**
 * One of three decisions. A request that no authorizer allows is denied. `dependsOn` applies to this decision; absent:
 * that of the authorizer does.
 *
 * @example
 * const decision: Decision = { is: 'deny', reason: 'come back at six' };
 */
export type Decision = { readonly dependsOn?: DependsOn } & (
  | { readonly is: 'allow'; readonly reason?: string }
  | { readonly is: 'deny'; readonly reason: string }
  | { readonly is: 'noOpinion'; readonly reason?: string }
);

/**
 * The dependencies of a decision besides the user and the target, and so how long it may be cached. A list of storage
 * names: until an object of one of these resources is created, changed or deleted; an empty list: as long as the
 * identity. A number: for this many milliseconds. `never`: it is not cached. A decision that names a resource which is
 * not stored is not cached. An object has both, and whichever ends first applies.
 *
 * @example
 * const dependsOn: DependsOn = ['core/namespaces']; // it looks at the labels of namespaces
 */
export type DependsOn =
  | readonly string[]
  | 'never'
  | number
  | { readonly resources: readonly string[]; readonly milliseconds: number };

/**
 * Decides whether a user may make a request. If it throws, the request is refused regardless of other authorizers: with
 * the thrown Refusal, or otherwise with 500.
 *
 * @example
 * const readOnly: Authorizer = {
 *   dependsOn: [],
 *   authorize: (user, target) =>
 *     target.verb === 'get' ? { is: 'noOpinion' } : { is: 'deny', reason: 'maintenance' },
 * };
 */
export interface Authorizer {
  authorize(user: User, target: Target): Awaitable<Decision>;
  readonly dependsOn: DependsOn;
  /**
   * The rules by which the authorizer allows requests of a user in a namespace, for reviews that list them. Absent if
   * the authorizer cannot list rules; such reviews are then marked as incomplete.
   */
  rulesFor?(user: User, namespace: string): Awaitable<UserRules>;
  /**
   * Explains why the authorizer allows a request or not. It is called when somebody asks for an explanation, never
   * while a request is being decided, so it may take longer. Absent: the decision and its reason are the explanation.
   */
  explain?(user: User, target: Target): Awaitable<Explanation>;
}

/**
 * The result of all authenticators for a request. `user`: null if it carries no credentials.
 *
 * @example
 * const nobody: Authenticated = { user: null, cacheFor: 'forever', objects: [] };
 */
export interface Authenticated {
  readonly user: User | null;
  readonly cacheFor: CacheFor;
  readonly objects: readonly StoredObject[];
  readonly audiences?: readonly string[];
  readonly use?: CredentialUse;
  /** The name of the plugin that found the user; absent without one. */
  readonly by?: string;
}

/**
 * The combination of all authenticators. The first one that returns a user ends the evaluation. If one throws and no
 * later one returns a user, the result is 401. `cacheFor` is the shortest value of all authenticators that were called,
 * because one that did not recognize the credentials may recognize them later.
 *
 * @example
 * const { user, cacheFor, objects } = await authentication.authenticate(request);
 */
export interface Authentication {
  /** Throws only InvalidCredentials. */
  authenticate(request: Received): Promise<Authenticated>;
}

/**
 * The 401 that is the same for every cause. `reasons`: the messages of authenticators about the credentials, for token
 * reviews and for decisions, without the bearer token. `refusedBy`: the plugins that have refused them.
 *
 * @example
 * if (thrown instanceof InvalidCredentials) return { reasons: thrown.reasons };
 */
export class InvalidCredentials extends Refusal {
  constructor(
    readonly reasons: readonly string[],
    readonly refusedBy: readonly string[],
  ) {
    super('Unauthorized', 'Unauthorized');
  }
}

/**
 * The combination of all authorizers: the first allow or deny is the result. Reasons of authorizers without opinion are
 * joined with line ends.
 *
 * @example
 * const { decision, cacheFor, resources } = await authorization.authorize(user, target);
 */
export interface Authorization {
  /**
   * The decision, with its dependencies as declared by all authorizers that were asked: the time for which it holds,
   * and the resources, by storage name, with which it ends earlier. `opinions` are those of the authorizers that were
   * asked; the last one decided, if any did. Throws the Refusal of an authorizer, or
   * PluginFailure. The request is then not allowed.
   */
  authorize(
    user: User,
    target: Target,
  ): Promise<{
    decision: Decision;
    cacheFor: CacheFor;
    resources: readonly string[];
    opinions: readonly Opinion[];
  }>;
  /**
   * The decisions of all authorizers about a request, by the current rules, each with its explanation. The first allow
   * or deny counts. Never rejects: if an authorizer fails, its error is shown.
   */
  explain(user: User, target: Target): Promise<readonly ExplainedOpinion[]>;
  /** The rules of all authorizers. `incomplete` if one of them cannot list its rules. */
  rulesFor(user: User, namespace: string): Promise<UserRules & { readonly incomplete: boolean }>;
}
