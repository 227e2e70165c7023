/** A reference of an object to one that it belongs to. */
export interface OwnerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller?: boolean;
  readonly blockOwnerDeletion?: boolean;
}

/** The fields that a manager owns, as objects state it. */
export interface ManagedFields {
  readonly manager?: string;
  readonly operation?: 'Apply' | 'Update';
  readonly apiVersion?: string;
  readonly time?: string;
  readonly subresource?: string;
  readonly fieldsV1?: FieldSet;
}

/** Fields by the segments of their path: `f:` and a name, `k:` and the keys of an item, `v:` and a value. */
export interface FieldSet {
  readonly [segment: string]: FieldSet;
}

/** An object of any kind, as far as the console knows it. */
export interface ApiObject {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata: {
    readonly name?: string;
    readonly namespace?: string;
    readonly uid?: string;
    readonly resourceVersion?: string;
    readonly creationTimestamp?: string;
    readonly deletionTimestamp?: string;
    readonly finalizers?: readonly string[];
    readonly ownerReferences?: readonly OwnerReference[];
    readonly managedFields?: readonly ManagedFields[];
  };
  readonly [field: string]: unknown;
}

/** A list of objects, or of a part of them. */
export interface ApiList<T = ApiObject> {
  readonly metadata: { readonly resourceVersion?: string; readonly continue?: string };
  /** Null for an empty list of metadata. */
  readonly items: readonly T[] | null;
}

/** The fields of a value. */
export type Fields = Readonly<Record<string, unknown>>;

/** Whether a value is a map of fields. */
export const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
