import { deepFreeze } from '../../api/checks/freeze.js';
import type { ApiObject } from '../../model/object.js';
import type { ResourceTarget, Target } from '../../model/target.js';
import type { User } from '../../model/user.js';
import type { Change, ChangeView } from '../../api/admission.js';
import type { Received } from '../../api/access.js';

/**
 * Texts that clients may send instead of any other: empty, long, unusual, and names of members that all objects have.
 */
export const HOSTILE_TEXTS: readonly string[] = [
  '',
  ' ',
  'x'.repeat(64 * 1024),
  '\u0000',
  '💥\u202e',
  '../../etc/passwd',
  '__proto__',
  'constructor',
  'toString',
  '{"a":1}',
  '%00%ff',
  ':'.repeat(1000),
];

/** The parts of the request of a test. Header names are lower case. */
export interface ReceivedSample {
  readonly headers?: { readonly [name: string]: string };
  readonly certificate?: string;
  readonly remoteAddress?: string;
  readonly path?: string;
}

/**
 * A request as an authenticator sees it.
 *
 * @example
 * await keys.authenticate(received({ headers: { 'x-api-key': 'secret' } }));
 */
export function received(sample: ReceivedSample = {}): Received & { readonly warnings: readonly string[] } {
  const headers = new Map(Object.entries(sample.headers ?? {}));
  const warnings: string[] = [];
  return {
    header: name => headers.get(name),
    headers: () => [...headers],
    ...(sample.certificate === undefined ? {} : { certificate: sample.certificate }),
    remoteAddress: sample.remoteAddress ?? '127.0.0.1',
    path: sample.path ?? '/api/v1/namespaces/default/configmaps',
    warn: text => void warnings.push(text),
    warnings,
  };
}

/**
 * A user with these groups.
 *
 * @example
 * authorizer.authorize(user('ann', 'team:red'), target({ verb: 'list' }));
 */
export const user = (name: string, ...groups: readonly string[]): User => ({
  name,
  uid: '',
  groups: [...groups, 'system:authenticated'],
  extra: new Map(),
});

/**
 * The target of a request for ConfigMaps of the namespace `default`, with the given attributes replaced.
 *
 * @example
 * target({ verb: 'delete', resource: 'secrets', name: 'a' });
 */
export const target = (attributes: Partial<ResourceTarget> = {}): ResourceTarget => ({
  is: 'resource',
  verb: 'get',
  group: '',
  version: 'v1',
  resource: 'configmaps',
  subresource: '',
  namespace: 'default',
  name: 'sample',
  path: '/api/v1/namespaces/default/configmaps/sample',
  ...attributes,
});

/** Targets of all forms, some with unusual names. */
export const ALL_TARGETS: readonly Target[] = [
  ...(['get', 'list', 'watch', 'create', 'update', 'patch', 'delete', 'deletecollection', ''] as const).map(verb =>
    target({ verb }),
  ),
  target({ namespace: '', resource: 'namespaces', name: 'default' }),
  target({ group: 'apps', resource: 'deployments', subresource: 'scale' }),
  ...HOSTILE_TEXTS.flatMap(text => [target({ namespace: text }), target({ name: text }), target({ resource: text })]),
  { is: 'path', verb: 'get', path: '/version' },
  { is: 'path', verb: 'post', path: '/\u0000' },
];

/**
 * The creation of a ConfigMap by `user('tess')`, with the given members replaced.
 *
 * @example
 * validator.validate(change({ operation: 'UPDATE', old }), object);
 */
export const change = (members: Partial<Change> = {}): Change => ({
  operation: 'CREATE',
  target: target({ verb: 'create' }),
  kind: 'ConfigMap',
  user: user('tess'),
  dryRun: false,
  repeated: false,
  view: VIEW,
  warn: () => undefined,
  annotate: () => undefined,
  beginSideEffects: () => undefined,
  charge: () => undefined,
  ...members,
});

/** Shows ConfigMaps as they are. */
const VIEW: ChangeView = {
  resource: { group: '', version: 'v1', resource: 'configmaps' },
  kind: { group: '', version: 'v1', kind: 'ConfigMap' },
  subresource: '',
  name: 'sample',
  equivalents: () => [],
  options: () => ({ kind: 'CreateOptions', apiVersion: 'meta.orchestrator.io/v1' }),
  show: object => object,
  showOld: () => undefined,
  merge: (_kind, shown) => shown,
  accept: () => undefined,
};

/** A copy that cannot be changed. */
export function frozenCopy<T>(value: T): T {
  const copy = structuredClone(value);
  deepFreeze(copy);
  return copy;
}

/** A copy of a change that cannot be changed; its functions are shared. */
export function frozenChange({ view, warn, annotate, beginSideEffects, charge, ...data }: Change): Change {
  return Object.freeze({ ...frozenCopy(data), view, warn, annotate, beginSideEffects, charge });
}

/** The variants of an object in which one member, at any depth, is missing. */
export function withoutMembers(object: ApiObject): ApiObject[] {
  const less: ApiObject[] = [];
  const visit = (value: unknown, path: readonly string[]): void => {
    if (typeof value !== 'object' || value === null) return;
    for (const key of Object.keys(value)) {
      const at = [...path, key];
      if (!['kind', 'apiVersion', 'metadata'].includes(at.join('.'))) less.push(without(object, at));
      visit((value as { readonly [member: string]: unknown })[key], at);
    }
  };
  visit(object, []);
  return less;
}

function without(object: ApiObject, path: readonly string[]): ApiObject {
  const copy = structuredClone(object);
  const parent = path.slice(0, -1).reduce<unknown>((value, key) => (value as Record<string, unknown>)[key], copy);
  const last = path.at(-1)!;
  if (Array.isArray(parent)) parent.splice(Number(last), 1);
  else delete (parent as Record<string, unknown>)[last];
  return copy;
}
