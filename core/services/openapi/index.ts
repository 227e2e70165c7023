import { readJson, writeJson } from '../../model/text/jsonText.js';
import type { JsonObject } from '../../model/object.js';
import { createHash } from 'node:crypto';
import type { HttpDocument } from '../../api/document.js';
import { systemTime } from '../../runtime/clock.js';
import { nextTurn } from '../../runtime/timers.js';
import { matchesEtag } from '../../model/text/httpHeaders.js';
import { emptyAnswer, type DocumentAnswer } from '../discovery/answer.js';
import type { Naming } from '../../naming.js';
import { covers, parseAccept } from '../../request/negotiate.js';
import type { GroupVersion, Registry } from '../../schema/resource.js';
import { Builder, type UnversionedDocument, rootOf } from './build.js';
import { encodeV2 } from './gnostic.js';
import { NO_DESCRIPTIONS, type OtherDescriptions, withoutConflictsIn } from './otherServers.js';
import type { PartV2 } from './write.js';
import { encodeV3 } from './v3Protobuf.js';

export type { Schema } from './dialect.js';

/** The OpenAPI documents of one registry generation. */
export interface OpenApiDocuments {
  /**
   * Answers a GET of `path` with its `hash` parameter. Returns undefined if the path is not that of an OpenAPI
   * document. Answers other than 200 have no body.
   */
  answer(
    path: string,
    hash: string | undefined,
    accept: string | undefined,
    ifNoneMatch: string | undefined,
  ): DocumentAnswer | undefined;
  /**
   * Renders the parts of the answer to a path that are not cached yet, one group version per turn of the event loop, so
   * that other requests do not wait for a document of all kinds.
   */
  prepare(path: string): Promise<void>;
}

const V2_PROTOBUF = 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf';
/** The media type in clients' Accept headers. `@` is not allowed in media types, so answers use the one above. */
const V2_PROTOBUF_ACCEPT = 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf';
const V3_PROTOBUF = 'application/com.github.proto-openapi.spec.v3.v1.0+protobuf';
const V3_PROTOBUF_ACCEPT = 'application/com.github.proto-openapi.spec.v3@v1.0+protobuf';
/**
 * In milliseconds. A document that was requested by its hash never changes, so clients may cache it for a long time.
 */
const YEAR = 365 * 24 * 3600 * 1000;

/** The subject of a document: a group version or an unversioned path. */
type Part = GroupVersion | UnversionedDocument;

interface Rendered {
  readonly bytes: Uint8Array;
  readonly hash: string;
}

function render(bytes: Uint8Array): Rendered {
  return { bytes, hash: createHash('sha512').update(bytes).digest('hex').toUpperCase() };
}

const renderJson = (value: unknown): Rendered => render(Buffer.from(writeJson(value)));

const NO_CACHE = { 'cache-control': 'no-cache, private' };
const V2_HEADERS = { vary: 'Accept-Encoding, Accept', ...NO_CACHE };
const V3_HEADERS = { vary: 'Accept', ...NO_CACHE };

/** The first of the media types that the header accepts. */
function chooseType(accept: string | undefined, offered: readonly string[]): string | undefined {
  for (const range of parseAccept(accept)) {
    const found = offered.find(type => covers(range, type));
    if (found) return found;
  }
  return undefined;
}

class Documents implements OpenApiDocuments {
  readonly #builder: Builder;
  /** The subjects of version 3 documents, by their name in the index. */
  readonly #parts: ReadonlyMap<string, Part>;
  /** Documents by subject; subjects that did not change keep theirs from one registry to the next. */
  readonly #v3: WeakMap<Part, Rendered>;
  /** The parts of the version 2 document, which outlive a registry in the same way. */
  readonly #v2Parts: WeakMap<Part, PartV2>;
  /** Protobuf encodings of the documents above. They have the same hash, which identifies the content. */
  readonly #v3Protobuf = new WeakMap<Rendered, Rendered>();
  #v2: Rendered | undefined;
  #v2Protobuf: Rendered | undefined;
  #index: Rendered | undefined;
  readonly #others: OtherDescriptions;

  constructor({ registry, naming, documents, others }: OpenApiInputs, previous?: Documents) {
    this.#others = others;
    this.#v3 = previous ? previous.#v3 : new WeakMap();
    this.#v2Parts = previous ? previous.#v2Parts : new WeakMap();
    this.#builder = new Builder(registry, naming, documents);
    const versions = this.#builder.versions.map((version): [string, GroupVersion] => [
      rootOf(version).slice(1),
      version,
    ]);
    const known: ReadonlyMap<string, Part> = previous ? previous.#parts : new Map();
    const unversioned = [...this.#builder.unversioned].map(([name, document]): [string, Part] => [
      name,
      known.get(name) ?? document,
    ]);
    this.#parts = new Map([...versions, ...unversioned].sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  answer(
    path: string,
    hash: string | undefined,
    accept: string | undefined,
    ifNoneMatch: string | undefined,
  ): DocumentAnswer | undefined {
    if (path === '/openapi/v2') return this.#version2(accept, ifNoneMatch);
    if (path === '/openapi/v3') return this.#version3Index();
    if (!path.startsWith('/openapi/v3/')) return undefined;
    const name = path.slice('/openapi/v3/'.length);
    const part = this.#parts.get(name);
    return part ? this.#version3(name, part, hash, accept, ifNoneMatch) : emptyAnswer(404, NO_CACHE);
  }

  async prepare(path: string): Promise<void> {
    const [cache, render] =
      path === '/openapi/v2'
        ? ([this.#v2Parts, (part: Part) => this.#renderV2Part(part)] as const)
        : ([this.#v3, (part: Part) => this.#render(part)] as const);
    // These two need all parts: the index of version 3 has their hashes. Other paths need only one part.
    if (path !== '/openapi/v2' && path !== '/openapi/v3') return;
    for (const part of this.#parts.values()) {
      if (cache.has(part)) continue;
      render(part);
      await nextTurn();
    }
  }

  #render(part: Part): Rendered {
    let document = this.#v3.get(part);
    if (!document) {
      document = renderJson('resources' in part ? this.#builder.v3(part) : this.#builder.v3Unversioned(part));
      this.#v3.set(part, document);
    }
    return document;
  }

  #renderV2Part(part: Part): PartV2 {
    let rendered = this.#v2Parts.get(part);
    if (!rendered) {
      rendered = this.#builder.v2Part(part);
      this.#v2Parts.set(part, rendered);
    }
    return rendered;
  }

  #renderV2(): Rendered {
    if (!this.#v2) {
      const unversioned = [...this.#parts.values()].filter(part => !('resources' in part));
      const { parts: others } = this.#others;
      const versions = this.#builder.versions.filter(version => !others.has(rootOf(version).slice(1)));
      const parts = [...versions, ...unversioned].map(part => this.#renderV2Part(part));
      this.#v2 = render(Buffer.from(this.#builder.v2([...parts, ...withoutConflictsIn(parts, others.values())])));
    }
    return this.#v2;
  }

  #version2(accept: string | undefined, ifNoneMatch: string | undefined): DocumentAnswer {
    const chosen = chooseType(accept, ['application/json', V2_PROTOBUF_ACCEPT, V2_PROTOBUF]);
    if (!chosen) return emptyAnswer(406, V2_HEADERS);
    const contentType = chosen === V2_PROTOBUF_ACCEPT ? V2_PROTOBUF : chosen;
    const inJson = this.#renderV2();
    if (contentType === V2_PROTOBUF) this.#v2Protobuf ??= render(encodeV2(readJson(inJson.bytes) as JsonObject));
    const document = contentType === V2_PROTOBUF && this.#v2Protobuf ? this.#v2Protobuf : inJson;
    return conditionalAnswer(document, contentType, ifNoneMatch, V2_HEADERS);
  }

  /** Like upstream, ignores the Accept header and answers with the content type that Go detects from the bytes. */
  #version3Index(): DocumentAnswer {
    if (!this.#index) {
      const urls = new Map([...this.#parts].map(([name, part]) => [name, documentUrl(name, this.#render(part).hash)]));
      for (const [name, url] of this.#others.urls) urls.set(name, url);
      const sorted = [...urls].sort(([a], [b]) => (a < b ? -1 : 1));
      const paths = Object.fromEntries(sorted.map(([name, url]) => [name, { serverRelativeURL: url }]));
      this.#index = renderJson({ paths });
    }
    return { status: 200, contentType: 'text/plain; charset=utf-8', bytes: this.#index.bytes, headers: NO_CACHE };
  }

  #version3(
    name: string,
    part: Part,
    hash: string | undefined,
    accept: string | undefined,
    ifNoneMatch: string | undefined,
  ): DocumentAnswer {
    const chosen = chooseType(accept, ['application/json', V3_PROTOBUF_ACCEPT, V3_PROTOBUF]);
    if (!chosen) return emptyAnswer(406, V3_HEADERS);
    const contentType = chosen === V3_PROTOBUF_ACCEPT ? V3_PROTOBUF : chosen;
    const document = this.#render(part);
    if (hash !== undefined && hash !== document.hash) {
      const headers = { ...V3_HEADERS, location: documentUrl(name, document.hash) };
      return emptyAnswer(301, headers, etagOf(document), contentType);
    }
    const immutable = {
      vary: 'Accept',
      'cache-control': 'public, immutable',
      expires: new Date(systemTime() + YEAR).toUTCString(),
    };
    const encoded = contentType === V3_PROTOBUF ? this.#renderV3Protobuf(document) : document;
    return conditionalAnswer(encoded, contentType, ifNoneMatch, hash === undefined ? V3_HEADERS : immutable);
  }

  #renderV3Protobuf(document: Rendered): Rendered {
    let encoded = this.#v3Protobuf.get(document);
    if (!encoded) {
      encoded = { bytes: encodeV3(readJson(document.bytes) as JsonObject), hash: document.hash };
      this.#v3Protobuf.set(document, encoded);
    }
    return encoded;
  }
}

const documentUrl = (name: string, hash: string): string => `/openapi/v3/${name}?hash=${hash}`;

const etagOf = ({ hash }: Rendered): string => `"${hash}"`;

/** Unlike in discovery, `If-None-Match: *` matches every tag. */
function conditionalAnswer(
  document: Rendered,
  contentType: string,
  ifNoneMatch: string | undefined,
  headers: Readonly<Record<string, string>>,
): DocumentAnswer {
  const etag = etagOf(document);
  if (ifNoneMatch?.trim().startsWith('*') || matchesEtag(ifNoneMatch, etag)) return emptyAnswer(304, headers, etag);
  return { status: 200, contentType, etag, bytes: document.bytes, headers };
}

/** The inputs of OpenAPI documents. */
export interface OpenApiInputs {
  /** The registry, frozen. */
  readonly registry: Registry;
  readonly naming: Naming;
  /** Documents of plugins; those with a description are described. */
  readonly documents: readonly HttpDocument[];
  readonly others: OtherDescriptions;
}

/**
 * The OpenAPI documents of a registry, rendered when first requested and cached. Unchanged documents are taken from
 * `previous`, those of earlier inputs.
 */
export const openApiDocuments = (
  registry: Registry,
  naming: Naming,
  { documents = [], others = NO_DESCRIPTIONS }: Partial<Pick<OpenApiInputs, 'documents' | 'others'>> = {},
  previous?: OpenApiDocuments,
): OpenApiDocuments =>
  new Documents({ registry, naming, documents, others }, previous instanceof Documents ? previous : undefined);
