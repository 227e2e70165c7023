import type { Resource } from '../schema/resource.js';

/** The key of an object in the store. `namespace` is '' for objects without a namespace. */
export const objectKey = (storageName: string, namespace: string, name: string): string =>
  `${storageName}/${namespace ? `${namespace}/` : ''}${name}`;

/** The prefix of the keys of a resource, or of its objects in one namespace. */
export const prefixOf = (resource: Resource, namespace: string): string =>
  objectKey(resource.storageName, resource.namespaced ? namespace : '', '');

/** The key in the store of an object of a resource. */
export const keyOf = (resource: Resource, namespace: string, name: string): string =>
  prefixOf(resource, namespace) + name;
