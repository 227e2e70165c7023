import { createHash } from 'node:crypto';
import { withoutTrailing } from '../../model/text/trailing.js';
import { type Naming, namingOf } from '../../naming.js';
import { encodeJsonBody } from '../../request/forms.js';
import {
  checkAccepts,
  covers,
  type MediaName,
  type MediaRange,
  mediaTypeOf,
  negotiate,
  parseAccept,
} from '../../request/negotiate.js';
import { encodeCommon } from '../../schema/protobuf/protobuf.js';
import type { Registry } from '../../schema/resource.js';
import { encodeYaml } from '../../schema/yaml/yamlText.js';
import { AGGREGATED_VERSIONS, aggregatedDocument, aggregatedJson } from './aggregated.js';
import { matchesEtag } from '../../model/text/httpHeaders.js';
import { emptyAnswer, type DocumentAnswer, type DocumentSet } from './answer.js';
import { NO_OTHERS, type Others, type ShownGroup, shownGroups } from './otherServers.js';
import { apiVersions, groupDocument, groupList, hasBuiltInKinds, resourceList, servedVersions } from './plain.js';
import { rootPaths, versionInfo } from './root.js';

export type { DocumentAnswer, DocumentSet } from './answer.js';

/** Inputs of discovery besides the registry. */
export interface DiscoveryOptions {
  /** Returns the `host:port` at which clients reach the server. Called when `/api` is first requested. */
  readonly serverAddress?: () => string;
  /** Paths listed at `/` beyond those of discovery itself. */
  readonly paths?: readonly string[];
  /** The groups of other servers; default: none. */
  readonly others?: Others;
}

const NO_CACHE = { 'cache-control': 'no-cache, private' };
const AGGREGATED_HEADERS = { vary: 'Accept', 'cache-control': 'public' };

/**
 * How upstream serves a document, which determines its error answers. `route`: by GET only, with declared media types.
 * `handler`: for all methods. `none`: for all methods, ignoring the Accept header.
 */
type Negotiation = 'route' | 'handler' | 'none';

/** The document of one path: its value, and the bytes of each media type, cached once requested. */
class PlainDocument {
  readonly #bytes = new Map<string, Uint8Array>();
  constructor(
    readonly build: () => object,
    readonly negotiation: Negotiation,
    readonly media: readonly MediaName[] = ALL,
    /** Indented even if the client does not ask for it. */
    readonly alwaysPretty = false,
  ) {}

  answer(accept: string | undefined, naming: Naming, indent: boolean): DocumentAnswer {
    const { media, negotiation } = this;
    const offer = { media, forms: ['object'], stream: false, naming, routed: negotiation === 'route' } as const;
    // If a document has only a JSON form, parameters of the media type are ignored.
    if (media === JSON_ONLY && negotiation === 'route') checkAccepts(accept, 'application/json');
    const choice = negotiate(media === JSON_ONLY ? undefined : accept, offer);
    const pretty = this.alwaysPretty || (choice.pretty ?? indent);
    const key = `${choice.media} ${pretty}`;
    let bytes = this.#bytes.get(key);
    if (!bytes) {
      bytes = encodeDocument(this.build() as { kind: string }, choice.media, pretty);
      this.#bytes.set(key, bytes);
    }
    return { status: 200, contentType: choice.contentType, bytes, headers: NO_CACHE };
  }
}

/** Encodes a document whose type is in the package. */
function encodeDocument(
  value: { readonly kind: string },
  media: MediaName,
  pretty: boolean,
  packageName?: string,
): Uint8Array {
  if (media === 'protobuf') return encodeCommon(value, packageName)!;
  if (media === 'yaml') return Buffer.from(encodeYaml(value));
  return encodeJsonBody(value, pretty);
}

const ALL: readonly MediaName[] = ['json', 'yaml', 'protobuf'];
const JSON_ONLY: readonly MediaName[] = ['json'];

/** The document of a path that does not depend on the groups; undefined if it has none. */
function fixedDocument(
  registry: Registry,
  groups: readonly ShownGroup[],
  path: string,
  options: DiscoveryOptions,
): PlainDocument | undefined {
  switch (path) {
    case '/':
    case '/index.html':
      return new PlainDocument(
        () => ({ paths: rootPaths(registry, groups, options.paths ?? []) }),
        'none',
        JSON_ONLY,
        true,
      );
    case '/version':
      return new PlainDocument(() => versionInfo(), 'route', JSON_ONLY, true);
    case '/api':
      return new PlainDocument(() => apiVersions(registry, options.serverAddress?.() ?? 'localhost:443'), 'route');
    case '/apis':
      return new PlainDocument(() => groupList(groups), 'handler');
    default:
      return undefined;
  }
}

/** The document of a group at `/apis/<group>`, or of a version at `/api/<version>` or `/apis/<group>/<version>`. */
function groupDocumentAt(registry: Registry, groups: readonly ShownGroup[], path: string): PlainDocument | undefined {
  const [, root, ...names] = path.split('/');
  const [name, version] = root === 'api' ? ['', ...names] : names;
  const depth = root === 'api' ? 1 : 2;
  if (names.length > depth || (root === 'apis' ? name === '' : root !== 'api')) return undefined;
  if (names.length < depth) {
    const shown = root === 'apis' ? groups.find(one => one.name === name) : undefined;
    return shown && new PlainDocument(() => groupDocument(shown), 'handler');
  }
  const group = registry.groups.get(name ?? '');
  if (!group) return undefined;
  const found = servedVersions(group).find(one => one.version === version);
  const negotiation = root === 'api' || hasBuiltInKinds(registry, group.name) ? 'route' : 'handler';
  return found && new PlainDocument(() => resourceList(found), negotiation);
}

/** Both spellings of the discovery group: clients use upstream's even if the server's naming is neutral. */
const SPELLINGS = new Set(
  (['neutral', 'kubernetes'] as const).map(name => namingOf(name).group('apidiscovery.orchestrator.io')),
);

/** The version of aggregated discovery that a media range requests; undefined if it requests something else. */
function aggregatedVersion(range: MediaRange): string | undefined {
  if (range.parameters.get('as') !== 'APIGroupDiscoveryList') return undefined;
  if (!SPELLINGS.has(range.parameters.get('g') ?? '')) return undefined;
  const version = range.parameters.get('v') ?? '';
  return AGGREGATED_VERSIONS.some(known => known === version) ? version : undefined;
}

/** Paths that are compared exactly. At all other paths trailing slashes are ignored. */
const EXACT_PATHS: ReadonlyMap<string, string> = new Map([
  ['/', '/'],
  ['/apis', '/apis'],
  ['/apis/', '/apis'],
]);
const normalizePath = (path: string): string => EXACT_PATHS.get(path) ?? withoutTrailing(path, '/');

/** The discovery documents of one registry generation. */
class Documents implements DocumentSet {
  /**
   * Documents that were requested, by path: of a thousand groups, most are not before the next registry replaces this
   * one.
   */
  readonly #plain = new Map<string, PlainDocument>();
  readonly #aggregated = new Map<string, { bytes: Uint8Array; etag: string }>();
  readonly #groups: readonly ShownGroup[];
  constructor(
    readonly registry: Registry,
    readonly naming: Naming,
    readonly options: DiscoveryOptions,
  ) {
    this.#groups = shownGroups(registry, options.others ?? NO_OTHERS);
  }

  answer(
    path: string,
    accept: string | undefined,
    ifNoneMatch: string | undefined,
    indent = false,
  ): DocumentAnswer | undefined {
    const plain = this.#find(path);
    if (!plain) return undefined;
    // Upstream serves no aggregated form at `/apis/`.
    if (normalizePath(path) === '/api' || path === '/apis') {
      if (path !== '/apis') checkAccepts(accept, ...ALL.map(media => mediaTypeOf(media, this.naming)));
      // The aggregated form takes precedence over the others at any position of the header.
      for (const range of parseAccept(accept)) {
        const version = aggregatedVersion(range);
        const media = version && ALL.find(one => covers(range, mediaTypeOf(one, this.naming)));
        if (media) return this.#aggregate(path !== '/apis', version, media, range, ifNoneMatch, indent);
      }
    }
    return plain.answer(accept, this.naming, indent);
  }

  isGetOnly(path: string): boolean {
    return this.#find(path)?.negotiation === 'route';
  }

  #find(path: string): PlainDocument | undefined {
    const name = normalizePath(path);
    if (EXACT_PATHS.has(name) && !EXACT_PATHS.has(path)) return undefined;
    const known = this.#plain.get(name);
    if (known) return known;
    const made =
      fixedDocument(this.registry, this.#groups, name, this.options) ??
      groupDocumentAt(this.registry, this.#groups, name);
    if (made) this.#plain.set(name, made);
    return made;
  }

  #aggregate(
    core: boolean,
    version: string,
    media: MediaName,
    { parameters }: MediaRange,
    ifNoneMatch: string | undefined,
    indent: boolean,
  ): DocumentAnswer {
    const group = parameters.get('g')!;
    const key = `${core} ${version} ${media} ${indent}`;
    let document = this.#aggregated.get(key);
    if (!document) {
      const coreGroup = this.registry.groups.get('');
      const groups = core ? (coreGroup ? [coreGroup] : []) : this.#groups;
      const apiVersion = `${this.naming.group('apidiscovery.orchestrator.io')}/${version}`;
      const encode = (isIndented: boolean): Uint8Array =>
        media === 'json' && !isIndented
          ? Buffer.from(aggregatedJson(groups, apiVersion))
          : encodeDocument(aggregatedDocument(groups, apiVersion), media, isIndented, packageName);
      const packageName = `apidiscovery.${version}`;
      const bytes = encode(indent);
      // Upstream's tag does not depend on the indentation.
      const tagged = indent ? encode(false) : bytes;
      document = { bytes, etag: `"${createHash('sha256').update(tagged).digest('hex').toUpperCase()}"` };
      this.#aggregated.set(key, document);
    }
    const contentType = `${mediaTypeOf(media, this.naming)};g=${group};v=${version};as=APIGroupDiscoveryList`;
    const { etag, bytes } = document;
    if (matchesEtag(ifNoneMatch, etag)) return emptyAnswer(304, AGGREGATED_HEADERS, etag);
    return { status: 200, contentType, etag, bytes, headers: AGGREGATED_HEADERS };
  }
}

/** The documents at `/`, `/version`, `/api` and `/apis` of a frozen registry, rendered when first requested. */
export const discoveryDocuments = (registry: Registry, naming: Naming, options: DiscoveryOptions = {}): DocumentSet =>
  new Documents(registry, naming, options);

/**
 * Whether a path is in a group with built-in kinds. If so, an unknown path is answered by a Status, otherwise by text.
 */
export function inKnownGroup(registry: Registry, path: string): boolean {
  const [, root, group] = path.split('/');
  if (root === 'api') return group !== undefined && group !== '';
  return root === 'apis' && group !== undefined && group !== '' && hasBuiltInKinds(registry, group);
}
