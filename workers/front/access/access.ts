import type { Exchange } from '../../../core/api/listener.js';
import { ACCESS_CACHE_BYTES, CACHED_KEY_CHARACTERS, IDENTITY_CACHE_BYTES } from '../../../core/limits.js';
import type { Route } from '../../../core/request/route.js';
import { selectorTexts } from '../../../core/request/selectors.js';
import { ANONYMOUS, type User } from '../../../core/model/user.js';
import type { Grant, ObjectRevision } from '../../../core/threads/messages/messages.js';
import { RecentMap } from './recentMap.js';
import { type Usage, Usages } from '../fairness/usage.js';
import { credentialHeaders } from '../watch/webSocket.js';

/** Bytes of an entry beside its key: its place in a table, and what it holds. */
const ENTRY_BYTES = 100;
/** Bytes of an identity beside its credentials: its user, and the tables of its decisions. */
const IDENTITY_BYTES = 1000;
/** Reasons that permissions of one user share. */
const SHARED_PERMISSIONS = 100;
/** An upper bound of the bytes of a text in memory. */
const bytesOf = (text: string): number => 2 * text.length;

/**
 * Parts of a key as one string. By `join`, because a string made of pieces in any other way stays in pieces (V8's
 * ropes): as a key of a map it takes four times the memory, and finding it twice the time.
 */
const flat = (parts: readonly string[]): string => parts.join('\n');

/** A decision that allows a request, with its reason. */
export interface CachedPermission {
  /** Time until which it holds. */
  readonly until: number;
  readonly reason: string;
}

/** A user whose credentials the pool has verified, with the permissions found since then. */
export class Identity {
  /** Decision key to the permission; all of them were found under `policy`. */
  readonly allowed = new RecentMap<CachedPermission>(IDENTITY_CACHE_BYTES, key => ENTRY_BYTES + bytesOf(key));
  policy = 0;
  /** Permissions that hold as long as the policy, by their reason: one for each, because there are few reasons. */
  readonly shared = new Map<string, CachedPermission>();

  constructor(
    readonly user: User,
    /** The requests that the user has in flight, with these and other credentials. */
    readonly usage: Usage,
    /** Time until which the credentials stand for this user without being verified again. */
    readonly until: number,
    /** Objects that the user was read from: it holds while they are unchanged. */
    readonly objects: readonly ObjectRevision[],
  ) {}

  /** A permission to store in `allowed`. */
  permissionOf(until: number, reason: string): CachedPermission {
    if (Number.isFinite(until)) return { until, reason };
    const found = this.shared.get(reason) ?? { until, reason };
    if (this.shared.size < SHARED_PERMISSIONS) this.shared.set(reason, found);
    return found;
  }
}

/**
 * The credentials of a request as one string: requests with equal strings are from the same user. The headers of
 * impersonation are part of it, so that nothing found for the sender is used for a request made on behalf of another.
 */
export function credentialKey(exchange: Exchange): string {
  const parts = [exchange.certificate ?? (exchange.hasInvalidCertificate ? 'invalid' : '')];
  for (const [name, value] of credentialHeaders(exchange))
    if (name === 'authorization' || name.startsWith('impersonate-')) parts.push(name, value);
  return flat(parts);
}

/**
 * Returns the question to an authorizer as one string: the path determines everything about the target but the verb.
 * Selectors are part of it because authorizers may look at them.
 */
export function decisionKey(route: Route): string {
  const { target } = route;
  const { labels, fields } = selectorTexts(route);
  return flat(labels || fields ? [target.verb, target.path, labels, fields] : [target.verb, target.path]);
}

const expiry = (holds: 'forever' | 'policy' | number, now: number): number =>
  typeof holds === 'number' ? now + holds : Number.POSITIVE_INFINITY;

/**
 * The cache of the identities and permissions of senders, as the pool determined them. They expire independently:
 * permissions are added to an identity while it stays cached. Refusals are not cached.
 */
export class AccessCache {
  readonly #identities = new RecentMap<Identity>(
    ACCESS_CACHE_BYTES,
    (credentials, { allowed }) => IDENTITY_BYTES + bytesOf(credentials) + allowed.weight,
  );
  readonly usages = new Usages();
  /** Raised by every change of a policy object; permissions found before it are void. */
  policy = 0;
  /** The policy revision of the last reset. */
  #resetAt = 0;

  constructor(
    /** The revision of the current object of a key; undefined if there is none. */
    readonly revisionOf: (key: string) => number | undefined,
  ) {}

  /** Forgets all identities, and what the pool has found for requests that were sent to it before. */
  reset(): void {
    this.#identities.clear();
    this.policy++;
    this.#resetAt = this.policy;
  }

  /** The identity of these credentials, if it was found before and still holds. */
  identity(credentials: string, now: number): Identity | undefined {
    const identity = this.#identities.get(credentials);
    if (!identity || identity.until <= now) return undefined;
    return identity.objects.every(({ key, revision }) => this.revisionOf(key) === revision) ? identity : undefined;
  }

  /** The permission for a request, if it was found before and still holds. */
  permission(identity: Identity, key: string, now: number): CachedPermission | undefined {
    if (identity.policy !== this.policy) return undefined;
    const permission = identity.allowed.get(key);
    return permission && permission.until > now ? permission : undefined;
  }

  /**
   * Remembers what the pool found for a request; `policyBefore` is the policy revision that the request was sent to the
   * pool under. Returns the identity, if it may be remembered.
   */
  learn(credentials: string, key: string, grant: Grant, policyBefore: number, now: number): Identity | undefined {
    if (policyBefore < this.#resetAt) return undefined;
    const identity = this.identity(credentials, now) ?? this.#add(credentials, grant, now);
    if (identity && grant.allowed && policyBefore === this.policy) this.#allow(identity, key, grant, now);
    return identity;
  }

  #allow(identity: Identity, key: string, { dependsOn, reason = '' }: Grant, now: number): void {
    if (dependsOn === 'never' || key.length > CACHED_KEY_CHARACTERS) return;
    const before = identity.allowed.weight;
    if (identity.policy !== this.policy) {
      identity.allowed.clear();
      identity.shared.clear();
      identity.policy = this.policy;
    }
    identity.allowed.set(key, identity.permissionOf(expiry(dependsOn, now), reason));
    this.#identities.grow(identity.allowed.weight - before);
  }

  #add(credentials: string, { user, identityFor, objects }: Grant, now: number): Identity | undefined {
    // Unrecognized credentials are unlimited in number: an anonymous identity is remembered only without credentials.
    if (identityFor === 'never' || (user.name === ANONYMOUS.name && credentials !== '')) return undefined;
    const identity = new Identity(user, this.usages.of(user.name), expiry(identityFor, now), objects);
    this.#identities.set(credentials, identity);
    return identity;
  }
}
