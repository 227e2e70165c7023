import { createHash } from 'node:crypto';
import { withoutTrailing } from '../model/trailing.js';
import { type Naming, namingOf } from '../naming.js';
import { covers, type MediaName, type MediaRange, negotiate, parseAccept } from '../request/negotiate.js';
import { encodeCommon } from '../schema/protobuf.js';
import type { Registry } from '../schema/resource.js';
import { encodeYaml } from '../schema/yaml.js';
import { AGGREGATED_VERSIONS, aggregatedList } from './aggregated.js';
import { bare, type DocumentAnswer, type DocumentSet, matches } from './answer.js';
import { apiVersions, groupDocument, groupList, groupsOf, isTabled, resourceList, servedOf } from './plain.js';
import { rootPaths, versionInfo } from './root.js';

export type { DocumentAnswer, DocumentSet } from './answer.js';

/** What discovery cannot read from the registry. */
export interface DiscoveryOptions {
  /** `host:port` that clients are told to use. */
  readonly serverAddress?: string;
  /** Paths listed at `/` beyond those of discovery itself. */
  readonly paths?: readonly string[];
}

const UNCACHED = { 'cache-control': 'no-cache, private' };
const AGGREGATED = { vary: 'Accept', 'cache-control': 'public' };
const ENCODER = new TextEncoder();

/**
 * What decides about a request for a document: its `route`, which has GET alone and declares its media types, a
 * `handler` that looks at no method, or
 * `nobody`: it is written as it is.
 */
type Judge = 'route' | 'handler' | 'nobody';

/** A document under one path: its value, and the bytes of each media type once asked for. */
class Plain {
  readonly #bytes = new Map<string, Uint8Array>();
  constructor(
    readonly build: () => object,
    readonly judge: Judge,
    readonly media: readonly MediaName[] = ALL,
  ) {}

  answer(accept: string | undefined, naming: Naming, indent: boolean): DocumentAnswer {
    const { media, judge } = this;
    const offer = { media, forms: ['object'], stream: false, naming, routed: judge === 'route' } as const;
    const choice = negotiate(judge === 'nobody' ? undefined : accept, offer);
    const pretty = choice.pretty ?? indent;
    const key = `${choice.media} ${pretty}`;
    let bytes = this.#bytes.get(key);
    if (!bytes) {
      const value = this.build();
      if (choice.media === 'protobuf') bytes = encodeCommon(value as { kind: string })!;
      else if (choice.media === 'yaml') bytes = ENCODER.encode(encodeYaml(value));
      else bytes = ENCODER.encode(`${pretty ? JSON.stringify(value, null, 2) : JSON.stringify(value)}\n`);
      this.#bytes.set(key, bytes);
    }
    return { status: 200, contentType: choice.contentType, bytes, headers: UNCACHED };
  }
}

const ALL: readonly MediaName[] = ['json', 'yaml', 'protobuf'];
const JSON_ALONE: readonly MediaName[] = ['json'];

function plainDocuments(registry: Registry, options: DiscoveryOptions): Map<string, Plain> {
  const root = new Plain(() => ({ paths: rootPaths(registry, options.paths ?? []) }), 'nobody', JSON_ALONE);
  const documents = new Map<string, Plain>([
    ['/api', new Plain(() => apiVersions(registry, options.serverAddress ?? 'localhost:443'), 'route')],
    ['/apis', new Plain(() => groupList(registry), 'handler')],
    ['/version', new Plain(() => versionInfo(), 'route', JSON_ALONE)],
    ['/', root],
    ['/index.html', root],
  ]);
  for (const version of servedOf(registry.groups.get('') ?? { name: '', priority: 0, preferred: '', versions: [] })) {
    documents.set(`/api/${version.version}`, new Plain(() => resourceList(version), 'route'));
  }
  for (const group of groupsOf(registry)) {
    documents.set(`/apis/${group.name}`, new Plain(() => groupDocument(group), 'handler'));
    const judge = isTabled(registry, group.name) ? 'route' : 'handler';
    for (const version of servedOf(group)) {
      documents.set(`/apis/${version.apiVersion}`, new Plain(() => resourceList(version), judge));
    }
  }
  return documents;
}

/**
 * Stock clients ask in the upstream spelling whatever the server calls its groups; the answer's media type repeats the
 * spelling asked for.
 */
const SPELLINGS = new Set(
  (['neutral', 'kubernetes'] as const).map(name => namingOf(name).group('apidiscovery.orchestrator.io')),
);

/** The version of the aggregated form that a range asks for, undefined where it asks for another form. */
function aggregatedVersion(range: MediaRange): string | undefined {
  if (range.parameters.get('as') !== 'APIGroupDiscoveryList' || !covers(range, 'application/json')) return undefined;
  if (!SPELLINGS.has(range.parameters.get('g') ?? '')) return undefined;
  const version = range.parameters.get('v') ?? '';
  return AGGREGATED_VERSIONS.some(known => known === version) ? version : undefined;
}

/**
 * What is served without looking at routes, with the slashes that it may end in: to the others slashes at the end mean
 * nothing.
 */
const EXACT: ReadonlyMap<string, string> = new Map([
  ['/', '/'],
  ['/apis', '/apis'],
  ['/apis/', '/apis'],
]);
const trimmed = (path: string): string => EXACT.get(path) ?? withoutTrailing(path, '/');

/** The discovery documents of one registry generation. */
class Documents implements DocumentSet {
  readonly #plain: ReadonlyMap<string, Plain>;
  readonly #aggregated = new Map<string, { bytes: Uint8Array; etag: string }>();
  constructor(
    readonly registry: Registry,
    readonly naming: Naming,
    readonly options: DiscoveryOptions,
  ) {
    this.#plain = plainDocuments(registry, options);
  }

  answer(
    path: string,
    accept: string | undefined,
    ifNoneMatch: string | undefined,
    indent = false,
  ): DocumentAnswer | undefined {
    const plain = this.#find(path);
    if (!plain) return undefined;
    // The list of groups has its aggregated form without a slash at the end alone.
    if (trimmed(path) === '/api' || path === '/apis') {
      // Any range for the aggregated form is better than plain JSON, wherever it stands in the header.
      for (const range of parseAccept(accept)) {
        const version = aggregatedVersion(range);
        if (version) return this.#aggregate(path !== '/apis', version, range.parameters.get('g') ?? '', ifNoneMatch);
      }
    }
    return plain.answer(accept, this.naming, indent);
  }

  hasGetAlone(path: string): boolean {
    return this.#find(path)?.judge === 'route';
  }

  #find(path: string): Plain | undefined {
    const name = trimmed(path);
    return EXACT.has(name) && !EXACT.has(path) ? undefined : this.#plain.get(name);
  }

  #aggregate(core: boolean, version: string, group: string, ifNoneMatch: string | undefined): DocumentAnswer {
    const key = `${core} ${version}`;
    let document = this.#aggregated.get(key);
    if (!document) {
      const apiVersion = `${this.naming.group('apidiscovery.orchestrator.io')}/${version}`;
      const bytes = ENCODER.encode(`${JSON.stringify(aggregatedList(this.registry, apiVersion, core))}\n`);
      document = { bytes, etag: `"${createHash('sha256').update(bytes).digest('hex').toUpperCase()}"` };
      this.#aggregated.set(key, document);
    }
    const contentType = `application/json;g=${group};v=${version};as=APIGroupDiscoveryList`;
    const { etag, bytes } = document;
    if (matches(ifNoneMatch, etag)) return bare(304, AGGREGATED, etag);
    return { status: 200, contentType, etag, bytes, headers: AGGREGATED };
  }
}

/**
 * The documents at `/`, `/version`, `/api` and `/apis` of one frozen registry. Rendered when first asked for, then
 * kept.
 */
export const documents = (registry: Registry, naming: Naming, options: DiscoveryOptions = {}): DocumentSet =>
  new Documents(registry, naming, options);

/**
 * Whether a path below `/api` or `/apis` lies in a group of the table: its absence is then a Status and not the plain
 * 404 text.
 */
export function inKnownGroup(registry: Registry, path: string): boolean {
  const [, root, group] = path.split('/');
  if (root === 'api') return group !== undefined && group !== '';
  return root === 'apis' && group !== undefined && group !== '' && isTabled(registry, group);
}
