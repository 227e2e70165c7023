import type { ApiObject, ObjectMeta } from '../../model/object.js';
import type { DefinedResource } from '../client/reference.js';
import type {
  CustomStrategy,
  ResourceCheck,
  ResourceColumn,
  ResourceSubresources,
  ResourceType,
  ResourceVersion,
  StructuralSchema,
} from '../resource.js';
import type { Strategy, SubresourceWrite } from '../strategy.js';
import type { ValueOf } from './typedSchema.js';

/** Functions by name, as a map or as the members of an object. */
type Named<F> = ReadonlyMap<string, F> | { readonly [name: string]: F };

/**
 * A strategy in the argument of `defineResource`: selectable fields and subresources may be members of objects, whose
 * functions get their types from the schema.
 *
 * @example
 * const strategy: StrategyDefinition = { selectableFields: { 'spec.tea': object => stringAt(object, 'spec', 'tea') } };
 */
export type StrategyDefinition<T = ApiObject> = Omit<CustomStrategy<T>, 'selectableFields' | 'subresources'> & {
  readonly selectableFields?: Named<(object: T) => string>;
  readonly subresources?: Named<SubresourceWrite<T>>;
};

/**
 * A version in the argument of `defineResource`. If none has `storage`, objects are stored in the first one.
 *
 * @example
 * const version: VersionDefinition = { name: 'v1beta1', schema, deprecationWarning: 'use v1' };
 */
export type VersionDefinition<Name extends string = string> = Omit<ResourceVersion, 'name' | 'served' | 'storage'> &
  Partial<Pick<ResourceVersion, 'served' | 'storage'>> & { readonly name: Name };

/**
 * An object whose members follow from its schema; any object, if the schema was not made by `t`.
 *
 * @example
 * type Order = KindObject<'tea.example.com/v1', typeof orderSchema>;
 */
export type KindObject<ApiVersion extends string, Schema> =
  unknown extends ValueOf<Schema>
    ? ApiObject
    : ValueOf<Schema> & { apiVersion: ApiVersion; kind: string; metadata: ObjectMeta };

/** The objects of some versions; their `apiVersion` tells them apart. */
type ObjectsOf<Group extends string, Version> =
  Version extends VersionDefinition<infer Name> ? KindObject<`${Group}/${Name}`, Version['schema']> : never;

/** The version that objects are stored in. */
type StoredVersion<Versions extends readonly VersionDefinition[]> =
  Extract<Versions[number], { storage: true }> extends never
    ? Versions[0]
    : Extract<Versions[number], { storage: true }>;

/** An object without the members that the server sets: the kind, the version and the metadata. */
type ContentOf<T> = Omit<T, 'apiVersion' | 'kind' | 'metadata'>;

/**
 * How objects are converted between the stored version and another one. The functions return everything but
 * apiVersion, kind and metadata, which the server adds. They must be pure.
 *
 * @example
 * const v1: VersionConversion<OrderV1, OrderV2> = {
 *   toStored: order => ({ spec: { cups: Number(order.spec.amount) } }),
 *   fromStored: order => ({ spec: { amount: `${order.spec.cups}` } }),
 * };
 */
export interface VersionConversion<Other = ApiObject, Stored = ApiObject> {
  readonly toStored: (object: Other) => ContentOf<Stored>;
  readonly fromStored: (object: Stored) => ContentOf<Other>;
}

/** A conversion for each version that is not the stored one. */
type Conversions<Group extends string, Versions extends readonly VersionDefinition[]> = {
  readonly [Name in Exclude<Versions[number], StoredVersion<Versions>>['name']]: VersionConversion<
    ObjectsOf<Group, Extract<Versions[number], { readonly name: Name }>>,
    ObjectsOf<Group, StoredVersion<Versions>>
  >;
};

/** The objects that the functions of a kind get. */
type Handled<Group extends string, Schema, Versions extends readonly VersionDefinition[]> = Versions extends readonly []
  ? KindObject<string, Schema>
  : ObjectsOf<Group, Versions[number]>;

/**
 * A resource type that knows the TypeScript type of its objects in the stored version.
 *
 * @example
 * const orders: TypedResource<Order> = defineResource({ ...names, schema: orderSchema });
 */
export type TypedResource<T> = ResourceType & DefinedResource<T>;

/** The objects of a kind as they are stored. */
type Stored<Group extends string, Schema, Versions extends readonly VersionDefinition[]> = Versions extends readonly []
  ? KindObject<string, Schema>
  : ObjectsOf<Group, StoredVersion<Versions>>;

/**
 * The argument of `defineResource`: names that can be derived may be omitted, and a type with a single version may have
 * the members of the version instead of `versions`. The types of its functions follow from the schemas; give `schema`
 * or `versions` before them.
 *
 * @example
 * const given: ResourceDefinition = {
 *   group: 'tea.example.com',
 *   kind: 'Order',
 *   plural: 'orders',
 *   scope: 'Namespaced',
 *   versions: [{ name: 'v1' }, { name: 'v1beta1', deprecationWarning: 'use v1' }].map(one => ({ ...one, schema })),
 * };
 */
export interface ResourceDefinition<
  Group extends string = string,
  Schema extends StructuralSchema = StructuralSchema,
  Versions extends readonly VersionDefinition[] = readonly VersionDefinition[],
> {
  readonly group: Group;
  readonly kind: string;
  readonly plural: string;
  /** Default: the kind in lower case. */
  readonly singular?: string;
  /** Default: the kind followed by `List`. */
  readonly listKind?: string;
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  readonly scope: 'Namespaced' | 'Cluster';
  /** The name of the only version; default `v1`. The following members describe it. */
  readonly version?: string;
  readonly schema?: Schema;
  readonly subresources?: ResourceSubresources;
  readonly columns?: readonly ResourceColumn[];
  readonly selectableFields?: readonly string[];
  /** Several versions, instead of the members above. If none has `storage`, the first one is stored. */
  readonly versions?: readonly [...Versions];
  /** The release of your program, with which `deprecated` and `removedIn` of the versions are compared. */
  readonly release?: string;
  /** Conversions by the name of the version that is not the stored one. Absent: versions differ only in their name. */
  readonly conversion?: Conversions<Group, Versions>;
  /** Violations that a schema cannot express, for creates and updates. */
  readonly validate?: ResourceCheck<Handled<Group, Schema, Versions>>;
  /** Everything else that is special about the kind. */
  readonly strategy?: StrategyDefinition<Handled<Group, Schema, Versions>>;
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

const mapOf = <F>(named: Named<F>): ReadonlyMap<string, F> =>
  named instanceof Map ? named : new Map(Object.entries(named as { readonly [name: string]: F }));

function strategyOf({ selectableFields, subresources, ...rest }: StrategyDefinition): CustomStrategy {
  return {
    ...rest,
    ...(selectableFields && { selectableFields: mapOf(selectableFields) }),
    ...(subresources && { subresources: mapOf(subresources) }),
  };
}

/** The conversions of a type as the function of a strategy. Throws TypeError if one is missing. */
function convertBy(
  given: Readonly<Record<string, VersionConversion>>,
  group: string,
  versions: readonly ResourceVersion[],
): NonNullable<Strategy['convert']> {
  const byApiVersion = new Map<string, VersionConversion>();
  for (const { name, storage } of versions) {
    if (storage) continue;
    const conversion = Object.hasOwn(given, name) ? given[name] : undefined;
    if (typeof conversion?.toStored !== 'function' || typeof conversion.fromStored !== 'function')
      throw new TypeError(`conversion.${name} must have the functions toStored and fromStored`);
    byApiVersion.set(`${group}/${name}`, conversion);
  }
  const envelope = ({ kind, metadata }: ApiObject, apiVersion: string, content: object): ApiObject => ({
    ...content,
    apiVersion,
    kind,
    metadata,
  });
  const storedName = versions.find(({ storage }) => storage)!.name;
  return (object, apiVersion) => {
    const from = byApiVersion.get(object.apiVersion);
    const stored = from ? envelope(object, `${group}/${storedName}`, from.toStored(object)) : object;
    const to = byApiVersion.get(apiVersion);
    return to ? envelope(stored, apiVersion, to.fromStored(stored)) : stored;
  };
}

/**
 * Describes a resource type of a program or plugin. It is validated when a server starts with it: in `startServer({
 * resources: [type] })` for types that are JSON and are sent to every thread, or in `resourceType.of(() => type)` of a
 * plugin, which every thread loads, for types with functions: `validate`, `strategy`, `conversion`. Throws TypeError
 * for a conversion that is missing.
 *
 * @example
 * const order = defineResource({
 *   group: 'tea.example.com',
 *   kind: 'Order',
 *   plural: 'orders',
 *   scope: 'Namespaced',
 *   schema: t.object({ spec: t.object({ tea: t.string(), cups: t.integer({ default: 1 }) }) }),
 *   validate: order => (order.spec.cups > 3 ? [forbiddenField('spec.cups', 'it gets cold')] : []),
 * });
 */
export function defineResource<
  const Group extends string,
  Name extends string,
  Schema extends StructuralSchema = StructuralSchema,
  Versions extends readonly VersionDefinition<Name>[] = readonly [],
>(given: ResourceDefinition<Group, Schema, Versions>): TypedResource<Stored<Group, Schema, Versions>> {
  const { group, kind, plural, scope, release } = given;
  const versions = versionsOf(given as ResourceDefinition);
  // The functions get objects of the schema: the types state the guarantees of decoding.
  const validate = given.validate as ResourceCheck | undefined;
  const own = given.strategy && strategyOf(given.strategy as StrategyDefinition);
  const conversion = given.conversion as Readonly<Record<string, VersionConversion>> | undefined;
  if (conversion && own?.convert) throw new TypeError('give either conversion or strategy.convert');
  const strategy = conversion ? { ...own, convert: convertBy(conversion, group, versions) } : own;
  return Object.freeze({
    group,
    kind,
    plural,
    scope,
    listKind: given.listKind ?? `${kind}List`,
    singular: given.singular ?? kind.toLowerCase(),
    shortNames: given.shortNames ?? [],
    categories: given.categories ?? [],
    versions,
    ...(release === undefined ? {} : { release }),
    ...(validate ? { validate } : {}),
    ...(strategy ? { strategy } : {}),
  });
}
