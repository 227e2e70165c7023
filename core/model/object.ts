/** A JSON value. An integer that is not safe as a number, but fits into 64 bits, is a bigint. */
export type Json = string | number | bigint | boolean | null | Json[] | { [key: string]: Json };

/** A JSON object with keys from outside. Only its own members may be read. */
export type JsonObject = { [key: string]: Json | undefined };

/** A reference from a dependent to its owner (`metadata.ownerReferences`). */
export interface OwnerReference {
  apiVersion: string;
  kind: string;
  name: string;
  uid: string;
  controller?: boolean;
  blockOwnerDeletion?: boolean;
}

/** An entry of `metadata.managedFields` (spec, "managedFields entry"). */
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
 * The metadata of every stored object (spec, "Object envelope and common metadata"). Times are in RFC 3339, in UTC and
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

/** An API object of any kind. */
export interface ApiObject {
  apiVersion: string;
  kind: string;
  metadata: ObjectMeta;
  // Members of a kind are known to its strategy only, which narrows their types.
  [member: string]: unknown;
}

/** A deeply read-only type, for validators. Branded strings (`core/model/scalars.ts`) stay as they are. */
export type Frozen<T> = T extends string
  ? T
  : T extends (infer E)[]
    ? readonly Frozen<E>[]
    : T extends object
      ? { readonly [K in keyof T]: Frozen<T[K]> }
      : T;
