import type { Strategy } from '../api/strategy.js';
import type { StructuralSchema } from '../api/resource.js';
import type { ApiObject, Json } from '../model/object.js';
import type { Struct } from './model.js';

/** A subresource served below a resource. */
export interface Subresource {
  readonly name: string;
  readonly kind: string;
  readonly group: string;
  readonly version: string;
  readonly verbs: readonly string[];
  /** Type of the body; undefined for `connect`-like subresources without one. */
  readonly type?: Struct;
  /** Type of the query parameters, where it has some. */
  readonly options?: Struct;
  /** The connection is handed over to something else (exec, proxy). */
  readonly connect?: boolean;
  /** Media type of the answer where it is not an object. */
  readonly produces?: string;
}

/** How objects of a kind outside of the table are read and written. */
export interface CustomSchema {
  /** What the client's documents show. */
  readonly schema: StructuralSchema;
  /**
   * The object of a body: metadata decoded, members that the schema does not know dropped and reported to `complaints`,
   * nulls and defaults settled. Throws TypeMismatch for metadata of the wrong shape. Does not change `value`.
   */
  decode(value: { readonly [key: string]: Json }, complaints: string[]): ApiObject;
  /** A stored object as this version shows it, whatever version and schema it was written under. */
  read(object: ApiObject): ApiObject;
}

/**
 * One resource of one group version, resolved: what requests are routed to. All names are in the naming the server
 * speaks.
 */
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
  /** Type of a list of them; built-in kinds only. */
  readonly listType?: Struct;
  /** Feature gate that guards the resource. */
  readonly gate?: string;
  /** False for virtual kinds (reviews, bindings). */
  readonly stored: boolean;
  /**
   * Built-in kinds follow the table's schema; custom ones come from definitions and are always served with kind and
   * apiVersion.
   */
  readonly builtIn: boolean;
  /**
   * Where its objects live: `<group or core>/<plural>`, equal for all versions (and aliases, as the two Event groups)
   * of one kind.
   */
  readonly storageName: string;
  /** The version that is stored; equals `apiVersion` where no conversion is needed. */
  readonly storageApiVersion: string;
  readonly strategy: Strategy;
  /** Set for kinds outside of the table: what generic code does by the table's types, these do by their own schema. */
  readonly custom?: CustomSchema;
  /**
   * Objects at or below this revision may have been written under another schema: they are shown through `custom.read`.
   */
  readonly changedAt?: number;
  /** Text of the Warning header that every answer of this version carries. */
  readonly warning?: string;
  /** Set where the release deprecates this version: what the Warning header says. */
  readonly deprecation?: {
    readonly introduced?: string;
    readonly deprecated?: string;
    readonly removed?: string;
    readonly replacement?: string;
  };
}

/** One served group version with its stability and its resources by plural name. */
export interface GroupVersion {
  readonly group: string;
  readonly version: string;
  readonly apiVersion: string;
  readonly stability: 'ga' | 'beta' | 'alpha';
  /** Served now. Versions that are off are known, so that a setting can turn them on. */
  readonly served: boolean;
  readonly resources: ReadonlyMap<string, Resource>;
  /** Package of its types, where the table has it: `core.v1`. */
  readonly package?: string;
  /** Kinds of the version that are no resources; their type id is `package.Kind`. */
  readonly otherKinds?: readonly string[];
}

/** A group: versions in order of preference. */
export interface Group {
  readonly name: string;
  /** Its name in the neutral naming, which plugins use; absent: a custom group, which has one name. */
  readonly neutralName?: string;
  readonly priority: number;
  readonly preferred: string;
  readonly versions: readonly GroupVersion[];
}

/** A frozen generation of everything that is served; a new definition builds a new one. */
export interface Registry {
  readonly generation: number;
  readonly groups: ReadonlyMap<string, Group>;
  /** Exact look-up of a served resource. */
  find(group: string, version: string, plural: string): Resource | undefined;
  /** By apiVersion and kind, for owner references and decoding. */
  byKind(apiVersion: string, kind: string): Resource | undefined;
  /** Every stored resource once, in its storage version. */
  readonly stored: readonly Resource[];
}
