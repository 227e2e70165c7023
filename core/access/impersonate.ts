import { AUTHENTICATED, completeUser, UNAUTHENTICATED } from './identity.js';
import { dns1123Label, dns1123Subdomain } from '../model/names.js';
import { badRequest } from '../model/refusal.js';
import type { ResourceTarget } from '../model/target.js';
import { ANONYMOUS, type User } from '../model/user.js';

type Headers = readonly (readonly [string, string])[];

const EXTRA = 'impersonate-extra-';
const GROUP = 'authentication.orchestrator.io';

/** A user, group, uid or extra value that a request impersonates: each needs a permission of its own. */
type Part = Pick<ResourceTarget, 'group' | 'resource' | 'subresource' | 'namespace' | 'name'>;

const part = (resource: string, name: string, rest: Partial<Part> = {}): Part => ({
  group: '',
  subresource: '',
  namespace: '',
  ...rest,
  resource,
  name,
});

/** Namespace and name of the service account that a user name stands for; undefined for other users. */
function serviceAccount(name: string): { namespace: string; name: string } | undefined {
  const [system, kind, namespace = '', account = '', ...more] = name.split(':');
  if (system !== 'system' || kind !== 'serviceaccount' || more.length > 0) return undefined;
  if (dns1123Label(namespace).length > 0 || dns1123Subdomain(account).length > 0) return undefined;
  return { namespace, name: account };
}

/** The key of an extra in the name of a header, where it may be percent-encoded. */
function extraKey(header: string): string {
  const encoded = header.slice(EXTRA.length);
  try {
    return decodeURIComponent(encoded);
  } catch {
    return encoded;
  }
}

/** The identity that the headers of a request name (spec, "Impersonation"). */
class ImpersonatedIdentity {
  readonly name: string;
  readonly uid: string;
  readonly groups: readonly string[];
  readonly extra = new Map<string, string[]>();

  constructor(headers: Headers) {
    const first = (name: string): string => headers.find(([given]) => given === name)?.[1] ?? '';
    this.name = first('impersonate-user');
    this.uid = first('impersonate-uid');
    this.groups = headers.filter(([name]) => name === 'impersonate-group').map(([, value]) => value);
    for (const [name, value] of headers) {
      if (!name.startsWith(EXTRA)) continue;
      const key = extraKey(name);
      this.extra.set(key, [...(this.extra.get(key) ?? []), value]);
    }
  }

  /** Whether the request impersonates anything. */
  get isPresent(): boolean {
    return this.name !== '' || this.uid !== '' || this.groups.length > 0 || this.extra.size > 0;
  }

  /** What needs permission. */
  get parts(): Part[] {
    const account = serviceAccount(this.name);
    return [
      account ? part('serviceaccounts', account.name, { namespace: account.namespace }) : part('users', this.name),
      ...this.groups.map(name => part('groups', name)),
      ...Array.from(this.extra, ([subresource, values]) =>
        values.map(value => part('userextras', value, { group: GROUP, subresource })),
      ).flat(),
      ...(this.uid ? [part('uids', this.uid, { group: GROUP })] : []),
    ];
  }

  /**
   * The user. Groups that are named replace those of a service account; the group of authenticated or unauthenticated
   * requests is added.
   */
  get user(): User {
    const account = serviceAccount(this.name);
    const own =
      account && this.groups.length === 0
        ? ['system:serviceaccounts', `system:serviceaccounts:${account.namespace}`]
        : [];
    const user: User = { name: this.name, uid: this.uid, groups: [...own, ...this.groups], extra: this.extra };
    if (user.name !== ANONYMOUS.name) return completeUser(user);
    const hasEither = user.groups.some(group => group === UNAUTHENTICATED || group === AUTHENTICATED);
    return hasEither ? user : { ...user, groups: [...user.groups, UNAUTHENTICATED] };
  }
}

/**
 * The user that the headers of a request impersonate; undefined if they impersonate nobody. `checkPermission` throws
 * unless the sender may impersonate its argument. Throws 400 for groups, uid or extras without a user: the 500 that
 * upstream answers would blame the server.
 */
export async function impersonatedUser(
  headers: Headers,
  checkPermission: (target: ResourceTarget) => Promise<unknown>,
): Promise<User | undefined> {
  const identity = new ImpersonatedIdentity(headers);
  if (!identity.isPresent) return undefined;
  if (!identity.name) throw badRequest('groups, uid or extras requested without impersonating a user');
  for (const one of identity.parts)
    await checkPermission({ is: 'resource', verb: 'impersonate', version: 'v1', path: '', ...one });
  return identity.user;
}
