import type { ApiObject, Json } from '../model/object.js';
import type { Violation } from '../model/refusal.js';
import type { Naming } from '../naming.js';
import { allValues, ConfigError, type Contributed, type Contribution, definePoint } from './point.js';
import type { Strategy } from './strategy.js';

/** A rule in the expression language beside a schema (`x-kubernetes-validations`). */
export interface SchemaRule {
  readonly rule: string;
  readonly message?: string;
  readonly messageExpression?: string;
  readonly reason?: string;
  readonly fieldPath?: string;
  readonly optionalOldSelf?: boolean;
}

/** A structural schema: OpenAPI v3 as custom resources write it. Members that are not listed have no effect. */
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

/** A printed column whose cell is found by a JSONPath below the object, such as `.spec.size`. */
export interface ResourceColumn {
  readonly name: string;
  readonly type: 'string' | 'integer' | 'number' | 'boolean' | 'date' | (string & {});
  readonly jsonPath: string;
  readonly format?: string;
  readonly description?: string;
  readonly priority?: number;
}

/** Where the scale subresource reads and writes, as simple JSON paths. */
export interface ScalePaths {
  readonly specReplicasPath: string;
  readonly statusReplicasPath: string;
  readonly labelSelectorPath?: string;
}

/** Subresources of one version. */
export interface ResourceSubresources {
  /** Status is written on its own path, and the generation counts what is outside of it. */
  readonly status?: object | null;
  readonly scale?: ScalePaths | null;
}

/** One version of a resource type. */
export interface ResourceVersion {
  readonly name: string;
  readonly served: boolean;
  /** Objects are stored in this version; true for exactly one. */
  readonly storage: boolean;
  readonly schema: StructuralSchema;
  readonly subresources?: ResourceSubresources;
  readonly columns?: readonly ResourceColumn[];
  /** JSON paths of fields that selectors may name. */
  readonly selectableFields?: readonly string[];
  /** Answers carry this Warning; absent: the version is not deprecated. */
  readonly deprecationWarning?: string;
}

/**
 * Judges an object that has the shape its schema asks for; `old` is there for updates. Pure: it runs in every pool
 * worker.
 */
export type ResourceCheck = (object: ApiObject, old: ApiObject | undefined) => readonly Violation[];

/** A custom resource type, complete. All but `validate` is JSON. */
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
  /** No more objects may be created: the type is going away. */
  readonly terminating?: boolean;
  /** Revision below which objects may have been written under another schema; absent: none were. */
  readonly changedAt?: number;
  readonly validate?: ResourceCheck;
}

/**
 * What `defineResource` takes: names that can be derived may be left out, and a type with one version may describe it
 * in place.
 */
export interface ResourceDefinition {
  readonly group: string;
  readonly kind: string;
  readonly plural: string;
  /** Default: the kind in lower case. */
  readonly singular?: string;
  /** Default: the kind with `List` behind it. */
  readonly listKind?: string;
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  readonly scope: 'Namespaced' | 'Cluster';
  /** The only version; default `v1`. Its members follow. */
  readonly version?: string;
  readonly schema?: StructuralSchema;
  readonly subresources?: ResourceSubresources;
  readonly columns?: readonly ResourceColumn[];
  readonly selectableFields?: readonly string[];
  /** Several versions, instead of the members above. The first is stored where none says so. */
  readonly versions?: readonly (Omit<ResourceVersion, 'served' | 'storage'> &
    Partial<Pick<ResourceVersion, 'served' | 'storage'>>)[];
  readonly validate?: ResourceCheck;
}

function versionsOf(given: ResourceDefinition): readonly ResourceVersion[] {
  if (!given.versions) {
    const { version: name = 'v1', schema, subresources, columns, selectableFields } = given;
    return [
      {
        name,
        served: true,
        storage: true,
        schema: schema ?? { type: 'object' },
        subresources,
        columns,
        selectableFields,
      },
    ];
  }
  const stored = Math.max(
    0,
    given.versions.findIndex(version => version.storage),
  );
  return given.versions.map((version, i) => ({ served: true, ...version, storage: i === stored }));
}

/**
 * Describes a resource type that a program or a plugin brings along. It is checked when a server starts with it:
 * `startServer({ resources: [type] })` for types without `validate`, which travel to every thread as JSON, or
 * `resourceType.of(() => type)` in a plugin, which every thread loads.
 */
export function defineResource(given: ResourceDefinition): ResourceType {
  const { group, kind, plural, scope, validate } = given;
  return Object.freeze({
    group,
    kind,
    plural,
    scope,
    listKind: given.listKind ?? `${kind}List`,
    singular: given.singular ?? kind.toLowerCase(),
    shortNames: given.shortNames ?? [],
    categories: given.categories ?? [],
    versions: versionsOf(given),
    ...(validate ? { validate } : {}),
  });
}

/**
 * Stored objects that define resource types while the server runs. Every thread asks the same questions about the same
 * objects in the same order, so `define` must depend on the object alone.
 */
export interface ResourceSource {
  /** Objects of this storage name are asked. */
  readonly storageName: string;
  /** The type that an object defines, undefined while it defines none that is served. */
  define(object: ApiObject): ResourceType | undefined;
}

/**
 * The strategy of a kind whose names, versions and fields are in the server's own table (`core/schema/table`): a
 * built-in kind.
 */
export interface BuiltInKind {
  /** Group, `core` for the one without a name, and plural, in neutral names: `core/pods`, `apps/statefulsets`. */
  readonly storageName: string;
  readonly strategy: Partial<Strategy>;
}

/** All that was contributed to `resourceType`. */
export interface ResourceTypes {
  /** Types with a schema of their own. */
  readonly custom: readonly ResourceType[];
  /** Strategies of built-in kinds by storage name. Those without one are plain objects. */
  readonly builtIn: ReadonlyMap<string, Partial<Strategy>>;
}

const isBuiltIn = (type: ResourceType | BuiltInKind): type is BuiltInKind => 'storageName' in type;

/** Throws ConfigError where two plugins give a strategy for one built-in kind. */
function combineTypes(inputs: readonly Contributed<ResourceType | BuiltInKind>[]): ResourceTypes {
  const custom: ResourceType[] = [];
  const builtIn = new Map<string, Partial<Strategy>>();
  for (const { plugin, value } of inputs) {
    if (!isBuiltIn(value)) custom.push(value);
    else if (builtIn.has(value.storageName))
      throw new ConfigError(`plugins: ${plugin}`, `another plugin has given the strategy of ${value.storageName}`);
    else builtIn.set(value.storageName, value.strategy);
  }
  return { custom, builtIn };
}

/** Kinds of plugins; all of them are served. The server's own kinds come in through this point as well. */
export const resourceType = definePoint<ResourceType | BuiltInKind, ResourceTypes>(
  'resource',
  ['front', 'request'],
  combineTypes,
);

/** Contributes the strategy of a built-in kind; `make` is called once per thread. */
export const builtInKind = (storageName: string, make: (naming: Naming) => Partial<Strategy>): Contribution =>
  resourceType.of(({ naming }) => ({ storageName, strategy: make(naming) }));

/** Kinds whose objects define resource types. */
export const resourceSource = definePoint<ResourceSource, readonly ResourceSource[]>(
  'resourceSource',
  ['front', 'request'],
  allValues,
);
