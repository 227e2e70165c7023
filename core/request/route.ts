import { hasBuiltInKinds } from '../discovery/plain.js';
import type { ResourceTarget, Target, Verb } from '../model/target.js';
import { withoutTrailing } from '../model/trailing.js';
import type { Registry, Resource, Subresource } from '../schema/resource.js';
import { flag, parseQuery, type Query } from './query.js';

/**
 * Where a request leads. `resource` is missing for a well-formed path below a known group that names nothing served.
 */
export interface Route {
  readonly target: Target;
  readonly query: Query;
  readonly resource?: Resource;
  readonly subresource?: Subresource;
  /**
   * The path is of a resource but names an unknown group version or resource: 404 as a Status (or as text below an
   * unknown group).
   * `namespace`: it leaves the namespace of a named object empty, 400.
   */
  readonly missing?: 'status' | 'text' | 'namespace' | 'object';
  /** The deprecated `/watch/` path, which has GET alone. */
  readonly watchPath?: boolean;
}

const VERBS: ReadonlyMap<string, Verb> = new Map([
  ['POST', 'create'],
  ['PUT', 'update'],
  ['PATCH', 'patch'],
]);

/** Subresources of a namespace: what follows the name of one otherwise is a resource inside of it. */
const OF_NAMESPACE = new Set(['status', 'finalize']);

/**
 * What the method asks for; '' for one that no resource knows. A `/watch/` path asks for a watch whatever the method.
 */
function verbOf(method: string, name: string, sub: string, query: Query, watchPath: boolean): Verb | '' {
  if (watchPath) return 'watch';
  if (method === 'GET' || method === 'HEAD') {
    if (sub === '' && flag(query, 'watch')) return 'watch';
    return name ? 'get' : 'list';
  }
  if (method === 'DELETE') return name ? 'delete' : 'deletecollection';
  return VERBS.get(method) ?? '';
}

/** The path as authorizers and messages know it; undefined for a malformed escape. */
function decodedPath(path: string): string | undefined {
  try {
    return path.includes('%') ? decodeURIComponent(path) : path;
  } catch {
    return undefined;
  }
}

/** `//` inside of a path names nothing, except for a namespace that is left empty; slashes at the end are ignored. */
const emptySegment = (path: string): boolean => withoutTrailing(path, '/').replace('/namespaces//', '').includes('//');

/** Segments that a path is told apart by: those behind them are left out, as no resource has so many. */
const MOST_SEGMENTS = 16;

/** What is between the slashes, without those at the ends. */
const segmentsOf = (path: string): string[] => withoutTrailing(path, '/').replace(/^\/+/, '').split('/', MOST_SEGMENTS);

/**
 * Reads a request line into a route (spec, "Path shapes"). Never throws: an unreadable selector is reported by the
 * stage that needs it.
 */
export function routeOf(registry: Registry, method: string, path: string, rawQuery: string): Route {
  const query = parseQuery(rawQuery);
  const decoded = decodedPath(path);
  const segments = segmentsOf(decoded ?? '');
  const core = segments[0] === 'api';
  const rest = segments.slice(core ? 2 : 3);
  if (decoded === undefined || (!core && segments[0] !== 'apis') || rest.length === 0)
    return { target: { is: 'path', verb: method.toLowerCase(), path: decoded ?? path }, query };
  const groupVersion: [string, string] = core ? ['', segments[1]!] : [segments[1]!, segments[2]!];
  const route = resourceRoute(registry, method, path, query, groupVersion, rest);
  if (!emptySegment(decoded)) return route;
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
  // Served no more, but still judged by a verb of its own.
  const proxyPath = parts[0] === 'proxy' && parts.length > 1;
  let rest = watchPath || proxyPath ? parts.slice(1) : parts;
  let namespace = '';
  const emptyNamespace = rest[1] === '';
  if (rest[0] === 'namespaces' && rest.length > 2 && !OF_NAMESPACE.has(rest[2]!)) {
    namespace = rest[1]!;
    rest = rest.slice(2);
  }
  const [plural = '', name = '', sub = ''] = proxyPath ? rest.slice(0, 2) : rest;
  const resource = proxyPath ? undefined : registry.find(group, version, plural);
  const isNamespaceItself = plural === 'namespaces';
  const target: ResourceTarget = {
    is: 'resource',
    verb: proxyPath ? 'proxy' : verbOf(method, name, sub, query, watchPath),
    group: registry.groups.get(group)?.neutralName ?? group,
    version,
    resource: plural,
    subresource: sub,
    namespace: isNamespaceItself ? name : namespace,
    name,
    path,
  };
  const subresource = resource?.subresources.get(sub);
  const fits =
    resource &&
    (sub === '' || (subresource && !watchPath)) &&
    (!watchPath || resource.custom || resource.verbs.includes('watch')) &&
    (rest.length <= 3 || subresource?.name === 'proxy') &&
    (namespace === '' || resource.namespaced);
  // What is not stored has no objects to name, but for what can be read one by one.
  const nameable = resource?.stored !== false || resource.verbs.includes('get');
  const clean = nameable || name === '' || sub !== '';
  // All namespaces at once can be listed and nothing else: what has no list has no such path.
  const named = !resource?.namespaced || namespace !== '' || (name === '' && resource.verbs.includes('list'));
  if (fits && clean && !named && emptyNamespace) return { target, query, missing: 'namespace' };
  if (resource?.custom && sub !== '' && !subresource && name !== '') return { target, query, missing: 'object' };
  if (!fits || !named || !clean)
    return { target, query, missing: hasBuiltInKinds(registry, group) ? 'status' : 'text' };
  return { target, query, resource, subresource, watchPath };
}
