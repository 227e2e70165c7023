/** JSON values as they travel in bodies and in the store. */
export type Json = string | number | boolean | null | Json[] | { [key: string]: Json };

/** An object of JSON members whose keys came from outside: only ever read by own key. */
export type JsonObject = { [key: string]: Json | undefined };

/** Reference from a dependent to its owner (spec: ObjectMeta.ownerReferences). */
export interface OwnerReference {
  apiVersion: string;
  kind: string;
  name: string;
  uid: string;
  controller?: boolean;
  blockOwnerDeletion?: boolean;
}

/** One entry of `metadata.managedFields` (spec, "managedFields entry"). */
export interface ManagedFieldsEntry {
  manager?: string;
  operation?: string;
  apiVersion?: string;
  time?: string | null;
  fieldsType?: string;
  fieldsV1?: JsonObject;
  subresource?: string;
}

/**
 * Common metadata of every stored object (spec, "Object envelope and common metadata"). Times are RFC 3339 in UTC,
 * whole seconds.
 */
export interface ObjectMeta {
  name?: string;
  generateName?: string;
  namespace?: string;
  uid?: string;
  resourceVersion?: string;
  generation?: number;
  creationTimestamp?: string | null;
  deletionTimestamp?: string | null;
  deletionGracePeriodSeconds?: number | null;
  labels?: { [key: string]: string };
  annotations?: { [key: string]: string };
  ownerReferences?: OwnerReference[];
  finalizers?: string[];
  managedFields?: ManagedFieldsEntry[];
  selfLink?: string;
}

/** Any API object: envelope, metadata, and members that its kind defines. */
export interface ApiObject {
  apiVersion: string;
  kind: string;
  metadata: ObjectMeta;
  // Members of a kind are only known to its strategy, which narrows them at its own border.
  [member: string]: unknown;
}

/** Deeply read-only view, handed to validators. */
export type Frozen<T> = T extends (infer E)[]
  ? readonly Frozen<E>[]
  : T extends object
    ? { readonly [K in keyof T]: Frozen<T[K]> }
    : T;
