import type { Strategy } from '../api/strategy.js';
import type { ConversionWebhook } from '../api/resource/conversion.js';
import type { StructuralSchema } from '../api/resource.js';
import type { ApiObject, Json } from '../model/object.js';
import type { Growth } from './custom/defaults.js';
import type { Struct } from './model.js';

/** A subresource of a resource. */
export interface Subresource {
  readonly name: string;
  readonly kind: string;
  readonly group: string;
  readonly version: string;
  readonly verbs: readonly string[];
  /** Further versions that a body may have. They have the same form. */
  readonly otherVersions?: readonly string[];
  /** Type of the body; undefined for `connect`-like subresources without one. */
  readonly type?: Struct;
  /** Type of the query parameters, if any. */
  readonly options?: Struct;
  /** Whether it upgrades or forwards the connection (exec, proxy). */
  readonly connect?: boolean;
  /** Media type of the answer, if it is not an object. */
  readonly produces?: string;
}

/** Decodes and reads the objects of a custom kind. */
export interface CustomSchema {
  /** The published schema. */
  readonly schema: StructuralSchema;
  /**
   * Decodes the object of a body: decodes metadata, removes unknown fields and reports them to `strictErrors`, removes
   * nulls unless it `keepsNulls`, and applies defaults. Does not change `value`. Throws TypeMismatch for malformed
   * metadata, and Refusal 422 for defaults that make the object too large.
   */
  decode(value: { readonly [key: string]: Json }, strictErrors: string[], keepsNulls?: boolean): ApiObject;
  /**
   * Converts a stored object, written with any version and schema, to this version. `growth` counts the bytes that
   * defaults add to all objects that are read at once. Throws Refusal 422 if that is too much.
   */
  read(object: ApiObject, growth?: Growth): ApiObject;
  /** Reads a stored object that was written in this version, possibly with another schema. Otherwise like `read`. */
  readOwn(object: ApiObject, growth?: Growth): ApiObject;
  /** Converts a complete object of any version to this one, without applying defaults. */
  convert(object: ApiObject): ApiObject;
  /** Removes unknown fields and nulls from an object that was converted to this version. */
  accept(object: ApiObject): ApiObject;
}

/** A resource of a group version, to which requests are routed. All names are in the server's naming. */
export interface Resource {
  readonly group: string;
  readonly version: string;
  /** `v1` or `group/version`. */
  readonly apiVersion: string;
  readonly plural: string;
  readonly singular: string;
  readonly kind: string;
  readonly listKind: string;
  readonly namespaced: boolean;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly verbs: readonly string[];
  readonly subresources: ReadonlyMap<string, Subresource>;
  readonly type: Struct;
  /** Type of lists; built-in kinds only. */
  readonly listType?: Struct;
  /** Feature gate that guards the resource. */
  readonly gate?: string;
  /** False for virtual kinds (reviews, bindings). */
  readonly stored: boolean;
  /** Whether the kind is built in. Other kinds come from definitions and have a `custom` schema. */
  readonly builtIn: boolean;
  /**
   * Prefix of its keys in the store: `<group or core>/<plural>`, equal for all versions (and for both Event groups);
   * `customStorageName` for other kinds.
   */
  readonly storageName: string;
  /** The storage version; equals `apiVersion` if no conversion is needed. */
  readonly storageApiVersion: string;
  readonly strategy: Strategy;
  /** The schema of a custom kind. */
  readonly custom?: CustomSchema;
  /** The schema of any version of a custom kind, served or not; undefined for one that its definition lacks. */
  readonly schemaOf?: (apiVersion: string) => CustomSchema | undefined;
  /** The verbs in discovery documents, if they are not `verbs`. */
  readonly discoveredVerbs?: readonly string[];
  /** Whether objects are stored in a version that is not served, of which discovery documents show no hash. */
  readonly hidesStorageVersion?: boolean;
  /** The webhook that converts objects between versions. */
  readonly webhook?: ConversionWebhook;
  /** Objects up to this revision may have been written with another schema and must be read with `custom.read`. */
  readonly changedAt?: number;
  /** Text of the Warning header in answers of this version. */
  readonly warning?: string;
  /** Whether this version is the preferred one of its group. */
  readonly preferred?: boolean;
  /** The deprecation of this version, if any. */
  readonly deprecation?: {
    readonly introduced?: string;
    readonly deprecated?: string;
    readonly removed?: string;
    readonly replacement?: string;
  };
}

/** A group version with its resources by plural name. */
export interface GroupVersion {
  readonly group: string;
  readonly version: string;
  readonly apiVersion: string;
  readonly stability: 'ga' | 'beta' | 'alpha';
  /** Whether it is served. Disabled versions are included, because a setting can enable them. */
  readonly served: boolean;
  readonly resources: ReadonlyMap<string, Resource>;
  /** Package of its built-in types: `core.v1`. */
  readonly package?: string;
  /** Kinds of the version that are not resources; their type id is `package.Kind`. */
  readonly otherKinds?: readonly string[];
}

/** A group with its versions in order of preference. */
export interface Group {
  readonly name: string;
  /** Its name in the neutral naming, which plugins use; absent for custom groups, which have one name. */
  readonly neutralName?: string;
  readonly priority: number;
  readonly preferred: string;
  readonly versions: readonly GroupVersion[];
}

/** All served resources. Immutable: a new definition makes a new registry with another generation. */
export interface Registry {
  readonly generation: number;
  readonly groups: ReadonlyMap<string, Group>;
  /** Finds a served resource. */
  find(group: string, version: string, plural: string): Resource | undefined;
  /** Finds a served resource by apiVersion and kind. */
  byKind(apiVersion: string, kind: string): Resource | undefined;
  /** All stored resources, each in its storage version. */
  readonly stored: readonly Resource[];
}
