import { unauthorized } from '../model/wellKnown/senders.js';
import { ANONYMOUS, type User } from '../model/user.js';

/** Group of every authenticated request (spec, "User attributes"). */
const AUTHENTICATED = 'system:authenticated';
/** Group of requests without credentials. */
export const UNAUTHENTICATED = 'system:unauthenticated';

/** The requests that may have no credentials (spec, "Anonymous requests"). */
export interface AnonymousPolicy {
  readonly enabled: boolean;
  /** Absent: every path. */
  readonly paths?: readonly string[];
}

/**
 * The user with the group `system:authenticated` added. The anonymous user, and users that have this group or
 * `system:unauthenticated`, are returned unchanged.
 */
export function completeUser(user: User): User {
  if (user.name === ANONYMOUS.name) return user;
  if (user.groups.includes(AUTHENTICATED) || user.groups.includes(UNAUTHENTICATED)) return user;
  return { ...user, groups: [...user.groups, AUTHENTICATED] };
}

/**
 * The sender of a request: the authenticated user with all groups, or the anonymous user if the policy allows it.
 * Otherwise throws 401.
 */
export function identify(found: User | null, policy: AnonymousPolicy, path: string): User {
  if (found) return completeUser(found);
  if (policy.enabled && (policy.paths?.includes(path) ?? true)) return ANONYMOUS;
  throw unauthorized();
}
