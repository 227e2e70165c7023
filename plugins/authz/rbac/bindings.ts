import type { ApiObject, Informer, User } from '../../../core/api/index.js';
import type { PolicyRule, RoleRef, Subject } from './policy.js';
import { type CompiledRules, compileRules } from './rules.js';

/** A binding of a user, with the role that it refers to. */
export interface Bound {
  /** Position among all bindings of the scope, which is the order of evaluation. */
  readonly order: number;
  /** The binding in reasons: `RoleBinding "b/ns" of Role "r" to User "u"`. */
  readonly description: string;
  readonly ref: RoleRef;
  /** Where the role is found: its namespace, empty for a ClusterRole, and name. */
  readonly roleKey: string;
}

/** The key of a role in `compiledRoles`. As one flat string: a concatenated one is hashed again for each lookup. */
export const roleKeyOf = ({ kind, name }: RoleRef, namespace: string): string =>
  [kind === 'ClusterRole' ? '' : namespace, name].join('/');

/** Bindings of one scope by their users and groups. */
export interface BindingIndex {
  readonly users: ReadonlyMap<string, readonly Bound[]>;
  readonly groups: ReadonlyMap<string, readonly Bound[]>;
}

/** A role, compiled for evaluation. */
export interface CompiledRole {
  readonly rules: readonly PolicyRule[];
  readonly compiled: CompiledRules;
}

const quote = (text: string): string => JSON.stringify(text);

/**
 * The user name of a User or ServiceAccount subject; undefined for groups, unknown kinds, and service accounts without
 * a namespace.
 */
function userNameOf(subject: Subject, namespace: string): string | undefined {
  if (subject.kind === 'User') return subject.name;
  if (subject.kind !== 'ServiceAccount') return undefined;
  const home = subject.namespace || namespace;
  return home ? `system:serviceaccount:${home}:${subject.name}` : undefined;
}

function describeSubject(subject: Subject, namespace: string): string {
  if (subject.kind !== 'ServiceAccount') return `${subject.kind} ${quote(subject.name)}`;
  return `${subject.kind} ${quote(`${subject.name}/${subject.namespace || namespace}`)}`;
}

function describeBinding(binding: ApiObject, namespace: string, ref: RoleRef, subject: Subject): string {
  const name = binding.metadata.name ?? '';
  const what = namespace ? `RoleBinding ${quote(`${name}/${namespace}`)}` : `ClusterRoleBinding ${quote(name)}`;
  return `${what} of ${ref.kind} ${quote(ref.name)} to ${describeSubject(subject, namespace)}`;
}

/** Adds a binding, once for each key: a binding may name a subject twice. */
function add(map: Map<string, Bound[]>, key: string, bound: Bound): void {
  const list = map.get(key);
  if (list?.at(-1)?.order === bound.order) return;
  if (list) list.push(bound);
  else map.set(key, [bound]);
}

/** Indexes the bindings of one scope. */
export function indexBindings(bindings: readonly ApiObject[], namespace: string): BindingIndex {
  const users = new Map<string, Bound[]>();
  const groups = new Map<string, Bound[]>();
  bindings.forEach((binding, order) => {
    const ref = binding['roleRef'] as RoleRef;
    const roleKey = roleKeyOf(ref, namespace);
    for (const subject of (binding['subjects'] as Subject[] | undefined) ?? []) {
      const bound: Bound = { order, ref, roleKey, description: describeBinding(binding, namespace, ref, subject) };
      const name = userNameOf(subject, namespace);
      if (name !== undefined) add(users, name, bound);
      else if (subject.kind === 'Group') add(groups, subject.name, bound);
    }
  });
  return { users, groups };
}

/** The bindings of a user in order, without duplicates. */
export function boundTo(index: BindingIndex, user: User): readonly Bound[] {
  const lists = [index.users.get(user.name), ...user.groups.map(group => index.groups.get(group))];
  const known = lists.filter(list => list !== undefined);
  if (known.length < 2) return known[0] ?? [];
  const found = known.flat().sort((a, b) => a.order - b.order);
  return found.filter((bound, i) => i === 0 || bound.order !== found[i - 1]?.order);
}

/** Whether a binding has a user, or one of its groups, among its subjects. */
export const isFor = ({ metadata, subjects }: ApiObject, { name, groups }: User): boolean =>
  ((subjects as Subject[] | undefined) ?? []).some(subject =>
    subject.kind === 'Group' ? groups.includes(subject.name) : userNameOf(subject, metadata.namespace ?? '') === name,
  );

/** Caches a value computed from the objects of an informer until they change. */
export function computedFrom<T>(informer: Informer, make: () => T): () => T {
  let at: number | undefined;
  let value: T;
  return () => {
    const { revision } = informer;
    if (at !== revision) {
      value = make();
      at = revision;
    }
    return value;
  };
}

/** The index of a scope without bindings. */
const NO_BINDINGS = indexBindings([], '');

/**
 * The bindings of namespaces, indexed when they are first needed and until one of them changes. Requests may name any
 * namespace, so those without bindings are not remembered.
 */
export class NamespaceBindings {
  readonly #known: () => Map<string, BindingIndex>;

  constructor(readonly bindings: Informer) {
    this.#known = computedFrom(bindings, () => new Map<string, BindingIndex>());
  }

  /** The bindings in a namespace. */
  in(namespace: string): BindingIndex {
    const known = this.#known();
    const index = known.get(namespace);
    if (index) return index;
    const found = this.bindings.list(namespace);
    if (found.length === 0) return NO_BINDINGS;
    const made = indexBindings(found, namespace);
    known.set(namespace, made);
    return made;
  }

  /** The number of namespaces that are remembered. */
  get size(): number {
    return this.#known().size;
  }
}

/**
 * Looks up compiled roles by `roleKeyOf`. A role is compiled when it is first used; the cache is discarded when a role
 * has changed. Roles that do not exist are not remembered.
 */
export function compiledRoles(informer: Informer): (key: string) => CompiledRole | undefined {
  const known = computedFrom(informer, () => new Map<string, CompiledRole>());
  return key => {
    const roles = known();
    let role = roles.get(key);
    if (role === undefined) {
      const slash = key.indexOf('/');
      role = compiledRole(informer.get(key.slice(0, slash), key.slice(slash + 1)));
      if (role) roles.set(key, role);
    }
    return role;
  };
}

function compiledRole(role: ApiObject | undefined): CompiledRole | undefined {
  if (!role) return undefined;
  const rules = (role['rules'] as PolicyRule[] | null | undefined) ?? [];
  return { rules, compiled: compileRules(rules) };
}
