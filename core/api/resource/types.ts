import type { ApiObject, Json } from '../../model/object.js';
import type { Violation } from '../../model/refusal.js';
import type { ConversionWebhook } from './conversion.js';
import type { Strategy } from '../strategy.js';

/**
 * A CEL rule of a schema (`x-kubernetes-validations`).
 *
 * @example
 * const rule: SchemaRule = { rule: 'self.cups <= 20', message: 'at most 20 cups are served at once' };
 */
export interface SchemaRule {
  readonly rule: string;
  readonly message?: string;
  readonly messageExpression?: string;
  readonly reason?: string;
  readonly fieldPath?: string;
  readonly optionalOldSelf?: boolean;
}

/**
 * A structural schema: OpenAPI v3 as in custom resource definitions. Members that are not listed have no effect.
 *
 * @example
 * const schema: StructuralSchema = {
 *   type: 'object',
 *   properties: { spec: { type: 'object', properties: { cups: { type: 'integer', default: 1 } } } },
 * };
 */
export interface StructuralSchema {
  readonly type?: 'object' | 'array' | 'string' | 'integer' | 'number' | 'boolean' | (string & {});
  readonly format?: string;
  readonly title?: string;
  readonly description?: string;
  readonly default?: Json;
  readonly example?: Json;
  readonly externalDocs?: object;
  readonly nullable?: boolean;
  readonly properties?: { readonly [name: string]: StructuralSchema };
  readonly additionalProperties?: StructuralSchema | boolean;
  readonly items?: StructuralSchema;
  readonly required?: readonly string[];
  readonly enum?: readonly Json[];
  readonly maximum?: number;
  readonly exclusiveMaximum?: boolean;
  readonly minimum?: number;
  readonly exclusiveMinimum?: boolean;
  readonly multipleOf?: number;
  readonly maxLength?: number;
  readonly minLength?: number;
  readonly pattern?: string;
  readonly maxItems?: number;
  readonly minItems?: number;
  readonly uniqueItems?: boolean;
  readonly maxProperties?: number;
  readonly minProperties?: number;
  readonly allOf?: readonly StructuralSchema[];
  readonly anyOf?: readonly StructuralSchema[];
  readonly oneOf?: readonly StructuralSchema[];
  readonly not?: StructuralSchema;
  readonly 'x-kubernetes-preserve-unknown-fields'?: boolean;
  readonly 'x-kubernetes-embedded-resource'?: boolean;
  readonly 'x-kubernetes-int-or-string'?: boolean;
  readonly 'x-kubernetes-list-type'?: string;
  readonly 'x-kubernetes-list-map-keys'?: readonly string[];
  readonly 'x-kubernetes-map-type'?: string;
  readonly 'x-kubernetes-validations'?: readonly SchemaRule[];
}

/**
 * A printed column whose cell is at a JSONPath in the object.
 *
 * @example
 * const column: ResourceColumn = { name: 'Cups', type: 'integer', jsonPath: '.spec.cups' };
 */
export interface ResourceColumn {
  readonly name: string;
  readonly type: 'string' | 'integer' | 'number' | 'boolean' | 'date' | (string & {});
  readonly jsonPath: string;
  readonly format?: string;
  readonly description?: string;
  /** Columns with a priority above 0 are shown only in wide output. */
  readonly priority?: number;
}

/**
 * The fields that the scale subresource reads and writes, as simple JSON paths.
 *
 * @example
 * const scale: ScalePaths = { specReplicasPath: '.spec.cups', statusReplicasPath: '.status.poured' };
 */
export interface ScalePaths {
  readonly specReplicasPath: string;
  readonly statusReplicasPath: string;
  readonly labelSelectorPath?: string;
}

/**
 * Subresources of a version.
 *
 * @example
 * const subresources: ResourceSubresources = { status: {} };
 */
export interface ResourceSubresources {
  /** The status has its own path, and the generation counts only changes outside of the status. */
  readonly status?: object | null;
  readonly scale?: ScalePaths | null;
}

/**
 * One version of a resource type.
 *
 * @example
 * const version: ResourceVersion = { name: 'v1', served: true, storage: true, schema: { type: 'object' } };
 */
export interface ResourceVersion {
  readonly name: string;
  readonly served: boolean;
  /** Whether objects are stored in this version; true for exactly one version. */
  readonly storage: boolean;
  readonly schema: StructuralSchema;
  readonly subresources?: ResourceSubresources;
  readonly columns?: readonly ResourceColumn[];
  /** JSON paths of fields that field selectors may use. */
  readonly selectableFields?: readonly string[];
  /** The text of a Warning header in answers; default for a version with `deprecated`: one that names the releases. */
  readonly deprecationWarning?: string;
  /** The release of your program since which the version is deprecated: `1.4`. */
  readonly deprecated?: string;
  /**
   * The first release that does not serve the version any more. The version is not served if the `release` of the type
   * is this one or later. It stays known, so that objects that are stored in it can be read.
   */
  readonly removedIn?: string;
  /** The apiVersion to use instead: `tea.example.com/v1`. */
  readonly replacedBy?: string;
  /** Whether clients that name no version get this one. Default: the most stable version with the highest number. */
  readonly preferred?: boolean;
}

/**
 * Validates an object that conforms to the schema; `old` is set for updates. Must be pure: it runs in every thread of
 * the pool.
 *
 * @example
 * const check: ResourceCheck = (object, old) =>
 *   old && teaOf(object) !== teaOf(old) ? [forbiddenField('spec.tea', 'an order is for one tea')] : [];
 */
export type ResourceCheck<T = ApiObject> = (object: T, old: T | undefined) => readonly Violation[];

/**
 * The strategy of a kind with a schema of its own: as that of a built-in kind, without the parts that the definition
 * declares (`subresources.status` and `subresources.scale`), and without the functions for subresources with types of
 * their own.
 *
 * Violations and selectable fields are added to those of the schema; `validateCreate`, `validateUpdate` and
 * `validateStatus` are called when the schema holds. `columns` replace the columns of all versions. `convert` is called
 * with the fields that the schema of the object's version keeps, and its result is read by the schema of the other
 * version. `subresources` adds paths that are read and written like `status`; bodies are objects of the kind.
 *
 * @example
 * const strategy: CustomStrategy = {
 *   applyDefaults: object => setDefault(specOf(object), 'cups', numberAt(object, 'spec', 'guests') ?? 1),
 *   selectableFields: new Map([['spec.tea', object => stringAt(object, 'spec', 'tea')]]),
 * };
 */
export type CustomStrategy<T = ApiObject> = Omit<
  Partial<Strategy<T>>,
  'hasStatus' | 'scale' | 'actions' | 'answers' | 'actsOn' | 'review' | 'connections' | 'companions'
>;

/**
 * A complete custom resource type. All members except `validate` and `strategy` are JSON.
 *
 * @example
 * const order: ResourceType = defineResource({
 *   group: 'tea.example.com',
 *   kind: 'Order',
 *   plural: 'orders',
 *   scope: 'Namespaced',
 * });
 */
export interface ResourceType {
  readonly group: string;
  readonly kind: string;
  readonly listKind: string;
  readonly plural: string;
  readonly singular: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly scope: 'Namespaced' | 'Cluster';
  readonly versions: readonly ResourceVersion[];
  /**
   * The release of your program, `1.7`: its versions are deprecated and removed as they say. Absent: `deprecated` holds
   * at once, and `removedIn` is only named in warnings.
   */
  readonly release?: string;
  /** No more objects may be created, because the type is being removed. */
  readonly terminating?: boolean;
  /** The revision up to which objects may have been written with another schema; absent if there are none. */
  readonly changedAt?: number;
  /** The webhook that converts objects between the versions, if no Converter of a plugin does. */
  readonly conversionWebhook?: ConversionWebhook;
  readonly validate?: ResourceCheck;
  readonly strategy?: CustomStrategy;
}

/**
 * The strategy of a built-in kind, whose names, versions and fields are in the table of the server.
 *
 * @example
 * const lease: BuiltInKind = {
 *   storageName: 'coordination.orchestrator.io/leases',
 *   strategy: { allowUnconditionalUpdate: false },
 * };
 */
export interface BuiltInKind {
  /** Group (`core` for the empty one) and plural, in neutral names: `core/pods`, `apps/statefulsets`. */
  readonly storageName: string;
  readonly strategy: Partial<Strategy>;
}

/**
 * All contributions to `resourceType`.
 *
 * @example
 * const columns = types.builtIn.get('core/pods')?.columns;
 */
export interface ResourceTypes {
  /** Types with their own schema. */
  readonly custom: readonly ResourceType[];
  /** Strategies of built-in kinds by storage name; kinds without one have no special behavior. */
  readonly builtIn: ReadonlyMap<string, Partial<Strategy>>;
}

/**
 * Stored objects that define resource types at run time. Every thread calls `define` for the same objects in the same
 * order, so its result must depend only on the object.
 *
 * @example
 * const source: ResourceSource = {
 *   storageName: customStorageName({ group: 'tea.example.com', plural: 'menus' }),
 *   define: menu => (isPublished(menu) ? typeOf(menu) : undefined),
 * };
 */
export interface ResourceSource {
  /** The storage name of the objects. */
  readonly storageName: string;
  /** The type that an object defines; undefined if it defines no type that is served. */
  define(object: ApiObject): ResourceType | undefined;
}
