/** A finished answer of a document; `bytes` is empty for 304. */
export interface DocumentAnswer {
  readonly status: 200 | 301 | 304;
  readonly contentType: string;
  readonly etag?: string;
  readonly bytes: Uint8Array;
  /** Further headers, lower-case names: vary, cache-control, location, expires. */
  readonly headers: Readonly<Record<string, string>>;
}

/** Documents that are the same for every client: rendered once per registry generation and answered from memory. */
export interface DocumentSet {
  /**
   * The answer to a GET of `path` (without query), undefined where no document stands there. Throws a Refusal (406) where `accept` fits none of
   * its forms.
   */
  answer(path: string, accept: string | undefined, ifNoneMatch: string | undefined): DocumentAnswer | undefined;
}

/** Whether an If-None-Match header lists the tag (RFC 9110, section 13.1.2). `*` is not honoured: upstream answers it in full. */
export const matches = (ifNoneMatch: string | undefined, etag: string): boolean =>
  ifNoneMatch?.split(',').some(tag => tag.trim().replace(/^W\//, '') === etag) ?? false;
