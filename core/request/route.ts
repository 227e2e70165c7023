import { hasBuiltInKinds } from '../services/discovery/plain.js';
import type { ResourceTarget, Target, Verb } from '../model/target.js';
import { withoutTrailing } from '../model/text/trailing.js';
import type { Registry, Resource, Subresource } from '../schema/resource.js';
import { parseFlag, parseQuery, type Query } from './query.js';

/** The result of parsing a request line. */
export interface Route {
  readonly target: Target;
  readonly query: Query;
  /** Absent: the path names no resource that is served. */
  readonly resource?: Resource;
  readonly subresource?: Subresource;
  /**
   * How a path below `/api` or `/apis` without a served resource is answered: 404 as a Status or, below an unknown
   * group, as text; `object`: 404 for the object that the path names; `namespace`: 400 because the namespace is
   * missing.
   */
  readonly missing?: 'status' | 'text' | 'namespace' | 'object';
  /** The warning of a deprecated version that serves the object in the path but not its subresource. */
  readonly warning?: string | undefined;
  /** Whether the path has the deprecated form with `/watch/`, which supports only GET. */
  readonly watchPath?: boolean;
  /**
   * Whether the parameter `watch` requests a watch of a single object. Authorizers see the verb `get`, as upstream's
   * do.
   */
  readonly watchesOne?: boolean;
}

/** Whether the answer is a stream of changes. */
export const isWatch = ({ target, watchesOne }: Route): boolean =>
  watchesOne === true || (target.is === 'resource' && target.verb === 'watch');

const VERBS: ReadonlyMap<string, Verb> = new Map([
  ['POST', 'create'],
  ['PUT', 'update'],
  ['PATCH', 'patch'],
]);

/** Subresources of namespaces. Any other segment after the name is a resource in the namespace. */
const NAMESPACE_SUBRESOURCES = new Set(['status', 'finalize']);

/** The verb of a method; '' for methods that no resource supports. On a `/watch/` path every method is a watch. */
function verbOf(method: string, name: string, query: Query, watchPath: boolean): Verb | '' {
  if (watchPath) return 'watch';
  if (method === 'GET' || method === 'HEAD') {
    if (name) return 'get';
    return parseFlag(query, 'watch') ? 'watch' : 'list';
  }
  if (method === 'DELETE') return name ? 'delete' : 'deletecollection';
  return VERBS.get(method) ?? '';
}

/** Whether a path has a `%` without two hexadecimal digits after it (RFC 3986, 2.1). */
export const isMalformedPath = (path: string): boolean => path.includes('%') && /%(?![\dA-Fa-f]{2})/.test(path);

/** The path without escapes, as authorizers and messages show it; undefined for a malformed escape. */
export function decodePath(path: string): string | undefined {
  try {
    return path.includes('%') ? decodeURIComponent(path) : path;
  } catch {
    return undefined;
  }
}

/** Whether a path contains `//`, except for an empty namespace and slashes at its end. */
const hasEmptySegment = (path: string): boolean =>
  withoutTrailing(path, '/').replace('/namespaces//', '').includes('//');

/** The most segments that are parsed. Paths of resources have fewer. */
const MAX_SEGMENTS = 16;

/** The segments of a path; slashes at its ends are ignored. */
const segmentsOf = (path: string): string[] => withoutTrailing(path, '/').replace(/^\/+/, '').split('/', MAX_SEGMENTS);

/** Parses a request line (spec, "Path shapes"). Never throws. */
export function parseRoute(registry: Registry, method: string, path: string, rawQuery: string): Route {
  const query = parseQuery(rawQuery);
  const decoded = decodePath(path);
  const segments = segmentsOf(decoded ?? '');
  const core = segments[0] === 'api';
  const rest = segments.slice(core ? 2 : 3);
  if (decoded === undefined || (!core && segments[0] !== 'apis') || rest.length === 0)
    return { target: { is: 'path', verb: method.toLowerCase(), path: decoded ?? path }, query };
  const groupVersion: [string, string] = core ? ['', segments[1]!] : [segments[1]!, segments[2]!];
  const route = resourceRoute(registry, method, path, query, groupVersion, rest);
  if (!hasEmptySegment(decoded)) return route;
  const [group] = groupVersion;
  const known = path.startsWith('/api') && (core || (group !== '' && hasBuiltInKinds(registry, group)));
  return { target: route.target, query, missing: known ? 'status' : 'text' };
}

function resourceRoute(
  registry: Registry,
  method: string,
  path: string,
  query: Query,
  [group, version]: [string, string],
  parts: string[],
): Route {
  const watchPath = parts[0] === 'watch' && parts.length > 1;
  // Such paths are no longer served. Authorizers get the verb `proxy`.
  const proxyPath = parts[0] === 'proxy' && parts.length > 1;
  let rest = watchPath || proxyPath ? parts.slice(1) : parts;
  const hasEmptyNamespace = rest[1] === '';
  // Below `namespaces`, the next segment is a namespace, even if it is the object that the path names.
  const namespace = rest[0] === 'namespaces' ? (rest[1] ?? '') : '';
  const isInside = rest[0] === 'namespaces' && rest.length > 2 && !NAMESPACE_SUBRESOURCES.has(rest[2]!);
  if (isInside) rest = rest.slice(2);
  const [plural = '', name = '', sub = ''] = proxyPath ? rest.slice(0, 2) : rest;
  const resource = proxyPath ? undefined : registry.find(group, version, plural);
  const target: ResourceTarget = {
    is: 'resource',
    verb: proxyPath ? 'proxy' : verbOf(method, name, query, watchPath),
    group: registry.groups.get(group)?.neutralName ?? group,
    version,
    resource: plural,
    subresource: sub,
    namespace,
    name,
    path,
  };
  const subresource = resource?.subresources.get(sub);
  const isServed =
    resource &&
    (sub === '' || (subresource && !watchPath)) &&
    (!watchPath || resource.custom || resource.verbs.includes('watch')) &&
    // Upstream ignores the rest of the path after the subresource of a custom kind.
    (rest.length <= 3 || resource.custom || subresource?.name === 'proxy') &&
    (namespace === '' || resource.namespaced || !(isInside || resource.custom));
  // Paths cannot name objects of virtual resources, unless these can be read one by one.
  const hasObjects = resource?.stored !== false || resource.verbs.includes('get');
  const isName = hasObjects || name === '' || sub !== '';
  // A path without name and namespace is of all namespaces; for custom kinds only if it is a list or a watch.
  const isOfAll = name === '' && (!resource?.custom || target.verb === 'list' || target.verb === 'watch');
  const hasScope = !resource?.namespaced || namespace !== '' || (isOfAll && resource.verbs.includes('list'));
  if (isServed && isName && !hasScope && hasEmptyNamespace) return { target, query, missing: 'namespace' };
  if (resource?.custom && sub !== '' && !subresource && name !== '')
    return { target, query, missing: 'object', warning: resource.warning };
  if (!isServed || !hasScope || !isName)
    return { target, query, missing: hasBuiltInKinds(registry, group) ? 'status' : 'text' };
  const watchesOne =
    target.verb === 'get' && sub === '' && resource.verbs.includes('watch') && parseFlag(query, 'watch');
  return { target, query, resource, subresource, watchPath, watchesOne };
}
