import type { Exchange } from '../../../core/api/listener.js';
import { SNAPSHOT_PATH } from '../../../core/model/wellKnown/namedPaths.js';
import type { Route } from '../../../core/request/route.js';
import type { FrontRequest } from '../access/sender.js';
import { respond } from '../answers/reply.js';
import { get, list } from '../reads/reads.js';
import { watch } from '../watch/watchRequest.js';
import type { CollectionDeleter } from '../write/deleteCollection.js';
import { runWrite, type WriteContext } from '../write/write.js';

/*
 * The part that answers a request. `core/request/route.ts` says whether its path is of a resource:
 * `/api/VERSION/RESOURCE…` and `/apis/GROUP/VERSION/RESOURCE…` are. A listening thread forwards all other paths to the
 * main thread.
 */

/**
 * Answers requests outside of the resources. Returns whether it knows the path. Throws Refusal. `body`: that of a
 * request for a site; no other has one.
 */
export type PathHandler = (exchange: Exchange, route: Route, body?: Uint8Array) => Promise<boolean> | boolean;

/** The handlers of paths outside of the resources (`paths.ts`). */
export type PathHandlers = Readonly<
  Record<
    'records' | 'health' | 'snapshot' | 'metrics' | 'discovery' | 'openApi' | 'documents' | 'sites' | 'unknownVersion',
    PathHandler
  >
>;

/** A path, or a prefix of paths if it ends with `*`; its handler; the only method that it allows, if not all. */
type Row = readonly [path: string, handler: Exclude<keyof PathHandlers, 'records' | 'sites'>, method?: string];

/** The first row with a handler that knows the path is used. Paths of no row get 404 as a text. */
const PATHS: readonly Row[] = [
  ['/livez', 'health'],
  ['/livez/*', 'health'],
  ['/readyz', 'health'],
  ['/readyz/*', 'health'],
  ['/healthz', 'health'],
  ['/healthz/*', 'health'],
  // `/store/snapshot`
  [SNAPSHOT_PATH, 'snapshot', 'GET'],
  ['/metrics', 'metrics'],
  ['/metrics/slis', 'metrics'],
  ['/', 'discovery'],
  ['/index.html', 'discovery'],
  ['/index.html/*', 'discovery'],
  ['/version', 'discovery'],
  ['/version/*', 'discovery'],
  ['/api', 'discovery'],
  ['/api/*', 'discovery'],
  ['/apis', 'discovery'],
  ['/apis/*', 'discovery'],
  ['/openapi/*', 'openApi'],
  // Plugins contribute them: `/.well-known/openid-configuration`, `/openid/v1/jwks` and others.
  ['/*', 'documents'],
  ['/api/*', 'unknownVersion'],
  ['/apis/*', 'unknownVersion'],
];

/** Whether a path matches the pattern of a row. */
const isOf = (pattern: string, path: string): boolean =>
  pattern.endsWith('*') ? path.startsWith(pattern.slice(0, -1)) : path === pattern;

/** Answers requests outside of the resources by the table. */
export const pathHandler =
  (handlers: PathHandlers): PathHandler =>
  async (exchange, route, body) => {
    // Requests for sites are not authorized, so nothing else may answer them.
    if (body) return await handlers.sites(exchange, route, body);
    if (route.resource?.strategy.showRecord) return await handlers.records(exchange, route);
    const { path } = route.target as { path: string };
    for (const [pattern, name, method = exchange.method] of PATHS)
      if (method === exchange.method && isOf(pattern, path) && (await handlers[name](exchange, route))) return true;
    return false;
  };

/** The handlers of reads of resources, by verb: they answer from the cache of all objects. */
export const READS = { get, list, watch } as const;

/** The parts of the front end that writes need. */
export interface WriteParts {
  readonly write: WriteContext;
  readonly deleter: CollectionDeleter;
}

type WriteHandler = (parts: WriteParts, request: FrontRequest, body: Uint8Array) => Promise<void>;

/** The handlers of writes to resources, by verb. `*`: of all other verbs, and of connections to subresources. */
export const WRITES: { readonly [verb: string]: WriteHandler; readonly '*': WriteHandler } = {
  deletecollection: ({ deleter }, request, body) => deleter.answer(request, body),
  '*': async ({ write }, request, body) => respond(request.exchange, await runWrite(write, request, { body })),
};
