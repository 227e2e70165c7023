import type { ApiObject } from '../model/object.js';
import { badRequest, methodNotAllowed } from '../model/refusal.js';
import type { Resource, Subresource } from '../schema/resource.js';
import type { Query } from './query.js';

/** Whether a subresource is a connection to a process or port, or a stream of text (`exec`, `proxy`, `log`). */
export const isConnect = (sub: Subresource | undefined): sub is Subresource => Boolean(sub?.connect || sub?.produces);

/** The name of the object in a path. For a proxy, the path may add a scheme and a port. Throws 400. */
export const objectName = (resource: Resource, sub: Subresource | undefined, name: string): string =>
  sub?.name === 'proxy' ? parseProxyName(resource, name) : name;

/** The name of the object in `name`, `name:port` or `https:name:port`. Throws 400 for other forms. */
function parseProxyName(resource: Resource, id: string): string {
  const parts = id.split(':');
  const name = parts.length < 3 ? parts[0] : parts[1];
  const scheme = parts.length === 3 ? parts[0] : '';
  if (parts.length > 3 || !name || !['', 'http', 'https'].includes(scheme ?? ''))
    throw badRequest(`invalid ${resource.singular} request ${JSON.stringify(id)}`);
  return name;
}

/**
 * Refuses a connection: throws the refusal of the kind or, if it has none, 405, because the server forwards no
 * connections. Returns only if the kind answers with an empty body.
 */
export function refuseConnect(
  resource: Resource,
  sub: Subresource,
  verb: string,
  object: ApiObject,
  query: Query,
): void {
  const answer = resource.strategy.connections?.get(sub.name)?.(object, query);
  if (answer === 'empty') return;
  throw answer ?? methodNotAllowed(`${verb} is not supported on ${resource.plural}/${sub.name} by this server`);
}
