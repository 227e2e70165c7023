import { USER_CHARACTERS } from '../limits.js';
import { Refusal } from '../model/refusal.js';
import type { Target } from '../model/target.js';
import { wellFormedUser } from '../model/text/wellFormedUser.js';
import type { User } from '../model/user.js';
import {
  InvalidCredentials,
  type Received,
  type CacheFor,
  type StoredObject,
  type CredentialUse,
  type Identified,
  type Authenticator,
  type Decision,
  type Authorizer,
  type Authentication,
  type Authorization,
} from './access/types.js';
import { after } from './awaitable.js';
import { checkExplanation, checkRules } from './checks/explained.js';
import { isList, union } from './checks/lists.js';
import { requireMembers, timeOr } from './checks/parts.js';
import type { ExplainedOpinion, Opinion, UserRules } from './observe/explain.js';
import { type Contributed, definePoint } from './point.js';

export * from './access/types.js';

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
/** Whether a value has both storage names and a time. Any number is a time, as in a single answer: see isDependsOn. */
const areBoth = (value: unknown): boolean => {
  const { resources, milliseconds } = (value ?? {}) as { resources?: unknown; milliseconds?: unknown };
  return areStorageNames(resources) && typeof milliseconds === 'number' && !Number.isNaN(milliseconds);
};
const DEPENDS_ON = [
  (value: unknown): boolean => areStorageNames(value) || areBoth(value) || UNCACHED[0](value),
  `a list of storage names (core/namespaces), { resources, milliseconds }, ${UNCACHED[1]}`,
] as const;
/** Accepts any number for a single answer, even a negative one: the answer has then already expired. */
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

/** Throws TypeError unless an authenticator returned a user with the dependencies of the identity, or null. */
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

/** Parts of a token, such as those of a JWT, that are removed from messages; shorter ones are no secrets. */
const TOKEN_PARTS = 4;
const TOKEN_PART_CHARACTERS = 8;

/** A message without parts of the token of the request, which messages of webhooks may repeat. */
function withoutToken(message: string, request: Received): string {
  const token = request.header('authorization')?.trim().split(' ').at(-1) ?? '';
  const secrets = [token, ...token.split('.', TOKEN_PARTS)].filter(({ length }) => length >= TOKEN_PART_CHARACTERS);
  return secrets.reduce((text, secret) => text.replaceAll(secret, '(redacted)'), message);
}

/** The messages of refusals that say more than that the credentials are invalid. A plugin's failure is only logged. */
const reasonsIn = (refusals: readonly Refusal[], request: Received): readonly string[] =>
  refusals
    .filter(one => isUnauthorized(one) && one.message !== 'Unauthorized')
    .map(({ message }) => withoutToken(message, request));

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

/** Returns a function that hides the headers owned by other authenticators from this one. */
function hideForeignHeaders(
  own: Authenticator,
  all: readonly Contributed<Authenticator>[],
): (request: Received) => Received {
  const owners = all.flatMap(({ value }) => (value.owns && value !== own ? [value] : []));
  if (owners.length === 0) return request => request;
  return request => without(request, header => owners.some(owner => owner.owns!(header)));
}

function firstUser(inputs: readonly Contributed<Authenticator>[]): Authentication {
  const hide = new Map(inputs.map(input => [input, hideForeignHeaders(input.value, inputs)]));
  return {
    async authenticate(given) {
      const refusals: Refusal[] = [];
      const refusedBy: string[] = [];
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
          refusedBy.push(input.plugin);
        }
      }
      if (refusals.length > 0) throw new InvalidCredentials(reasonsIn(refusals, given), refusedBy);
      return { user: null, cacheFor, objects: [] };
    },
  };
}

/**
 * The rules of an authorizer. If it cannot list them, the review is marked as incomplete and shows the rules of the
 * others.
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
  // An authorizer that fails denies the request.
  let opinion: Opinion = { plugin, is: 'deny' };
  try {
    const { is, reason } = await call(() => after(value.authorize(user, target), checkDecision));
    opinion = { plugin, is, reason };
    if (!value.explain) return opinion;
    return { ...opinion, explanation: await call(() => after(value.explain!(user, target), checkExplanation)) };
  } catch (thrown) {
    return { ...opinion, error: (thrown as Error).message };
  }
}

/** Freezes the user and the target. Later stages use the same objects, so no authorizer may change them. */
function freeze(user: User, target: Target): void {
  for (const value of [user, user.groups, target]) Object.freeze(value);
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
    explain(user, target) {
      freeze(user, target);
      return Promise.all(inputs.map(input => explainedOpinion(input, user, target)));
    },
    async authorize(user, target) {
      freeze(user, target);
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
