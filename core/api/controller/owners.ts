import type { ApiObject, Frozen, OwnerReference } from '../../model/object.js';

/**
 * The reference to an object that controls another one, for `metadata.ownerReferences`: the other one is deleted with
 * it, and a reconciler that `owns` its resource is called for its changes.
 *
 * @example
 * const metadata = { name, namespace, ownerReferences: [ownerReference(order)] };
 */
export const ownerReference = ({ apiVersion, kind, metadata }: Frozen<ApiObject>): OwnerReference => ({
  apiVersion,
  kind,
  name: metadata.name ?? '',
  uid: metadata.uid ?? '',
  controller: true,
  blockOwnerDeletion: true,
});

/** The group of an apiVersion; '' for `v1`. */
const groupIn = (apiVersion: string): string => apiVersion.slice(0, Math.max(0, apiVersion.lastIndexOf('/')));

/**
 * The name of the object of a group and kind that controls an object; undefined if none does.
 *
 * @example
 * const name = controllerOf(pod, 'tea.example.com/v1', 'Order');
 */
export const controllerOf = ({ metadata }: Frozen<ApiObject>, apiVersion: string, kind: string): string | undefined =>
  metadata.ownerReferences?.find(
    owner => owner.controller && owner.kind === kind && groupIn(owner.apiVersion) === groupIn(apiVersion),
  )?.name;
