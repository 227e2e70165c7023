import { methodNotAllowed, Refusal } from '../../../core/model/refusal.js';
import { isWatch, type Route } from '../../../core/request/route.js';

/** Whether a resource has the verb that the method stands for. True for paths that name no resource. */
export function isMethodAllowed(method: string, { resource, subresource, target, watchPath }: Route): boolean {
  if (target.is === 'path' || !resource) return true;
  // Upstream routes built-in kinds by method, custom kinds by verb; a proxy passes on any method.
  if (method === 'HEAD' && !resource.custom && subresource?.name !== 'proxy') return false;
  if (watchPath && method !== 'GET') return false;
  const needsName = target.verb === 'update' || target.verb === 'patch';
  const needsNoName = target.verb === 'create' && !subresource;
  if (!resource.custom && (target.name === '' ? needsName : needsNoName)) return false;
  if (!(subresource ?? resource).verbs.includes(target.verb)) return false;
  const isOfAllNamespaces = resource.namespaced && target.namespace === '';
  return !isOfAllNamespaces || ['list', 'watch'].includes(target.verb) || !resource.stored;
}

/**
 * Whether a request changes a resource, or connects to a process or port, which admission decides about as well. All
 * others are answered without a body.
 */
export const isWrite = (method: string, route: Route): boolean =>
  (method !== 'GET' || route.subresource?.connect === true) &&
  method !== 'HEAD' &&
  route.target.is === 'resource' &&
  route.missing === undefined &&
  isMethodAllowed(method, route);

/** 405 for a verb that the resource does not have; custom kinds have a message of their own. */
export function methodNotAllowedError({ resource, target }: Route): Refusal {
  if (!resource?.custom || target.is !== 'resource') return methodNotAllowed();
  const { group, plural } = resource;
  const text = `${target.verb} is not supported on resources of kind ${JSON.stringify(`${plural}.${group}`)}`;
  return new Refusal('MethodNotAllowed', text, { group, kind: plural });
}

/** Subresources whose requests last as long as the client wants. */
const LONG_SUBRESOURCES = new Set(['attach', 'exec', 'proxy', 'log', 'portforward']);

/** Whether a request may take as long as the client likes. */
export const isLong = (route: Route): boolean =>
  isWatch(route) || (route.target.is === 'resource' && LONG_SUBRESOURCES.has(route.target.subresource));
