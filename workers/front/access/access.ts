import type { Exchange } from '../../../core/api/listener.js';
import { ACCESS_CACHE_BYTES, CACHED_KEY_CHARACTERS, IDENTITY_CACHE_BYTES } from '../../../core/limits.js';
import { OWN_PAGE_HEADER } from '../../../core/model/wellKnown/ownPage.js';
import type { Route } from '../../../core/request/route.js';
import { selectorTexts } from '../../../core/request/selectors.js';
import { ANONYMOUS, type User } from '../../../core/model/user.js';
import type { Grant, ObjectRevision } from '../../../core/threads/messages/messages.js';
import { RecentMap } from './recentMap.js';
import { type Usage, Usages } from '../fairness/usage.js';
import { credentialHeaders } from '../watch/webSocket.js';
import type { CacheFor } from '../../../core/api/access.js';

/** Bytes of an entry besides its key: its place in a table, and its content. */
const ENTRY_BYTES = 100;
/** Bytes of an identity besides its credentials: its user, and the tables of its decisions. */
const IDENTITY_BYTES = 1000;
/** Permissions with different reasons that one user's keys share. */
const SHARED_PERMISSIONS = 100;
/** Combinations of resources that are remembered: as many as there are combinations of authorizers that decide. */
const RESOURCE_SETS = 100;
/** An upper bound of the bytes of a text in memory. */
const bytesOf = (text: string): number => 2 * text.length;

/**
 * Returns the parts of a key as one string. It uses `join`, because V8 keeps strings that are concatenated in other
 * ways as ropes: as the key of a map, a rope takes four times the memory, and a look-up twice the time.
 */
const flat = (parts: readonly string[]): string => parts.join('\n');

/** All objects of a resource. */
export interface Versioned {
  /** The revision of the last change of one of them. */
  readonly revision: number;
}

/** The objects that identities and permissions depend on, as the front end has them. */
export interface KnownObjects {
  /** The revision up to which all events have been applied. */
  revision(): number;
  /** The revision of the current object of a key; undefined if there is none. */
  revisionOf(key: string): number | undefined;
  /** The objects of a storage name: the same value at every call; undefined for a resource that is not stored. */
  resource(storageName: string): Versioned | undefined;
}

/** A decision that allows a request. */
export interface Permission {
  /** Time until which it may be remembered, in milliseconds since the epoch. */
  readonly until: number;
  readonly reason: string;
  /** The plugin that allows it. */
  readonly allowedBy?: string | undefined;
  /** The decision is based on the objects as they are at this revision. */
  readonly revision: number;
  /** The objects that it depends on. */
  readonly resources: readonly Versioned[];
}

/** Returns true if no object that the decision depends on has changed since. */
export function isCurrent({ revision, resources }: Permission): boolean {
  for (const resource of resources) if (resource.revision > revision) return false;
  return true;
}

/** A user whose credentials the pool has verified, with the permissions found since then. */
export class Identity {
  /** Permissions by decision key. */
  readonly allowed = new RecentMap<Permission>(IDENTITY_CACHE_BYTES, key => ENTRY_BYTES + bytesOf(key));
  /** Permissions without a time limit, by reason. Many keys share one, because there are few reasons. */
  readonly #shared = new Map<string, Permission>();

  constructor(
    readonly user: User,
    /** The requests that the user has in flight, with these and other credentials. */
    readonly usage: Usage,
    /** Time until which the credentials need not be verified again, in milliseconds since the epoch. */
    readonly until: number,
    /** Objects that the user was read from: the user is valid while they are unchanged. */
    readonly objects: readonly ObjectRevision[],
    /** The plugin that has verified the credentials. */
    readonly authenticator?: string,
  ) {}

  /** Returns an equal permission that other keys use already, or else the given one. */
  share(permission: Permission): Permission {
    const { until, reason, resources, allowedBy } = permission;
    if (until !== Number.POSITIVE_INFINITY) return permission;
    const found = this.#shared.get(reason);
    if (found && found.resources === resources && found.allowedBy === allowedBy && isCurrent(found)) return found;
    if (this.#shared.size >= SHARED_PERMISSIONS) this.#shared.clear();
    this.#shared.set(reason, permission);
    return permission;
  }
}

/**
 * The credentials of a request as one string: requests with equal strings are from the same user. The headers of
 * impersonation are part of it, so that nothing found for the sender is used for a request made on behalf of another,
 * and so is the header without which cookies are ignored.
 */
export function credentialKey(exchange: Exchange): string {
  const parts = [exchange.certificate ?? (exchange.hasInvalidCertificate ? 'invalid' : '')];
  for (const [name, value] of credentialHeaders(exchange))
    if (name === 'authorization' || name === OWN_PAGE_HEADER || name.startsWith('impersonate-'))
      parts.push(name, value);
  return flat(parts);
}

/**
 * Returns the question to an authorizer as one string: the path determines everything about the target except the verb.
 * Selectors are part of it because authorizers may look at them.
 */
export function decisionKey(route: Route): string {
  const { target } = route;
  const { labels, fields } = selectorTexts(route);
  const { verb, path } = target;
  // The length tells where the first selector ends: selectors may have line ends, and the other parts have none.
  return flat(labels || fields ? [verb, path, String(labels.length), labels, fields] : [verb, path]);
}

/** The time until which a result found at `now` may be cached; both are in milliseconds since the epoch. */
const expiry = (holds: CacheFor, now: number): number =>
  holds === 'never' ? now : holds === 'forever' ? Number.POSITIVE_INFINITY : now + holds;

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
  /** Number of resets. */
  epoch = 0;
  /** By the names of the resources, so that permissions share the lists. */
  readonly #resources = new Map<string, readonly Versioned[]>();
  /** The resources that permissions depend on. */
  readonly decisive = new Set<Versioned>();

  constructor(
    readonly objects: KnownObjects,
    /** Called for a resource that an authorizer names and that is not stored: its decisions are not cached. */
    readonly unknownResource: (storageName: string) => void = () => undefined,
  ) {}

  /** Forgets all senders. Results of requests that were sent to the pool before are not remembered. */
  reset(): void {
    this.#identities.clear();
    this.epoch++;
  }

  /** The identity of these credentials, if it is cached and still valid. */
  identity(credentials: string, now: number): Identity | undefined {
    const identity = this.#identities.get(credentials);
    if (!identity || identity.until <= now) return undefined;
    return identity.objects.every(({ key, revision }) => this.objects.revisionOf(key) === revision)
      ? identity
      : undefined;
  }

  /** The permission for a request, if it is cached and still valid. */
  permission(identity: Identity, key: string, now: number): Permission | undefined {
    const permission = identity.allowed.get(key);
    return permission && permission.until > now && isCurrent(permission) ? permission : undefined;
  }

  /**
   * The permission of a request that the pool has allowed; undefined if it has refused it. `revision` and `now`: those
   * of the front end when it sent the request to the pool, which has seen that revision or a later one.
   */
  permissionOf(
    { allowed, allowedFor, resources, reason = '', allowedBy }: Grant,
    revision: number,
    now: number,
  ): Permission | undefined {
    if (!allowed) return undefined;
    const found = this.#resourcesOf(resources);
    if (!found) return { until: now, reason, allowedBy, revision, resources: [] };
    return { until: expiry(allowedFor, now), reason, allowedBy, revision, resources: found };
  }

  /**
   * Remembers the findings of the pool for a request: the sender, and the permission, if there is one. Returns the
   * identity, if it may be remembered.
   */
  learn(
    credentials: string,
    key: string,
    grant: Grant,
    permission: Permission | undefined,
    now: number,
  ): Identity | undefined {
    const identity = this.identity(credentials, now) ?? this.#add(credentials, grant, now);
    if (identity && permission) this.#identities.grow(this.allow(identity, key, permission, now));
    return identity;
  }

  /** Remembers a permission of an identity, if it may be. Returns by how many bytes the identity has grown. */
  allow(identity: Identity, key: string, permission: Permission, now: number): number {
    if (permission.until <= now || key.length > CACHED_KEY_CHARACTERS || !isCurrent(permission)) return 0;
    const before = identity.allowed.weight;
    identity.allowed.set(key, identity.share(permission));
    return identity.allowed.weight - before;
  }

  /** A user who needs no credentials. Permissions found for the user are kept as long as the identity is referenced. */
  identityOf(user: User): Identity {
    return new Identity(user, this.usages.of(user.name), Number.POSITIVE_INFINITY, []);
  }

  /** The resources of these names; undefined if one of them is not stored. */
  #resourcesOf(names: readonly string[]): readonly Versioned[] | undefined {
    const key = names.join();
    const known = this.#resources.get(key);
    if (known) return known;
    const found: Versioned[] = [];
    for (const name of names) {
      const resource = this.objects.resource(name);
      if (!resource) {
        this.unknownResource(name);
        return undefined;
      }
      found.push(resource);
      this.decisive.add(resource);
    }
    if (this.#resources.size < RESOURCE_SETS) this.#resources.set(key, found);
    return found;
  }

  #add(credentials: string, { user, identityFor, objects, authenticator }: Grant, now: number): Identity | undefined {
    // Unrecognized credentials are unlimited in number: an anonymous identity is remembered only without credentials.
    if (identityFor === 'never' || (user.name === ANONYMOUS.name && credentials !== '')) return undefined;
    const until = expiry(identityFor, now);
    const identity = new Identity(user, this.usages.of(user.name), until, objects, authenticator);
    this.#identities.set(credentials, identity);
    return identity;
  }
}
