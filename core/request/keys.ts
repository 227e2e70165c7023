import type { Resource } from '../schema/resource.js';

/** The prefix of the keys of a resource, or of its objects in one namespace. */
export const prefixOf = (resource: Resource, namespace: string): string =>
  `${resource.storageName}/${resource.namespaced && namespace ? `${namespace}/` : ''}`;

/** The key of an object in the store. */
export const keyOf = (resource: Resource, namespace: string, name: string): string =>
  prefixOf(resource, namespace) + name;
