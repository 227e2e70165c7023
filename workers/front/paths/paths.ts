import type { HealthCheck } from '../../../core/api/control.js';
import type { HttpDocument } from '../../../core/api/document.js';
import type { Log } from '../../../core/api/host.js';
import type { Exchange } from '../../../core/api/listener.js';
import { systemTime } from '../../../core/runtime/clock.js';
import {
  discoveryDocuments,
  inKnownGroup,
  type DocumentAnswer,
  type DocumentSet,
} from '../../../core/services/discovery/index.js';
import type { Scrape } from '../../../core/services/metrics/scrape.js';
import type { Route } from '../../../core/request/route.js';
import { checkAccepts } from '../../../core/request/negotiate.js';
import { firstValue } from '../../../core/request/query.js';
import { indented, NO_CACHE } from '../answers/reply.js';
import type { PathHandler, PathHandlers } from './routes.js';
import { healthAnswer, type OnResult } from '../../../core/services/health/answer.js';
import { healthMetrics } from '../../../core/services/metrics/index.js';
import { methodNotAllowed, unknownPath } from '../../../core/model/refusal.js';
import type { Sites } from '../../../core/api/site.js';
import { siteOf } from '../../../core/request/siteOf.js';
import { withoutTrailing } from '../../../core/model/text/trailing.js';
import type { Others } from '../../../core/services/discovery/otherServers.js';
import type { OtherDescriptions } from '../../../core/services/openapi/otherServers.js';
import type { Naming } from '../../../core/naming.js';
import { type OpenApiDocuments, openApiDocuments } from '../../../core/services/openapi/index.js';
import type { Registry } from '../../../core/schema/resource.js';
import type { OtherOpenApi } from '../aggregation/otherOpenApi.js';
import type { OtherDiscovery } from '../aggregation/otherDiscovery.js';
import { urlHost } from '../../../core/settings/address.js';

interface Parts {
  readonly registry: () => Registry;
  readonly naming: Naming;
  readonly checks: () => readonly HealthCheck[];
  readonly log: Log;
  readonly startedAt: number;
  readonly livezGraceMs: number;
  readonly metrics: Scrape;
  /** Documents of plugins, by path. */
  readonly documents: () => ReadonlyMap<string, HttpDocument>;
  /** Sites of plugins, by path. */
  readonly sites: () => Sites;
  /** The address of the server, once it listens. */
  readonly address: { readonly host: string; readonly port: number };
  /** Answers gets and lists of kinds whose objects show records in memory. */
  readonly records: PathHandler;
  /** The groups of other servers, and their OpenAPI documents. */
  readonly otherDiscovery: Pick<OtherDiscovery, 'current'>;
  readonly otherOpenApi: Pick<OtherOpenApi, 'current'>;
  /** Answers with a snapshot of the store. */
  readonly snapshot: (exchange: Exchange) => Promise<void>;
}

const METRICS = '/metrics';

/** The inputs of documents; `others`: the answers of other servers. */
interface Inputs<Others> {
  readonly of: Registry;
  readonly further: ReadonlyMap<string, HttpDocument>;
  readonly others: Others;
}

/**
 * Returns a function that returns the documents of the current registry. They are made again by `make`, which is given
 * the previous documents, when the registry, the documents of plugins or the answers of other servers have changed.
 */
function ofCurrent<Documents, Others>(
  { registry, documents }: Parts,
  make: (inputs: Inputs<Others>, previous: Documents | undefined) => Documents,
): (others: Others) => Documents {
  let made: { readonly from: Inputs<Others>; readonly documents: Documents } | undefined;
  return others => {
    const from = { of: registry(), further: documents(), others };
    if (made?.from.of !== from.of || made.from.further !== from.further || made.from.others !== others)
      made = { from, documents: make(from, made?.documents) };
    return made.documents;
  };
}

const discoveryOf = (parts: Parts): ((others: Others) => DocumentSet) =>
  ofCurrent(parts, ({ of, further, others }) =>
    discoveryDocuments(of, parts.naming, {
      others,
      serverAddress: () => `${urlHost(parts.address.host)}:${parts.address.port}`,
      paths: ['/healthz', '/livez', METRICS, '/openapi/v2', '/openapi/v3', '/readyz', '/version', ...further.keys()],
    }),
  );

/**
 * Apart from discovery, because finding the types that they describe takes longer, and they are asked for less often.
 */
const openApiOf = (parts: Parts): ((others: OtherDescriptions) => OpenApiDocuments) =>
  ofCurrent<OpenApiDocuments, OtherDescriptions>(parts, ({ of, further, others }, previous) =>
    openApiDocuments(of, parts.naming, { documents: [...further.values()], others }, previous),
  );

/** The handlers of paths outside of the resources, which `routes.ts` lists. */
export function pathHandlers(parts: Parts): PathHandlers {
  const { registry, naming, checks, log, startedAt, livezGraceMs, snapshot, metrics, documents, sites, address } =
    parts;
  const { records, otherDiscovery, otherOpenApi } = parts;
  const [discoveryNow, openApiNow] = [discoveryOf(parts), openApiOf(parts)];
  const { scrape, observe } = healthMetrics(naming);
  /** During the grace period after the start `/livez` does not wait for start hooks. */
  const countedFor = (endpoint: string): readonly HealthCheck[] =>
    endpoint === 'livez' && systemTime() - startedAt < livezGraceMs
      ? checks().filter(check => !check.name.startsWith('poststarthook/'))
      : checks();
  const report: OnResult = (endpoint, check, passed, reason) => {
    observe(endpoint, check, passed);
    if (!passed) log.warn({ endpoint, check, reason: String(reason) }, 'a health check failed');
  };
  return {
    records,
    async health(exchange, route) {
      const [, name, ...names] = pathOf(route).split('/');
      const endpoint = name as 'livez' | 'readyz' | 'healthz';
      const rest = names.map(part => `/${part}`).join('');
      const answer = await healthAnswer(endpoint, rest, exchange.query, countedFor(endpoint), report);
      exchange.respond(answer.status, answer.headers, Buffer.from(answer.text));
      return true;
    },
    async snapshot(exchange) {
      await snapshot(exchange);
      return true;
    },
    async metrics(exchange, route) {
      // Upstream resets its metrics on a DELETE. This server refuses it.
      if (exchange.method === 'DELETE') throw methodNotAllowed();
      const asked = pathOf(route) === METRICS ? metrics : scrape;
      exchange.respond(200, [['content-type', asked.contentType], NO_CACHE], Buffer.from(await asked.text()));
      return true;
    },
    async discovery(exchange, route) {
      const path = pathOf(route);
      const accept = exchange.header('accept');
      // Other documents have no resources.
      const hasResources = accept?.includes('APIGroupDiscoveryList') === true;
      const discovery = discoveryNow(await otherDiscovery.current(hasResources));
      // Documents that do not check the method answer a POST like a GET.
      if (exchange.method !== 'GET' && discovery.isGetOnly(path)) throw methodNotAllowed();
      const match = exchange.header('if-none-match');
      return send(exchange, discovery.answer(path, accept, match, indented(exchange)));
    },
    async openApi(exchange, route) {
      const path = pathOf(route);
      const openapi = openApiNow(await otherOpenApi.current(path));
      await openapi.prepare(path);
      const hash = firstValue(route.query, 'hash') || undefined;
      return send(exchange, openapi.answer(path, hash, exchange.header('accept'), exchange.header('if-none-match')));
    },
    documents(exchange, route) {
      const path = pathOf(route);
      const document = documents().get(path) ?? documents().get(withoutTrailing(path, '/'));
      return document ? sendDocument(exchange, document, address) : false;
    },
    async sites(exchange, _route, body = new Uint8Array()) {
      const site = siteOf(sites(), exchange.path);
      if (!site) return false;
      const { method, path, query, remoteAddress, secure } = exchange;
      const header = (name: string): string | undefined => exchange.header(name);
      const { port } = address;
      const answer = await site.answer({ method, path, query, header, remoteAddress, secure, body, port });
      exchange.respond(answer.status, answer.headers, answer.body);
      return true;
    },
    unknownVersion(_exchange, route) {
      if (inKnownGroup(registry(), pathOf(route))) throw unknownPath();
      return false;
    },
  };
}

const pathOf = ({ target }: Route): string => (target as { readonly path: string }).path;

/** Sends the document of a plugin. Throws 405 and 406. */
async function sendDocument(exchange: Exchange, document: HttpDocument, address: Parts['address']): Promise<true> {
  const { contentType, headers, body } = document;
  if (exchange.method !== 'GET') throw methodNotAllowed();
  checkAccepts(exchange.header('accept'), contentType);
  const bytes = Buffer.from(await body(address));
  exchange.respond(200, [['content-type', contentType], ...Object.entries(headers)], bytes);
  return true;
}

/** Sends a document. Returns whether there is one. */
function send(exchange: Exchange, answer: DocumentAnswer | undefined): boolean {
  if (!answer) return false;
  const { status, contentType, etag, bytes, headers } = answer;
  const all: [string, string][] = [
    ...(contentType ? ([['content-type', contentType]] as [string, string][]) : []),
    ...(Object.entries(headers) as [string, string][]),
  ];
  if (etag) all.push(['etag', etag]);
  exchange.respond(status, all, bytes);
  return true;
}
