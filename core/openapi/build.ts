import { RELEASE } from '../discovery/root.js';
import { groupsOf, resourcesOf, servedOf } from '../discovery/plain.js';
import type { Naming } from '../naming.js';
import type { GroupVersion, Registry, Resource } from '../schema/resource.js';
import { findType } from '../schema/table/types.js';
import { kindName, schemaName } from './names.js';
import { Operations, type PathItem } from './operations.js';
import { type Dialect, type GroupVersionKind, type Schema, Schemas, type SchemaSource } from './schemas.js';
import { documentV2, documentV3, type Writer, writePath, writerV2, writerV3 } from './write.js';

/** What documents take from outside the registry. */
export interface OpenApiOptions {
  /** The published schema of a custom kind. */
  readonly custom?: (resource: Resource, dialect: Dialect) => Schema | undefined;
}

/** Types that stand in every group version. */
const SHARED = ['meta.v1.DeleteOptions', 'meta.v1.WatchEvent'];

/** Types of the plain documents. */
const PLAIN_TYPES = [
  'meta.v1.APIGroup',
  'meta.v1.APIGroupList',
  'meta.v1.APIResourceList',
  'meta.v1.APIVersions',
  'meta.v1.Status',
];

/** Every served group version, the core group first. */
export function versionsOf(registry: Registry): GroupVersion[] {
  const core = registry.groups.get('');
  return [...(core ? [core] : []), ...groupsOf(registry)].flatMap(servedOf);
}

/** Which kinds each schema describes, by schema name. */
function kindIndex(versions: readonly GroupVersion[], naming: Naming): Map<string, GroupVersionKind[]> {
  const index = new Map<string, GroupVersionKind[]>();
  const add = (name: string, kind: GroupVersionKind): void => {
    const known = index.get(name) ?? [];
    if (!known.some(k => k.group === kind.group && k.version === kind.version && k.kind === kind.kind)) known.push(kind);
    index.set(name, known);
  };
  for (const { group, version, resources } of versions) {
    for (const id of SHARED) add(schemaName(id, naming), { group, kind: id.slice(id.lastIndexOf('.') + 1), version });
    for (const resource of resources.values()) {
      add(kindName(resource, resource.kind, naming), { group, kind: resource.kind, version });
      if (resource.verbs.includes('list'))
        add(kindName(resource, resource.listKind, naming), { group, kind: resource.listKind, version });
      for (const sub of resource.subresources.values()) {
        if (sub.type) add(schemaName(sub.type.id, naming), { group: sub.group, kind: sub.kind, version: sub.version });
      }
    }
  }
  for (const id of PLAIN_TYPES)
    add(schemaName(id, naming), { group: '', kind: id.slice(id.lastIndexOf('.') + 1), version: 'v1' });
  return index;
}

/** Builds documents of one registry; each call renders anew, callers keep the result. */
export class Builder {
  readonly versions: readonly GroupVersion[];
  readonly #source: SchemaSource;
  constructor(
    readonly registry: Registry,
    readonly naming: Naming,
    options: OpenApiOptions,
  ) {
    this.versions = versionsOf(registry);
    const kinds = kindIndex(this.versions, naming);
    this.#source = {
      naming,
      type: findType,
      kinds: name => kinds.get(name) ?? [],
      custom: (resource, dialect) => options.custom?.(resource, dialect),
    };
  }

  /** The version 3 document of one group version. */
  v3(version: GroupVersion): Schema {
    const schemas = new Schemas('v3', this.#source);
    const paths = this.#paths(version, schemas, tag => writerV3(this.naming, tag));
    return documentV3(paths, schemas, releaseName());
  }

  /** The version 2 document of everything. */
  v2(): Schema {
    const schemas = new Schemas('v2', this.#source);
    const paths: Schema = {};
    for (const version of this.versions)
      Object.assign(
        paths,
        this.#paths(version, schemas, tag => writerV2(this.naming, tag)),
      );
    for (const id of PLAIN_TYPES) schemas.byId(id);
    for (const item of plainPaths(schemas)) paths[item.path] = writePath(item, writerV2(this.naming, 'core'));
    return documentV2(paths, schemas, releaseName());
  }

  #paths(version: GroupVersion, schemas: Schemas, writer: (tag: string) => Writer): Schema {
    const tag = `${version.group === '' ? 'core' : version.group.replaceAll(/[.-]/g, '_')}_${version.version}`;
    const operations = new Operations(schemas, rootOf(version));
    const items: PathItem[] = [operations.discovery(`get_${tag}_resources`)];
    for (const resource of resourcesOf(version)) {
      items.push(...operations.resource(resource));
      if (resource.verbs.includes('watch')) schemas.byId('meta.v1.WatchEvent');
    }
    const write = writer(tag);
    const paths: Schema = {};
    for (const item of items)
      paths[item.path] = { ...((paths[item.path] as Schema | undefined) ?? {}), ...writePath(item, write) };
    return Object.fromEntries(Object.entries(paths).sort(([a], [b]) => (a < b ? -1 : 1)));
  }
}

/** The documents that belong to no group version; they are described in version 2 only. */
function plainPaths(schemas: Schemas): PathItem[] {
  const item = (path: string, id: string, answer: Schema | undefined): PathItem => ({
    path,
    parameters: [],
    operations: new Map([['get', { id, parameters: [], codes: [200], answer, streams: false }]]),
  });
  return [
    item('/api/', 'getCoreAPIVersions', schemas.byId('meta.v1.APIVersions')),
    item('/apis/', 'getAPIVersions', schemas.byId('meta.v1.APIGroupList')),
    item('/version/', 'getCodeVersion', schemas.version()),
  ];
}

/** `/api/v1` or `/apis/<group>/<version>`. */
export const rootOf = (version: GroupVersion): string =>
  version.group === '' ? `/api/${version.version}` : `/apis/${version.apiVersion}`;

const releaseName = (): string => `v${RELEASE.major}.${RELEASE.minor}.${RELEASE.patch}`;
