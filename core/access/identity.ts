import { Refusal } from '../model/refusal.js';
import { ANONYMOUS, type User } from '../model/user.js';

/** Group of every request that an authenticator knows (spec 2, "User attributes"). */
export const AUTHENTICATED = 'system:authenticated';
/** Group of requests without credentials. */
export const UNAUTHENTICATED = 'system:unauthenticated';

/** Who may come without credentials: nobody, everybody, or everybody on these paths (spec 2, "Anonymous requests"). */
export interface AnonymousPolicy {
  readonly enabled: boolean;
  /** Absent: every path. */
  readonly paths?: ReadonlySet<string>;
}

/**
 * Adds `system:authenticated` to what an authenticator returned; the anonymous user and users that name either group
 * already stay as they are.
 */
export function completeUser(user: User): User {
  if (user.name === ANONYMOUS.name) return user;
  if (user.groups.includes(AUTHENTICATED) || user.groups.includes(UNAUTHENTICATED)) return user;
  return { ...user, groups: [...user.groups, AUTHENTICATED] };
}

/** 401, with the one message every client sees; why credentials failed is not told. */
export const unauthorized = (): Refusal => new Refusal('Unauthorized', 'Unauthorized');

/**
 * Makes the outcome of authentication final: a complete user, or the anonymous one where the policy lets it in, else
 * 401.
 */
export function identify(found: User | null, policy: AnonymousPolicy, path: string): User {
  if (found) return completeUser(found);
  if (policy.enabled && (policy.paths?.has(path) ?? true)) return ANONYMOUS;
  throw unauthorized();
}
