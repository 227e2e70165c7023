import { completeUser, UNAUTHENTICATED } from './identity.js';
import { dns1123Label, dns1123Subdomain } from '../model/names.js';
import { badRequest } from '../model/refusal.js';
import type { ResourceTarget } from '../model/target.js';
import { ANONYMOUS, type User } from '../model/user.js';

type Headers = readonly (readonly [string, string])[];

const EXTRA = 'impersonate-extra-';
const API = { group: 'authentication.orchestrator.io', version: 'v1' };

/** A user, group, uid or extra value that a request impersonates. Each requires a permission. */
type Attributes = Pick<ResourceTarget, 'group' | 'version' | 'resource' | 'subresource' | 'namespace' | 'name'>;

const makeAttributes = (resource: string, name: string, rest: Partial<Attributes> = {}): Attributes => ({
  // As in upstream, questions about users, groups and accounts have no version: webhooks see it.
  group: '',
  version: '',
  subresource: '',
  namespace: '',
  ...rest,
  resource,
  name,
});

/** Namespace and name of the service account with this user name; undefined for other users. */
function serviceAccount(name: string): { namespace: string; name: string } | undefined {
  const [system, kind, namespace = '', account = '', ...more] = name.split(':');
  if (system !== 'system' || kind !== 'serviceaccount' || more.length > 0) return undefined;
  if (dns1123Label(namespace).length > 0 || dns1123Subdomain(account).length > 0) return undefined;
  return { namespace, name: account };
}

/** The key of an extra from the name of a header, which may be percent-encoded. */
function extraKey(header: string): string {
  const encoded = header.slice(EXTRA.length);
  try {
    return decodeURIComponent(encoded);
  } catch {
    return encoded;
  }
}

/**
 * An impersonated user, with the groups that the server adds: those of a service account if no groups are given,
 * and that of authenticated or unauthenticated requests.
 */
export function namedUser({ name, groups, ...rest }: User): User {
  const account = serviceAccount(name);
  const own =
    account && groups.length === 0 ? ['system:serviceaccounts', `system:serviceaccounts:${account.namespace}`] : [];
  const user: User = { ...rest, name, groups: [...own, ...groups] };
  if (name !== ANONYMOUS.name) return completeUser(user);
  return user.groups.includes(UNAUTHENTICATED) ? user : { ...user, groups: [...user.groups, UNAUTHENTICATED] };
}

/** The identity in the headers of a request (spec, "Impersonation"). */
class ImpersonatedIdentity {
  readonly name: string;
  readonly uid: string;
  readonly groups: readonly string[];
  readonly extra = new Map<string, string[]>();

  constructor(headers: Headers) {
    const firstHeader = (name: string): string => headers.find(([given]) => given === name)?.[1] ?? '';
    this.name = firstHeader('impersonate-user');
    this.uid = firstHeader('impersonate-uid');
    this.groups = headers.filter(([name]) => name === 'impersonate-group').map(([, value]) => value);
    for (const [name, value] of headers) {
      if (!name.startsWith(EXTRA)) continue;
      const key = extraKey(name);
      this.extra.set(key, [...(this.extra.get(key) ?? []), value]);
    }
  }

  /** Whether the request impersonates anyone. */
  get isPresent(): boolean {
    return this.name !== '' || this.uid !== '' || this.groups.length > 0 || this.extra.size > 0;
  }

  /** The attributes that require a permission. */
  get permissions(): Attributes[] {
    const account = serviceAccount(this.name);
    return [
      account
        ? makeAttributes('serviceaccounts', account.name, { namespace: account.namespace })
        : makeAttributes('users', this.name),
      ...this.groups.map(name => makeAttributes('groups', name)),
      ...Array.from(this.extra, ([subresource, values]) =>
        values.map(value => makeAttributes('userextras', value, { ...API, subresource })),
      ).flat(),
      ...(this.uid ? [makeAttributes('uids', this.uid, API)] : []),
    ];
  }

  /** The impersonated user. */
  get user(): User {
    const { name, uid, groups, extra } = this;
    return namedUser({ name, uid, groups, extra });
  }
}

/**
 * The user that the headers of a request impersonate; undefined if there are none. `checkPermission` throws unless the
 * sender may impersonate its argument. Throws 400 for groups, uid or extras without a user, where upstream answers 500,
 * although the request is wrong and not the server.
 */
export async function impersonatedUser(
  headers: Headers,
  checkPermission: (target: ResourceTarget) => Promise<unknown>,
): Promise<User | undefined> {
  const identity = new ImpersonatedIdentity(headers);
  if (!identity.isPresent) return undefined;
  if (!identity.name) throw badRequest('groups, uid or extras requested without impersonating a user');
  for (const one of identity.permissions)
    await checkPermission({ is: 'resource', verb: 'impersonate', path: '', ...one });
  return identity.user;
}
