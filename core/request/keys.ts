import type { Resource } from '../schema/resource.js';

/** Key prefix of a collection or of one namespace in it. */
export const prefixOf = (resource: Resource, namespace: string): string =>
  `${resource.storageName}/${resource.namespaced && namespace ? `${namespace}/` : ''}`;

/** Key of one object. */
export const keyOf = (resource: Resource, namespace: string, name: string): string =>
  prefixOf(resource, namespace) + name;
