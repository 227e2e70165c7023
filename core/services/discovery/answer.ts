/** The HTTP answer for a document. `bytes` is empty unless the status is 200. */
export interface DocumentAnswer {
  readonly status: 200 | 301 | 304 | 404 | 406;
  /** Empty if the answer has no content type. */
  readonly contentType: string;
  readonly etag?: string;
  readonly bytes: Uint8Array;
  /** Further headers, by lower-case name: vary, cache-control, location, expires. */
  readonly headers: Readonly<Record<string, string>>;
}

/** Documents that are the same for all clients: rendered once per registry generation and cached. */
export interface DocumentSet {
  /**
   * Answers a GET of `path` (without query). Returns undefined if there is no document at the path. Throws a Refusal
   * (406) if `accept` matches none of its media types. `indent` pretty-prints JSON unless the media type says
   * otherwise.
   */
  answer(
    path: string,
    accept: string | undefined,
    ifNoneMatch: string | undefined,
    indent?: boolean,
  ): DocumentAnswer | undefined;
  /** Whether the document at `path` can be requested by GET only: other methods are answered 405. */
  isGetOnly(path: string): boolean;
}

const NO_BYTES = new Uint8Array();

/** Makes an answer without body. */
export const emptyAnswer = (
  status: Exclude<DocumentAnswer['status'], 200>,
  headers: DocumentAnswer['headers'],
  etag?: string,
  contentType = '',
): DocumentAnswer => ({ status, contentType, bytes: NO_BYTES, headers, ...(etag === undefined ? {} : { etag }) });
