/** A finished answer of a document; `bytes` is empty for all but 200. */
export interface DocumentAnswer {
  readonly status: 200 | 301 | 304 | 404 | 406;
  /** Empty where nothing tells of a type. */
  readonly contentType: string;
  readonly etag?: string;
  readonly bytes: Uint8Array;
  /** Further headers, lower-case names: vary, cache-control, location, expires. */
  readonly headers: Readonly<Record<string, string>>;
}

/** Documents that are the same for every client: rendered once per registry generation and answered from memory. */
export interface DocumentSet {
  /**
   * The answer to a GET of `path` (without query), undefined where no document stands there. Throws a Refusal (406)
   * where `accept` fits none of its forms. `indent`: the client is a person, unless the media type says otherwise.
   */
  answer(
    path: string,
    accept: string | undefined,
    ifNoneMatch: string | undefined,
    indent?: boolean,
  ): DocumentAnswer | undefined;
  /** Whether a document stands at `path` that no method but GET asks for. */
  hasGetAlone(path: string): boolean;
}

/**
 * Whether an If-None-Match header lists the tag (RFC 9110, section 13.1.2). `*` is not honoured: upstream answers
 * discovery in full then.
 */
export const matches = (ifNoneMatch: string | undefined, etag: string): boolean =>
  ifNoneMatch?.split(',').some(tag => tag.trim().replace(/^W\//, '') === etag) ?? false;

const NOTHING = new Uint8Array();

/** An answer without a body. */
export const bare = (
  status: Exclude<DocumentAnswer['status'], 200>,
  headers: DocumentAnswer['headers'],
  etag?: string,
  contentType = '',
): DocumentAnswer => ({ status, contentType, bytes: NOTHING, headers, ...(etag === undefined ? {} : { etag }) });
