import type { ApiObject } from '../model/object.js';
import { badRequest, methodNotAllowed } from '../model/refusal.js';
import type { Resource, Subresource } from '../schema/resource.js';
import type { Query } from './query.js';

/** Whether a subresource leads away from the server: to a process, a port or a stream of text. */
export const leadsAway = (sub: Subresource | undefined): sub is Subresource => Boolean(sub?.connect || sub?.produces);

/**
 * The name of the object that a proxy path names with scheme and port, `https:name:port`. Throws 400 where there is
 * none.
 */
export function proxiedName(resource: Resource, id: string): string {
  const parts = id.split(':');
  const name = parts.length < 3 ? parts[0] : parts[1];
  const scheme = parts.length === 3 ? parts[0] : '';
  if (parts.length > 3 || !name || !['', 'http', 'https'].includes(scheme ?? ''))
    throw badRequest(`invalid ${resource.singular} request ${JSON.stringify(id)}`);
  return name;
}

/**
 * Ends a request that leads away from the server, which connects to nothing: throws, unless the kind says that there is
 * nothing to read.
 */
export function unconnected(resource: Resource, sub: Subresource, verb: string, object: ApiObject, query: Query): void {
  const answer = resource.strategy.connections?.get(sub.name)?.(object, query);
  if (answer === 'empty') return;
  throw answer ?? methodNotAllowed(`${verb} is not supported on ${resource.plural}/${sub.name} by this server`);
}
