import type { OtherPart } from './otherPart.js';

/** The OpenAPI documents of other servers, by the paths of their versions: `apis/GROUP/VERSION`. */
export interface OtherDescriptions {
  /** Where their documents in version 3 are, on this server, which passes the requests on. */
  readonly urls: ReadonlyMap<string, string>;
  /** Their parts of the document in version 2. */
  readonly parts: ReadonlyMap<string, OtherPart>;
}

/** A server that passes no requests on. */
export const NO_DESCRIPTIONS: OtherDescriptions = { urls: new Map(), parts: new Map() };
