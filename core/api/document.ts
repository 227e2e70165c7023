import { type Awaitable, type Contributed, definePoint } from './point.js';

/**
 * A document outside of the resources, at a path of its own: the same for everybody who may get it. Who may is for the
 * authorizers to say, as for every path.
 *
 * @example
 * const robots: HttpDocument = {
 *   path: '/robots.txt',
 *   contentType: 'text/plain',
 *   headers: {},
 *   body: () => 'User-agent: *\nDisallow: /\n',
 * };
 */
export interface HttpDocument {
  /** Without a slash at its end: the path with one leads to the document as well. */
  readonly path: string;
  /** Clients that do not accept it get 406. */
  readonly contentType: string;
  /** Further headers of the answer, by lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  /** Called for every GET. */
  body(): Awaitable<string>;
}

/** By path; of two with one path, the one of the later plugin. */
function byPath(inputs: readonly Contributed<readonly HttpDocument[]>[]): ReadonlyMap<string, HttpDocument> {
  const bounded = inputs.flatMap(({ value, call }) =>
    value.map(document => ({ ...document, body: () => call(() => document.body()) })),
  );
  return new Map(bounded.map(document => [document.path, document]));
}

/**
 * Documents outside of the resources. The server's own paths come first.
 *
 * @example
 * contribute: () => [httpDocuments.of(() => [robots])],
 */
export const httpDocuments = definePoint<readonly HttpDocument[]>()('document', ['front'], byPath);
