import { pathOf, queryOf } from '../../api/client/paths.js';
import type { ObjectOf, ResourceRef, Resources, ServedResource } from '../../api/client/reference.js';
import { ObjectRequests, servedAs } from '../../api/client/requests.js';
import type { ApiObject } from '../../model/object.js';
import { ANONYMOUS, type User } from '../../model/user.js';
import { fixedResourcesOf, ServedResources } from '../../plugin/servedResources.js';
import type { Registry } from '../../schema/resource.js';
import type { ProgramRequests } from './requests.js';
import type { ServerUser, WatchedResourceClient, WatchEvent, WatchOptions } from './types.js';

/** The user with a name and groups, as an authenticator would return it. Throws TypeError. */
export function userOf(name: string, groups: readonly string[] = []): User {
  if (typeof name !== 'string' || name === '') throw new TypeError('as: the name of a user must be a text');
  if (!Array.isArray(groups) || groups.some(group => typeof group !== 'string' || group === ''))
    throw new TypeError('as: the groups of a user must be a list of texts');
  if (name === ANONYMOUS.name) return ANONYMOUS;
  return { name, uid: '', groups: [...groups, 'system:authenticated'], extra: new Map() };
}

/** The resources of a registry that changes. */
export function liveResources(registry: () => Registry): Resources {
  let last: { readonly of: Registry; readonly resources: ServedResources } | undefined;
  const current = (): ServedResources => {
    const of = registry();
    if (last?.of !== of) last = { of, resources: new ServedResources(fixedResourcesOf(of)) };
    return last.resources;
  };
  return {
    list: () => current().list(),
    find: resource => current().find(resource),
    byKind: (apiVersion, kind) => current().byKind(apiVersion, kind),
    byStorageName: name => current().byStorageName(name),
    storageNameOf: resource => current().storageNameOf(resource),
  };
}

/** The objects of a resource, with their changes. */
class WatchedRequests extends ObjectRequests implements WatchedResourceClient<ApiObject> {
  constructor(
    readonly user: User,
    readonly requests: ProgramRequests,
    served: () => ServedResource,
  ) {
    super(request => requests.send(user, request), served);
  }

  watch({ namespace = '', signal, ...selection }: WatchOptions = {}): AsyncIterable<WatchEvent<ApiObject>> {
    const path = pathOf(this.served(), namespace) + queryOf({ watch: 'true', ...selection });
    return this.requests.watch(this.user, path, signal);
  }
}

/** A user of the server inside its process. */
export const serverUser = (user: User, requests: ProgramRequests, resources: Resources): ServerUser => ({
  client: {
    resource: <const R extends ResourceRef>(resource: R) =>
      // The server answers with objects of the kind.
      new WatchedRequests(user, requests, () => servedAs(resource, resources)) as unknown as WatchedResourceClient<
        ObjectOf<R>
      >,
    request: request => requests.send(user, request),
  },
  request: (method, path, request = {}) => requests.request(user, method, path, request),
});
