import { after } from './awaitable.js';
import { isHeader, isHeaderValue } from './checks/headers.js';
import { requireMembers } from './checks/parts.js';
import { type Awaitable, type Contributed, definePoint } from './point.js';

/**
 * A document that is not a resource, at its own path. It is the same for all clients. The authorizers decide who may
 * read it, as for every path.
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
  /** The path, without a slash at the end. The document is also served at the path with a slash. */
  readonly path: string;
  /** Clients that do not accept it get 406. */
  readonly contentType: string;
  /** Further headers of the answer, by lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  /**
   * The description of its GET in the OpenAPI documents of the server; absent: they do not describe it. `operationId`
   * is unique.
   */
  readonly openApi?: { readonly operationId: string; readonly tag: string };
  /** The text of the document. Called for every GET. `port`: the port on which the server listens for HTTPS. */
  body(server: { readonly port: number }): Awaitable<string>;
}

const areHeaders = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && Object.entries(value).every(([name, text]) => isHeader(name, text));

const isDescription = (value: unknown): boolean =>
  value === undefined ||
  ['operationId', 'tag'].every(name => typeof (value as { [name: string]: unknown } | null)?.[name] === 'string');

const checkDocument = requireMembers({
  path: [value => typeof value === 'string' && /^\/.*[^/]$/.test(value), 'a path without a slash at its end'],
  contentType: [isHeaderValue, 'a media type'],
  headers: [areHeaders, 'an object of header values by lower-case name'],
  openApi: [isDescription, 'an object with the strings operationId and tag'],
  body: 'function',
});

/** Throws TypeError unless these are documents. */
function checkDocuments(documents: readonly HttpDocument[]): void {
  if (!Array.isArray(documents)) throw new TypeError('it must be a list of documents');
  for (const document of documents) checkDocument(document);
}

function checkText(body: unknown): string {
  if (typeof body === 'string') return body;
  throw new TypeError('body must return a string');
}

/** The documents by path. If two have the same path, that of the later plugin is used. */
function byPath(inputs: readonly Contributed<readonly HttpDocument[]>[]): ReadonlyMap<string, HttpDocument> {
  const bounded = inputs.flatMap(({ value, call }) =>
    value.map(
      (document): HttpDocument => ({
        ...document,
        body: server => call(() => after(document.body(server), checkText), undefined, { path: document.path }),
      }),
    ),
  );
  return new Map(bounded.map(document => [document.path, document]));
}

/**
 * Documents that are not resources. The server's own paths take precedence.
 *
 * @example
 * contribute: () => [httpDocuments.of(() => [robots])],
 */
export const httpDocuments = definePoint<readonly HttpDocument[]>()('httpDocuments', ['front'], byPath, checkDocuments);
