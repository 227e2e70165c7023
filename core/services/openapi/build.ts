import type { HttpDocument } from '../../api/document.js';
import { RELEASE } from '../../release.js';
import { servedGroups, hasBuiltInKinds, sortedResources, servedVersions } from '../discovery/plain.js';
import type { Schema } from './dialect.js';
import { registeredVersions } from './registeredVersions.js';
import type { Naming } from '../../naming.js';
import type { GroupVersion, Registry } from '../../schema/resource.js';
import { findType } from '../../schema/table/types.js';
import { kindName, schemaName } from './names.js';
import {
  capitalize,
  groupTag,
  groupTitle,
  type Operation,
  Operations,
  type PathItem,
  pathItem,
  TEXT,
} from './operations.js';
import { type GroupVersionKind, Schemas, type SchemaSource } from './schemas.js';
import {
  documentV2,
  documentV3,
  type Info,
  type PartV2,
  partV2,
  type Writer,
  writePath,
  writerV2,
  writerV3,
} from './write.js';

/** Types that belong to all registered group versions. */
const SHARED = ['meta.v1.DeleteOptions', 'meta.v1.WatchEvent'];

/** Types of the discovery documents. */
const PLAIN_TYPES = [
  'meta.v1.APIGroup',
  'meta.v1.APIGroupList',
  'meta.v1.APIResourceList',
  'meta.v1.APIVersions',
  'meta.v1.Status',
];

/** All served group versions, the core group first. */
function servedGroupVersions(registry: Registry): GroupVersion[] {
  const core = registry.groups.get('');
  return [...(core ? [core] : []), ...servedGroups(registry)].flatMap(servedVersions);
}

const lastPart = (id: string): string => id.slice(id.lastIndexOf('.') + 1);

/** The kinds that each schema describes, by schema name. */
function kindIndex(
  versions: readonly GroupVersion[],
  naming: Naming,
  registered: readonly { readonly group: string; readonly version: string }[],
): Map<string, GroupVersionKind[]> {
  const index = new Map<string, GroupVersionKind[]>();
  const add = (name: string, kind: GroupVersionKind): void => {
    const known = index.get(name) ?? [];
    if (!known.some(k => k.group === kind.group && k.version === kind.version && k.kind === kind.kind))
      known.push(kind);
    index.set(name, known);
  };
  for (const { group, version, resources } of versions) {
    for (const resource of resources.values()) {
      add(kindName(resource, resource.kind, naming), { group, kind: resource.kind, version });
      if (resource.verbs.includes('list'))
        add(kindName(resource, resource.listKind, naming), { group, kind: resource.listKind, version });
      for (const sub of resource.subresources.values()) {
        if (sub.type) add(schemaName(sub.type.id, naming), { group: sub.group, kind: sub.kind, version: sub.version });
      }
    }
  }
  for (const id of SHARED)
    index.set(
      schemaName(id, naming),
      registered.map(({ group, version }) => ({ group, kind: lastPart(id), version })),
    );
  for (const id of PLAIN_TYPES) add(schemaName(id, naming), { group: '', kind: lastPart(id), version: 'v1' });
  return index;
}

/** Builds the documents of one registry. Nothing is cached here. */
export class Builder {
  readonly versions: readonly GroupVersion[];
  readonly unversioned: ReadonlyMap<string, UnversionedDocument>;
  readonly #source: SchemaSource;
  /** The source for documents of custom kinds. */
  readonly #customSource: SchemaSource;
  constructor(
    readonly registry: Registry,
    readonly naming: Naming,
    documents: readonly HttpDocument[],
  ) {
    this.versions = servedGroupVersions(registry);
    this.unversioned = unversionedDocuments(registry, documents);
    const sourceOf = (custom: boolean): SchemaSource => {
      const kinds = kindIndex(this.versions, naming, registeredVersions(naming, custom));
      return {
        naming,
        type: findType,
        kinds: name => kinds.get(name) ?? [],
      };
    };
    this.#source = sourceOf(false);
    this.#customSource = sourceOf(true);
  }

  /** The OpenAPI 3 document of a group version. */
  v3(version: GroupVersion): Schema {
    const custom = isCustom(version);
    const schemas = new Schemas('v3', custom ? this.#customSource : this.#source);
    const paths = this.#paths(version, schemas, tag => writerV3(this.naming, tag));
    return documentV3(paths, schemas, infoOf(this.naming, custom), custom);
  }

  /** The OpenAPI 3 document of an unversioned path. */
  v3Unversioned(document: UnversionedDocument): Schema {
    const schemas = new Schemas('v3', this.#source);
    const paths = writeUnversioned(document, schemas, writerV3(this.naming, document.tag));
    return documentV3(paths, schemas, infoOf(this.naming));
  }

  /** Returns the part of the OpenAPI 2 document for a group version, or an unversioned path. */
  v2Part(part: GroupVersion | UnversionedDocument): PartV2 {
    const schemas = new Schemas('v2', this.#source);
    const paths =
      'resources' in part
        ? this.#paths(part, schemas, tag => writerV2(this.naming, tag))
        : writeUnversioned(part, schemas, writerV2(this.naming, part.tag));
    return partV2(paths, schemas);
  }

  /** The OpenAPI 2 document of all parts, as JSON. */
  v2(parts: readonly PartV2[]): string {
    const schemas = new Schemas('v2', this.#source);
    for (const id of PLAIN_TYPES) schemas.byId(id);
    return documentV2([...parts, partV2({}, schemas)], infoOf(this.naming));
  }

  #paths(version: GroupVersion, schemas: Schemas, writer: (tag: string) => Writer): Schema {
    const tag = `${groupTag(version.group)}_${version.version}`;
    const operations = new Operations(schemas, rootOf(version));
    const items: PathItem[] = isCustom(version) ? [] : [operations.discovery(version)];
    for (const resource of sortedResources(version)) items.push(...operations.resource(resource));
    const write = writer(tag);
    const paths: Schema = {};
    for (const item of items)
      paths[item.path] = { ...((paths[item.path] as Schema | undefined) ?? {}), ...writePath(item, write) };
    return Object.fromEntries(Object.entries(paths).sort(([a], [b]) => (a < b ? -1 : 1)));
  }
}

/** A path that belongs to no group version and has an OpenAPI document of its own. */
export interface UnversionedDocument {
  readonly path: string;
  readonly id: string;
  readonly tag: string;
  /** Id of the response type; absent for `/version` and text. */
  readonly type?: string;
  /** The media type of a response that is text. */
  readonly produces?: string;
}

/** The unversioned documents, by their name in the index. */
function unversionedDocuments(
  registry: Registry,
  documents: readonly HttpDocument[],
): Map<string, UnversionedDocument> {
  const groups = servedGroups(registry).filter(({ name }) => hasBuiltInKinds(registry, name));
  return new Map<string, UnversionedDocument>([
    ['api', { path: '/api/', id: 'getCoreAPIVersions', tag: 'core', type: 'meta.v1.APIVersions' }],
    ['apis', { path: '/apis/', id: 'getAPIVersions', tag: 'apis', type: 'meta.v1.APIGroupList' }],
    ...groups.map(({ name }): [string, UnversionedDocument] => [
      `apis/${name}`,
      { path: `/apis/${name}/`, id: `get${groupTitle(name)}APIGroup`, tag: groupTag(name), type: 'meta.v1.APIGroup' },
    ]),
    ['version', { path: '/version/', id: 'getCodeVersion', tag: 'version' }],
    ...documents.flatMap(({ path, contentType, openApi }): [string, UnversionedDocument][] =>
      openApi
        ? [[path.slice(1), { path: `${path}/`, id: openApi.operationId, tag: openApi.tag, produces: contentType }]]
        : [],
    ),
  ]);
}

/** Writes the path of an unversioned document. */
function writeUnversioned({ path, id, type, produces }: UnversionedDocument, schemas: Schemas, writer: Writer): Schema {
  const ofType = (): Schema => (type ? schemas.byId(type) : schemas.version()) ?? {};
  const operation: Operation = {
    id,
    parameters: [],
    codes: [200],
    response: produces === undefined ? ofType() : TEXT,
    forms: type ? 'discovery' : 'document',
    ...(produces === undefined ? {} : { produces }),
  };
  return { [path]: writePath(pathItem(path, new Map([['get', operation]])), writer) };
}

/** The URL path of a group version: `/api/v1` or `/apis/<group>/<version>`. */
export const rootOf = (version: GroupVersion): string =>
  version.group === '' ? `/api/${version.version}` : `/apis/${version.apiVersion}`;

/** The info object. Upstream's documents of custom kinds have a title and version of their own. */
const infoOf = (naming: Naming, custom = false): Info =>
  custom
    ? { title: `${capitalize(naming.product)} CRD Swagger`, version: 'v0.1.0' }
    : { title: capitalize(naming.product), version: `${RELEASE.major}.${RELEASE.minor}` };

/** Whether all kinds of a group version are custom ones. */
const isCustom = ({ resources }: GroupVersion): boolean =>
  resources.size > 0 && Array.from(resources.values()).every(resource => !resource.builtIn);
