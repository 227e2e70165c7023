import { createHash } from 'node:crypto';
import { emptyAnswer, type DocumentAnswer, matchesEtag } from '../discovery/answer.js';
import type { Naming } from '../naming.js';
import { covers, parseAccept } from '../request/negotiate.js';
import type { GroupVersion, Registry } from '../schema/resource.js';
import { Builder, type Plain, rootOf } from './build.js';
import { encodeV2 } from './gnostic.js';
import { encodeV3 } from './v3Protobuf.js';

export type { Schema } from './schemas.js';

/** The OpenAPI documents of one registry generation. */
export interface OpenApiDocuments {
  /**
   * The answer to a GET of `path` with its `hash` parameter, undefined outside of these documents. Refusals have no
   * body.
   */
  answer(
    path: string,
    hash: string | undefined,
    accept: string | undefined,
    ifNoneMatch: string | undefined,
  ): DocumentAnswer | undefined;
  /**
   * Renders every document that is still missing, one per turn of the event loop, so that no request has to wait for
   * it.
   */
  warm(): Promise<void>;
}

const V2_PROTOBUF = 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf';
/** The name that clients ask by; `@` is no legal character of a media type, so that answers carry the one above. */
const V2_PROTOBUF_ASKED = 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf';
const V3_PROTOBUF = 'application/com.github.proto-openapi.spec.v3.v1.0+protobuf';
const V3_PROTOBUF_ASKED = 'application/com.github.proto-openapi.spec.v3@v1.0+protobuf';
const YEAR = 365 * 24 * 3600 * 1000;

interface Rendered {
  readonly bytes: Uint8Array;
  readonly hash: string;
}

function rendered(bytes: Uint8Array): Rendered {
  return { bytes, hash: createHash('sha512').update(bytes).digest('hex').toUpperCase() };
}

const json = (value: unknown): Rendered => rendered(Buffer.from(JSON.stringify(value)));

const UNCACHED = { 'cache-control': 'no-cache, private' };
const V2_HEADERS = { vary: 'Accept-Encoding, Accept', ...UNCACHED };
const V3_HEADERS = { vary: 'Accept', ...UNCACHED };

/** The first of the media types that the header accepts. */
function choose(accept: string | undefined, offered: readonly string[]): string | undefined {
  for (const range of parseAccept(accept)) {
    const found = offered.find(type => covers(range, type));
    if (found) return found;
  }
  return undefined;
}

class Documents implements OpenApiDocuments {
  readonly #builder: Builder;
  /** What has a document of version 3, by its name in the index. */
  readonly #parts: ReadonlyMap<string, GroupVersion | Plain>;
  /** By part: what did not change from one registry to the next is rendered once. */
  readonly #v3: WeakMap<GroupVersion | Plain, Rendered>;
  /** Other forms of the documents above; they share their hash, which says whether the content changed. */
  readonly #v3Protobuf = new WeakMap<Rendered, Rendered>();
  #v2: Rendered | undefined;
  #v2Protobuf: Rendered | undefined;
  #index: Rendered | undefined;

  constructor(registry: Registry, naming: Naming, previous?: Documents) {
    this.#v3 = previous ? previous.#v3 : new WeakMap();
    this.#builder = new Builder(registry, naming);
    const versions = this.#builder.versions.map((version): [string, GroupVersion] => [
      rootOf(version).slice(1),
      version,
    ]);
    const known: ReadonlyMap<string, GroupVersion | Plain> = previous ? previous.#parts : new Map();
    const plain = [...this.#builder.plain].map(([name, one]): [string, GroupVersion | Plain] => [
      name,
      known.get(name) ?? one,
    ]);
    this.#parts = new Map([...versions, ...plain].sort(([a], [b]) => (a < b ? -1 : 1)));
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
    return part ? this.#version3(name, part, hash, accept, ifNoneMatch) : emptyAnswer(404, UNCACHED);
  }

  async warm(): Promise<void> {
    const turn = (): Promise<void> => new Promise(resolve => setImmediate(resolve));
    for (const part of this.#parts.values()) {
      await turn();
      this.#render(part);
    }
    await turn();
    this.#renderV2();
  }

  #render(part: GroupVersion | Plain): Rendered {
    let document = this.#v3.get(part);
    if (!document) {
      document = json('resources' in part ? this.#builder.v3(part) : this.#builder.v3Plain(part));
      this.#v3.set(part, document);
    }
    return document;
  }

  #renderV2(): Rendered {
    this.#v2 ??= json(this.#builder.v2());
    return this.#v2;
  }

  #version2(accept: string | undefined, ifNoneMatch: string | undefined): DocumentAnswer {
    const chosen = choose(accept, ['application/json', V2_PROTOBUF_ASKED, V2_PROTOBUF]);
    if (!chosen) return emptyAnswer(406, V2_HEADERS);
    const contentType = chosen === V2_PROTOBUF_ASKED ? V2_PROTOBUF : chosen;
    const plain = this.#renderV2();
    if (contentType === V2_PROTOBUF)
      this.#v2Protobuf ??= rendered(encodeV2(JSON.parse(Buffer.from(plain.bytes).toString())));
    const document = contentType === V2_PROTOBUF && this.#v2Protobuf ? this.#v2Protobuf : plain;
    return conditional(document, contentType, ifNoneMatch, V2_HEADERS);
  }

  /** Upstream looks at no header here and names no type, so that the type is guessed from the bytes. */
  #version3Index(): DocumentAnswer {
    if (!this.#index) {
      const paths: Record<string, { serverRelativeURL: string }> = {};
      for (const [name, part] of this.#parts)
        paths[name] = { serverRelativeURL: addressOf(name, this.#render(part).hash) };
      this.#index = json({ paths });
    }
    return { status: 200, contentType: 'text/plain; charset=utf-8', bytes: this.#index.bytes, headers: UNCACHED };
  }

  #version3(
    name: string,
    part: GroupVersion | Plain,
    hash: string | undefined,
    accept: string | undefined,
    ifNoneMatch: string | undefined,
  ): DocumentAnswer {
    const chosen = choose(accept, ['application/json', V3_PROTOBUF_ASKED, V3_PROTOBUF]);
    if (!chosen) return emptyAnswer(406, V3_HEADERS);
    const contentType = chosen === V3_PROTOBUF_ASKED ? V3_PROTOBUF : chosen;
    const document = this.#render(part);
    if (hash !== undefined && hash !== document.hash) {
      const headers = { ...V3_HEADERS, location: addressOf(name, document.hash) };
      return emptyAnswer(301, headers, tagOf(document), contentType);
    }
    const kept = {
      vary: 'Accept',
      'cache-control': 'public, immutable',
      expires: new Date(Date.now() + YEAR).toUTCString(),
    };
    const shown = contentType === V3_PROTOBUF ? this.#renderV3Protobuf(document) : document;
    return conditional(shown, contentType, ifNoneMatch, hash === undefined ? V3_HEADERS : kept);
  }

  #renderV3Protobuf(document: Rendered): Rendered {
    let made = this.#v3Protobuf.get(document);
    if (!made) {
      made = { bytes: encodeV3(JSON.parse(Buffer.from(document.bytes).toString())), hash: document.hash };
      this.#v3Protobuf.set(document, made);
    }
    return made;
  }
}

const addressOf = (name: string, hash: string): string => `/openapi/v3/${name}?hash=${hash}`;

const tagOf = ({ hash }: Rendered): string => `"${hash}"`;

/** Here, unlike in discovery, `*` stands for every tag. */
function conditional(
  document: Rendered,
  contentType: string,
  ifNoneMatch: string | undefined,
  headers: Readonly<Record<string, string>>,
): DocumentAnswer {
  const etag = tagOf(document);
  if (ifNoneMatch?.trim().startsWith('*') || matchesEtag(ifNoneMatch, etag)) return emptyAnswer(304, headers, etag);
  return { status: 200, contentType, etag, bytes: document.bytes, headers };
}

/**
 * The OpenAPI documents of a frozen registry, rendered when first asked for and kept; those of an earlier registry are
 * used again where nothing changed.
 */
export const openApiDocuments = (registry: Registry, naming: Naming, previous?: OpenApiDocuments): OpenApiDocuments =>
  new Documents(registry, naming, previous instanceof Documents ? previous : undefined);
