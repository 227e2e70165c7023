import { AUTHENTICATED, completeUser, UNAUTHENTICATED } from './identity.js';
import { dns1123Label, dns1123Subdomain } from '../model/names.js';
import { badRequest } from '../model/refusal.js';
import type { ResourceTarget } from '../model/target.js';
import { ANONYMOUS, type User } from '../model/user.js';

type Headers = readonly (readonly [string, string])[];

const EXTRA = 'impersonate-extra-';
const GROUP = 'authentication.orchestrator.io';

/** One thing somebody wants to act as: the permission to do so is asked for each. */
type Part = Pick<ResourceTarget, 'group' | 'resource' | 'subresource' | 'namespace' | 'name'>;

const part = (resource: string, name: string, rest: Partial<Part> = {}): Part => ({
  group: '',
  subresource: '',
  namespace: '',
  ...rest,
  resource,
  name,
});

/** Namespace and name of a service account's user name; undefined for any other. */
function serviceAccount(name: string): { namespace: string; name: string } | undefined {
  const [system, kind, namespace = '', account = '', ...more] = name.split(':');
  if (system !== 'system' || kind !== 'serviceaccount' || more.length > 0) return undefined;
  if (dns1123Label(namespace).length > 0 || dns1123Subdomain(account).length > 0) return undefined;
  return { namespace, name: account };
}

/** The key of an extra in a header's name: percent-encoded where a header's name could not hold it. */
function extraKey(header: string): string {
  const encoded = header.slice(EXTRA.length);
  try {
    return decodeURIComponent(encoded);
  } catch {
    return encoded;
  }
}

/** What the headers of one request ask for (spec 2, "Impersonation"). */
class Wanted {
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

  /** Some header asks for something. */
  get any(): boolean {
    return this.name !== '' || this.uid !== '' || this.groups.length > 0 || this.extra.size > 0;
  }

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
   * The identity: groups that were named count alone, but for the one of everybody who is known, or of nobody who is.
   */
  get user(): User {
    const account = serviceAccount(this.name);
    const own =
      account && this.groups.length === 0
        ? ['system:serviceaccounts', `system:serviceaccounts:${account.namespace}`]
        : [];
    const user: User = { name: this.name, uid: this.uid, groups: [...own, ...this.groups], extra: this.extra };
    if (user.name !== ANONYMOUS.name) return completeUser(user);
    const told = user.groups.some(group => group === UNAUTHENTICATED || group === AUTHENTICATED);
    return told ? user : { ...user, groups: [...user.groups, UNAUTHENTICATED] };
  }
}

/**
 * Who the headers of a request make of its sender; undefined where they ask for nothing. `may` throws unless the sender
 * may act as that. Throws 400 where more than the name is asked for without one: upstream's 500 would blame the server
 * for it.
 */
export async function impersonated(
  headers: Headers,
  may: (target: ResourceTarget) => Promise<unknown>,
): Promise<User | undefined> {
  const wanted = new Wanted(headers);
  if (!wanted.any) return undefined;
  if (!wanted.name) throw badRequest('groups, uid or extras requested without impersonating a user');
  for (const one of wanted.parts) await may({ is: 'resource', verb: 'impersonate', version: 'v1', path: '', ...one });
  return wanted.user;
}
