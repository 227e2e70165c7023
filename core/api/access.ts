import { USER_CHARACTERS } from '../limits.js';
import type { ApiObject } from '../model/object.js';
import { Refusal } from '../model/refusal.js';
import type { Target } from '../model/target.js';
import { type User, wellFormedUser } from '../model/user.js';
import { after } from './awaitable.js';
import { isList, union } from './checks/lists.js';
import { requireMembers, timeOr } from './checks/parts.js';
import {
  checkExplanation,
  checkRules,
  type ExplainedOpinion,
  type Explanation,
  type Opinion,
  type UserRules,
} from './observe/explanation.js';
import { type Awaitable, type Contributed, definePoint } from './point.js';

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
 * A user, with what the identity depends on beside the credentials.
 *
 * @example
 * return { user, cacheFor: expiresAt - host.now(), objects: [{ storageName: 'core/serviceaccounts', object }] };
 */
export interface Identified {
  readonly user: User;
  /** How long these credentials stand for the user; absent: as long as the authenticator's `cacheFor` says. */
  readonly cacheFor?: CacheFor;
  /**
   * Objects that the identity was read from. The authenticator is asked again as soon as one of them has changed or is
   * gone: at the next request after the change was acknowledged.
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
   * those who may review tokens.
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
 * One of three decisions. A request that no authorizer allows is denied. `dependsOn` is that of this decision; absent:
 * that of the authorizer.
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
 * The dependencies of a decision beside the user and the target, and so how long it may be cached. A list of storage
 * names: until an object of one of these resources is created, changed or deleted; an empty list: as long as the
 * identity. A number: for this many milliseconds. `never`: it is not cached. A decision that names a resource which is
 * not stored is not cached. An object has both, and the earlier end counts.
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
   * Says why the authorizer allows a request or does not. It is called when somebody asks for an explanation, and never
   * while a request is decided, so it may take longer. Absent: the decision with its reason says all.
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
 * The 401 that is the same for every cause. `reasons`: what authenticators said about the credentials, for token
 * reviews.
 *
 * @example
 * if (thrown instanceof InvalidCredentials) return { reasons: thrown.reasons };
 */
export class InvalidCredentials extends Refusal {
  constructor(readonly reasons: readonly string[]) {
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
   * The decision, with what it depends on by the words of all authorizers that were asked: the time for which it holds,
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
   * The decisions of all authorizers about a request, by the rules of now, each with its explanation. The first allow
   * or deny counts. Never rejects: of an authorizer that fails, the error is shown.
   */
  explain(user: User, target: Target): Promise<readonly ExplainedOpinion[]>;
  /** The rules of all authorizers. `incomplete` if one of them cannot list its rules. */
  rulesFor(user: User, namespace: string): Promise<UserRules & { readonly incomplete: boolean }>;
}

/** The shorter of two cache times. */
function shorterTime(a: CacheFor, b: CacheFor): CacheFor {
  if (a === 'never' || b === 'never') return 'never';
  if (a === 'forever') return b;
  return typeof b === 'number' && b < a ? b : a;
}

const CACHE_FOR = timeOr('forever', 'never');
const UNCACHED = timeOr('never');
/** Storage names have a group: a plural name alone is a mistake. */
const areStorageNames = (value: unknown): boolean =>
  Array.isArray(value) && value.every(name => typeof name === 'string' && name.includes('/'));
/** Whether a value has both storage names and a time. Any number is a time, as for one answer: see isDependsOn. */
const areBoth = (value: unknown): boolean => {
  const { resources, milliseconds } = (value ?? {}) as { resources?: unknown; milliseconds?: unknown };
  return areStorageNames(resources) && typeof milliseconds === 'number' && !Number.isNaN(milliseconds);
};
const DEPENDS_ON = [
  (value: unknown): boolean => areStorageNames(value) || areBoth(value) || UNCACHED[0](value),
  `a list of storage names (core/namespaces), { resources, milliseconds }, ${UNCACHED[1]}`,
] as const;
/** Accepts any number for one answer, also a negative time: it has expired. */
const isCacheFor = (value: unknown): boolean =>
  typeof value === 'number' ? !Number.isNaN(value) : CACHE_FOR[0](value);
const isDependsOn = (value: unknown): boolean =>
  typeof value === 'number' ? !Number.isNaN(value) : DEPENDS_ON[0](value);

/** The only code with which an authenticator may refuse; other refusals are failures. */
const isUnauthorized = (thrown: unknown): boolean => thrown instanceof Refusal && thrown.code === 401;

const areTexts = (value: unknown): boolean => Array.isArray(value) && value.every(one => typeof one === 'string');

const isUser = ({ name, uid, groups, extra }: User): boolean =>
  typeof name === 'string' &&
  name !== '' &&
  typeof uid === 'string' &&
  areTexts(groups) &&
  extra instanceof Map &&
  Array.from(extra, ([key, values]) => typeof key === 'string' && areTexts(values)).every(Boolean);

const sizeOf = ({ name, uid, groups, extra }: User): number =>
  [name, uid, ...groups, ...Array.from(extra, ([key, values]) => [key, ...values]).flat()].reduce(
    (size, text) => size + text.length + 1,
    0,
  );

/** A private copy of a user: later changes of the authenticator's object have no effect. */
function copyOfUser(user: User): User {
  const copy = wellFormedUser(user);
  for (const list of [copy.groups, ...copy.extra.values()]) Object.freeze(list);
  return copy;
}

const isOptional = (value: unknown, is: (value: unknown) => boolean): boolean => value === undefined || is(value);
const isStoredObject = (value: Partial<StoredObject> | null | undefined): boolean =>
  typeof value?.storageName === 'string' && typeof value.object?.metadata === 'object';

const areMembers = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && areTexts(Object.values(value));

const isLabeling = (value: unknown): boolean => {
  const { path, set } = (value ?? {}) as Partial<NonNullable<CredentialUse['labels']>>;
  return typeof path === 'string' && areMembers(set);
};

const isUse = (value: unknown): boolean => {
  const { counters, labels, annotations } = (value ?? {}) as CredentialUse;
  return isOptional(counters, areTexts) && isOptional(labels, isLabeling) && isOptional(annotations, areMembers);
};

/** Throws TypeError unless an authenticator returned a user, with what the identity depends on, or null. */
function checkUser(found: User | Identified | null | undefined): Identified | null {
  if (found === null || found === undefined) return null;
  const { user, ...rest } = typeof found === 'object' && 'user' in found ? found : { user: found };
  if (!isUser(user))
    throw new TypeError(
      'authenticate must return null or { name, uid, groups, extra }, with a name and extra as a Map',
    );
  const copy = copyOfUser(user);
  if (sizeOf(copy) > USER_CHARACTERS) throw new TypeError(`a user must have at most ${USER_CHARACTERS} characters`);
  const { cacheFor, objects, audiences, use }: Omit<Identified, 'user'> = rest;
  if (!isOptional(cacheFor, isCacheFor))
    throw new TypeError('cacheFor must be forever, never or a number of milliseconds');
  if (!isOptional(objects, value => Array.isArray(value) && value.every(isStoredObject)))
    throw new TypeError('objects must be a list of { storageName, object }');
  if (!isOptional(audiences, areTexts)) throw new TypeError('audiences must be a list of strings');
  if (!isOptional(use, isUse))
    throw new TypeError('use must be { counters?: [name, …], labels?: { path, set: { … } }, annotations?: { … } }');
  return { ...rest, user: copy };
}

/** A copy of the decision of an authorizer. Throws TypeError for anything else. */
function checkDecision(decision: Decision): Decision {
  const { is, reason, dependsOn } = decision ?? {};
  if (is !== 'allow' && is !== 'deny' && is !== 'noOpinion')
    throw new TypeError("authorize must return { is: 'allow' | 'deny' | 'noOpinion' }");
  if (!isOptional(reason, value => typeof value === 'string')) throw new TypeError('reason must be a string');
  if (!isOptional(dependsOn, isDependsOn)) throw new TypeError(`dependsOn must be ${DEPENDS_ON[1]}`);
  return { is, reason, dependsOn } as Decision;
}

/** The messages of refusals that say more than that the credentials are invalid. A plugin's failure is only logged. */
const reasonsIn = (refusals: readonly Refusal[]): readonly string[] =>
  refusals.filter(one => isUnauthorized(one) && one.message !== 'Unauthorized').map(({ message }) => message);

/** A request without some of its headers. */
const without = (request: Received, isHidden: (header: string) => boolean): Received =>
  Object.defineProperties(
    {},
    {
      ...Object.getOwnPropertyDescriptors(request),
      header: { value: (name: string) => (isHidden(name) ? undefined : request.header(name)) },
      headers: { value: () => request.headers().filter(([name]) => !isHidden(name)) },
    },
  ) as Received;

/** The function that hides from an authenticator the headers that others own. */
function hider(own: Authenticator, all: readonly Contributed<Authenticator>[]): (request: Received) => Received {
  const owners = all.flatMap(({ value }) => (value.owns && value !== own ? [value] : []));
  if (owners.length === 0) return request => request;
  return request => without(request, header => owners.some(owner => owner.owns!(header)));
}

function firstUser(inputs: readonly Contributed<Authenticator>[]): Authentication {
  const hide = new Map(inputs.map(input => [input, hider(input.value, inputs)]));
  return {
    async authenticate(given) {
      const refusals: Refusal[] = [];
      let cacheFor: CacheFor = 'forever';
      for (const input of inputs) {
        const { value } = input;
        cacheFor = shorterTime(cacheFor, value.cacheFor);
        const request = hide.get(input)!(given);
        try {
          const found = await input.call(() => after(value.authenticate(request), checkUser), isUnauthorized);
          if (!found) continue;
          const { objects = [] } = found;
          const holds = shorterTime(cacheFor, found.cacheFor ?? 'forever');
          return { ...found, cacheFor: holds, objects, by: input.plugin };
        } catch (thrown) {
          refusals.push(thrown as Refusal);
        }
      }
      if (refusals.length > 0) throw new InvalidCredentials(reasonsIn(refusals));
      return { user: null, cacheFor, objects: [] };
    },
  };
}

/**
 * The result of an authorizer that cannot list its rules: the review is marked as incomplete and shows the other rules.
 */
async function rulesOf({ plugin, value, call }: Contributed<Authorizer>, user: User, namespace: string) {
  if (!value.rulesFor) return { ...NO_RULES, incomplete: true, error: `the authorizer ${plugin} cannot list rules` };
  try {
    const { incomplete = false, ...rules } = await call(() => after(value.rulesFor!(user, namespace), checkRules));
    return { ...rules, incomplete };
  } catch (thrown) {
    return { ...NO_RULES, incomplete: true, error: (thrown as Error).message };
  }
}

/** The decision of an authorizer with its explanation. Never rejects. */
async function explainedOpinion(
  { plugin, value, call }: Contributed<Authorizer>,
  user: User,
  target: Target,
): Promise<ExplainedOpinion> {
  let opinion: Opinion = { plugin, is: 'noOpinion' };
  try {
    const { is, reason } = await call(() => after(value.authorize(user, target), checkDecision));
    opinion = { plugin, is, reason };
    if (!value.explain) return opinion;
    return { ...opinion, explanation: await call(() => after(value.explain!(user, target), checkExplanation)) };
  } catch (thrown) {
    return { ...opinion, error: (thrown as Error).message };
  }
}

const NO_RULES: UserRules = { resourceRules: [], pathRules: [] };

function firstOpinion(inputs: readonly Contributed<Authorizer>[]): Authorization {
  return {
    async rulesFor(user, namespace) {
      const all = await Promise.all(inputs.map(input => rulesOf(input, user, namespace)));
      const errors = [...new Set(all.flatMap(({ error }) => error ?? []))];
      return {
        resourceRules: all.flatMap(({ resourceRules }) => resourceRules),
        pathRules: all.flatMap(({ pathRules }) => pathRules),
        incomplete: all.some(({ incomplete }) => incomplete),
        ...(errors.length > 0 ? { error: errors.length === 1 ? errors[0] : `[${errors.join(', ')}]` } : {}),
      };
    },
    explain: (user, target) => Promise.all(inputs.map(input => explainedOpinion(input, user, target))),
    async authorize(user, target) {
      // The request is carried out for this user and target: an authorizer that changed them would decide on others.
      for (const value of [user, user.groups, target]) Object.freeze(value);
      let cacheFor: CacheFor = 'forever';
      let resources: readonly string[] = [];
      const opinions: Opinion[] = [];
      for (const input of inputs) {
        const { value, plugin } = input;
        const decision = await input.call(() => after(value.authorize(user, target), checkDecision));
        const dependsOn = decision.dependsOn ?? value.dependsOn;
        if (typeof dependsOn !== 'object') cacheFor = shorterTime(cacheFor, dependsOn);
        else if (isList(dependsOn)) resources = union(resources, dependsOn);
        else {
          resources = union(resources, dependsOn.resources);
          cacheFor = shorterTime(cacheFor, dependsOn.milliseconds);
        }
        opinions.push({ plugin, is: decision.is, reason: decision.reason });
        if (decision.is !== 'noOpinion') return { decision, cacheFor, resources, opinions };
      }
      const reason = opinions.flatMap(opinion => opinion.reason || []).join('\n');
      return { decision: { is: 'noOpinion', reason }, cacheFor, resources, opinions };
    },
  };
}

/**
 * Determines the sender of a request. The first user is the result. Without one, the sender is the anonymous user if
 * that is allowed; otherwise the request is answered with 401.
 *
 * @example
 * contribute: config => [authenticator.of(host => new ApiKeys(config, host.log))],
 */
export const authenticator = definePoint<Authenticator>()(
  'authenticator',
  ['pool'],
  firstUser,
  requireMembers({ authenticate: 'function', cacheFor: CACHE_FOR }),
);
/**
 * Decides whether the sender may make a request. The first allow or deny is the result; without one, the request is
 * denied.
 *
 * @example
 * contribute: () => [authorizer.of(() => ({ dependsOn: [], authorize: () => ({ is: 'noOpinion' }) }))],
 */
export const authorizer = definePoint<Authorizer>()(
  'authorizer',
  ['pool'],
  firstOpinion,
  requireMembers({ authorize: 'function', dependsOn: DEPENDS_ON }),
);
