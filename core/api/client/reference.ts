import type { BuiltInResources } from '../../../kinds/resources.js';
import type { ApiObject } from '../../model/object.js';

declare const objectType: unique symbol;

/**
 * A resource type as a reference: the result of `defineResource`. It knows the TypeScript type of its objects in the
 * stored version.
 *
 * @example
 * const orders: DefinedResource<Order> = defineResource({ ...names, schema: orderSchema });
 */
export interface DefinedResource<T = unknown> {
  readonly group: string;
  readonly kind: string;
  readonly plural: string;
  readonly scope: 'Namespaced' | 'Cluster';
  readonly versions: readonly { readonly name: string; readonly storage: boolean }[];
  /** Only for inference: it is never set. */
  readonly [objectType]?: T;
}

/**
 * A resource, as clients and controllers name it: a type that `defineResource` has made, or a name with the group
 * before it, in either naming: `pods`, `apps/deployments`, `tea.example.com/orders`.
 *
 * @example
 * const resources: readonly ResourceRef[] = ['namespaces', 'apps/deployments', order];
 */
export type ResourceRef = keyof BuiltInResources | DefinedResource | (string & {});

/**
 * A reference, as far as the compiler knows it: a text must name a built-in resource, or one of a group with a domain,
 * which definitions may have.
 *
 * @example
 * declare function count<const R extends ResourceRef>(resource: CheckedRef<R>): number;
 */
export type CheckedRef<R extends ResourceRef> = R &
  (string extends R
    ? unknown
    : R extends `${string}.${string}/${string}` | DefinedResource
      ? unknown
      : keyof BuiltInResources);

/**
 * The objects of a resource. Those of built-in resources, and of types with a schema by `t`, have types of their own.
 *
 * @example
 * const nodeOf = (pod: ObjectOf<'pods'>) => pod.spec.nodeName;
 */
export type ObjectOf<R> = R extends keyof BuiltInResources
  ? BuiltInResources[R]
  : R extends DefinedResource<infer T>
    ? unknown extends T
      ? ApiObject
      : T
    : ApiObject;

/**
 * A resource that is served, in the version that its objects are stored in. Names are those of the server.
 *
 * @example
 * const path = served.namespaced ? `namespaces/${namespace}/${served.plural}` : served.plural;
 */
export interface ServedResource {
  /** `v1`, or the group and the version: `apps/v1`. */
  readonly apiVersion: string;
  readonly kind: string;
  readonly plural: string;
  readonly namespaced: boolean;
  /** Equal for all versions. */
  readonly storageName: string;
  readonly verbs: readonly string[];
}

/**
 * The resources of a server: those of built-in kinds, of plugins and of the program, and those of definitions that are
 * established.
 *
 * @example
 * const owner = host.resources.byKind(reference.apiVersion, reference.kind);
 */
export interface Resources {
  /** All that are served now, each in one version. */
  list(): readonly ServedResource[];
  /** The resource of a reference; undefined if it is not served now. Throws Error for a name that nothing can have. */
  find(resource: ResourceRef): ServedResource | undefined;
  /** The resource of a kind in one of its served versions. */
  byKind(apiVersion: string, kind: string): ServedResource | undefined;
  /** The resource with a storage name. */
  byStorageName(storageName: string): ServedResource | undefined;
  /** The storage name of a resource, served or not. Throws Error for a name that nothing can have. */
  storageNameOf(resource: ResourceRef): string;
}
