import type { ResourceType, ResourceVersion, StructuralSchema } from '../../api/resource.js';
import type { Strategy } from '../../api/strategy.js';
import { dns1035Label, dns1123Subdomain } from '../../model/names.js';
import type { ApiObject } from '../../model/object.js';
import { customStorageName } from '../../model/wellKnown/storageNames.js';
import type { CustomSchema, Resource, Subresource } from '../resource.js';
import { typeOf } from '../table/types.js';
import { customSchema } from './customSchema.js';
import { isDeprecated, isServed } from './releases.js';
import type { Growth } from './defaults.js';
import { strategyOf } from './strategy.js';
import { structForSchema } from './types.js';
import { deprecationText } from '../registry/deprecation.js';

const VERBS = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'];
/**
 * The verbs in discovery documents while a kind is being deleted. As in upstream, they omit all writes except deletes;
 * updates that allow its objects to be deleted are still served.
 */
const TERMINATING_VERBS = ['delete', 'deletecollection', 'get', 'list', 'watch'];
const SUBRESOURCE_VERBS = ['get', 'patch', 'update'];

function subresourcesOf(type: ResourceType, version: ResourceVersion): Map<string, Subresource> {
  const found = new Map<string, Subresource>();
  const { status, scale } = version.subresources ?? {};
  const common = { kind: type.kind, group: type.group, version: version.name, verbs: SUBRESOURCE_VERBS };
  if (status) found.set('status', { name: 'status', ...common });
  if (scale)
    found.set('scale', {
      name: 'scale',
      kind: 'Scale',
      group: 'autoscaling',
      version: 'v1',
      verbs: SUBRESOURCE_VERBS,
      get type() {
        return typeOf('autoscaling.v1.Scale');
      },
    });
  for (const name of type.strategy?.subresources?.keys() ?? []) found.set(name, { name, ...common });
  return found;
}

/** Computes a value on first use. Most processes do not use the schemas of all their types. */
function cacheResult<T>(make: () => T): () => T {
  let cached: { readonly value: T } | undefined;
  return () => (cached ??= { value: make() }).value;
}

/** Describes the problems of the names from which keys in the store are made. */
export const nameProblems = ({
  group,
  plural,
}: Pick<ResourceType, 'group' | 'plural'>): { readonly field: 'group' | 'plural'; readonly message: string }[] => [
  ...dns1123Subdomain(group).map(message => ({ field: 'group' as const, message })),
  ...dns1035Label(plural).map(message => ({ field: 'plural' as const, message })),
];

type SchemaSource = (apiVersion: string) => CustomSchema | undefined;

/** The schemas of the versions of a type by apiVersion, each created when first requested. */
function schemasOf({ group, versions }: ResourceType, make: (version: ResourceVersion) => CustomSchema): SchemaSource {
  const schemas = new Map(versions.map(version => [`${group}/${version.name}`, cacheResult(() => make(version))]));
  return apiVersion => schemas.get(apiVersion)?.();
}

/**
 * The schema of a version of a type that converts between versions in code: an object of another version is read by the
 * schema of that version, converted, and read by this one's.
 */
function convertingSchema(
  apiVersion: string,
  schemas: SchemaSource,
  convert: NonNullable<Strategy['convert']>,
): CustomSchema {
  const schema = schemas(apiVersion)!;
  const toVersion = (object: ApiObject, growth: Growth | undefined): ApiObject =>
    convert(schemas(object.apiVersion)?.read(object, growth) ?? object, apiVersion);
  return {
    ...schema,
    convert: object => schema.accept(object.apiVersion === apiVersion ? object : convert(object, apiVersion)),
    read: (object, growth) =>
      schema.read(object.apiVersion === apiVersion ? object : toVersion(object, growth), growth),
  };
}

/**
 * The deprecation of a version, and its warning: its own, or one that names the releases. A version that a later
 * release deprecates has neither.
 */
function deprecationOf(
  type: ResourceType,
  version: ResourceVersion,
  apiVersion: string,
): Pick<Resource, 'warning' | 'deprecation'> {
  const { deprecationWarning: warning, deprecated, removedIn: removed, replacedBy } = version;
  const { kind } = type;
  if (deprecated === undefined) return warning === undefined ? {} : { warning };
  if (!isDeprecated(type, version)) return {};
  const deprecation = { deprecated, removed, replacement: replacedBy && `${replacedBy} ${kind}` };
  return { warning: warning ?? deprecationText(apiVersion, kind, deprecation), deprecation };
}

/**
 * The served versions of a resource type as registry resources, which generic code treats like built-in ones. Throws
 * Error for names with which its keys in the store would be those of other objects.
 */
export function resourcesOf(type: ResourceType): Resource[] {
  const [problem] = nameProblems(type);
  if (problem) throw new Error(`${problem.field} ${JSON.stringify(type[problem.field])}: ${problem.message}`);
  const { group, plural, singular, kind, listKind, shortNames, categories, changedAt } = type;
  const stored = type.versions.find(version => version.storage) ?? type.versions[0]!;
  const apiVersionOf = (version: ResourceVersion): string => `${group}/${version.name}`;
  const convert = type.strategy?.convert;
  const schemaOf = new Map(type.versions.map(version => [apiVersionOf(version), version.schema]));
  const writtenAs = ({ apiVersion }: ApiObject): StructuralSchema => schemaOf.get(apiVersion) ?? stored.schema;
  const plain = schemasOf(type, version =>
    customSchema(version.schema, convert ? () => version.schema : writtenAs, apiVersionOf(version), kind),
  );
  const schemas = convert ? schemasOf(type, version => convertingSchema(apiVersionOf(version), plain, convert)) : plain;
  return type.versions
    .filter(version => isServed(type, version))
    .map(version => {
      const struct = cacheResult(() => structForSchema(version.schema, `${apiVersionOf(version)}.${kind}`));
      return {
        group,
        version: version.name,
        apiVersion: apiVersionOf(version),
        plural,
        singular,
        kind,
        listKind,
        namespaced: type.scope === 'Namespaced',
        shortNames,
        categories,
        verbs: VERBS,
        ...(type.terminating ? { discoveredVerbs: TERMINATING_VERBS } : {}),
        ...(isServed(type, stored) ? {} : { hidesStorageVersion: true }),
        subresources: subresourcesOf(type, version),
        get type() {
          return struct();
        },
        stored: true,
        builtIn: false,
        storageName: customStorageName(type),
        storageApiVersion: apiVersionOf(stored),
        strategy: strategyOf(type, version, schemas),
        get custom() {
          return schemas(apiVersionOf(version))!;
        },
        schemaOf: schemas,
        ...(type.conversionWebhook ? { webhook: type.conversionWebhook } : {}),
        ...(changedAt ? { changedAt } : {}),
        ...(version.preferred ? { preferred: true } : {}),
        ...deprecationOf(type, version, apiVersionOf(version)),
      };
    });
}
