import { after } from './awaitable.js';
import { isHeader } from './checks/headers.js';
import { requireMembers } from './checks/parts.js';
import { type Awaitable, type Contributed, definePoint } from './point.js';

/**
 * A request for a site. Header names are in lower case. The sender is not known: the server has neither authenticated
 * nor authorized it.
 *
 * @example
 * const isLocal = ({ remoteAddress }: SiteRequest): boolean => remoteAddress === '127.0.0.1';
 */
export interface SiteRequest {
  readonly method: string;
  /** Path without query, percent-encoded; it begins with that of the site. */
  readonly path: string;
  /** The query without `?`. */
  readonly query: string;
  /** The first header with this name. */
  header(name: string): string | undefined;
  readonly remoteAddress: string;
  /** Whether the request came by TLS. */
  readonly secure: boolean;
  /** At most SITE_BODY_BYTES; larger ones are answered with 413. */
  readonly body: Uint8Array;
  /** The port on which the server listens for HTTPS. */
  readonly port: number;
}

/**
 * The answer of a site.
 *
 * @example
 * const gone: SiteAnswer = { status: 410, headers: [], body: new Uint8Array() };
 */
export interface SiteAnswer {
  readonly status: number;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Uint8Array;
}

/**
 * Everything below one path, which a plugin answers itself. Anybody may request it: content that must be protected
 * belongs to resources, or to documents, which the authorizers protect.
 *
 * @example
 * const help: HttpSite = {
 *   path: '/help',
 *   answer: ({ path }) => ({ status: 200, headers: [['content-type', 'text/plain']], body: Buffer.from(path) }),
 * };
 */
export interface HttpSite {
  /** One segment, such as `/help`, that no path of the server begins with. */
  readonly path: string;
  /**
   * Answers a request for the path, or for one below it. Called in the main thread, whichever thread has the
   * connection.
   */
  answer(request: SiteRequest): Awaitable<SiteAnswer>;
}

/**
 * The sites by path.
 *
 * @example
 * const sites: Sites = new Map([[help.path, help]]);
 */
export type Sites = ReadonlyMap<string, HttpSite>;

/** The first segments of the server's own paths. */
const OWN_PATHS = [
  'api',
  'apis',
  'healthz',
  'index',
  'livez',
  'metrics',
  'openapi',
  'openid',
  'readyz',
  'store',
  'version',
];
const SITE_PATH = /^\/[a-z][a-z0-9-]*$/;

const isSitePath = (path: unknown): boolean =>
  typeof path === 'string' && SITE_PATH.test(path) && !OWN_PATHS.includes(path.slice(1));

const areHeaders = (headers: unknown): boolean =>
  Array.isArray(headers) && headers.every(one => Array.isArray(one) && isHeader(one[0], one[1]));

/** Throws TypeError for an answer that cannot be sent. */
function checkAnswer(answer: SiteAnswer): SiteAnswer {
  const { status, headers, body } = (answer ?? {}) as Partial<SiteAnswer>;
  if (Number.isInteger(status) && areHeaders(headers) && body instanceof Uint8Array) return answer;
  throw new TypeError('answer must return a status, headers with names in lower case, and a body of bytes');
}

/** The sites by path, whose calls are limited in time. Throws TypeError for a path that is taken. */
function byPath(inputs: readonly Contributed<HttpSite>[]): Sites {
  const sites = new Map<string, HttpSite>();
  for (const { value, call, plugin } of inputs) {
    const { path } = value;
    if (sites.has(path)) throw new TypeError(`plugin ${plugin}: there already is a site at ${path}`);
    sites.set(path, {
      path,
      answer: request => call(() => after(value.answer(request), checkAnswer), undefined, { path: request.path }),
    });
  }
  return sites;
}

/**
 * Sites of plugins: pages, and the requests of their sign-in.
 *
 * @example
 * contribute: () => [httpSite.of(() => help)],
 */
export const httpSite = definePoint<HttpSite>()(
  'httpSite',
  ['front'],
  byPath,
  requireMembers({
    path: [isSitePath, 'one segment of lower case, such as /help, that is not one of the server'],
    answer: 'function',
  }),
);
