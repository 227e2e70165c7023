import type { HealthCheck } from '../../../core/api/control.js';
import type { HttpDocument } from '../../../core/api/document.js';
import type { Log } from '../../../core/api/host.js';
import type { Exchange } from '../../../core/api/listener.js';
import { discoveryDocuments, inKnownGroup, type DocumentAnswer } from '../../../core/services/discovery/index.js';
import type { Scrape } from '../../../core/services/metrics/scrape.js';
import type { PathHandler } from '../front.js';
import { checkAccepts } from '../../../core/request/negotiate.js';
import { firstValue } from '../../../core/request/query.js';
import { indented, NO_CACHE } from '../answers/reply.js';
import { healthAnswer } from '../../../core/services/health/answer.js';
import { healthMetrics } from '../../../core/services/metrics/index.js';
import { SNAPSHOT_PATH } from '../../../core/model/wellKnown/namedPaths.js';
import { methodNotAllowed, unknownPath } from '../../../core/model/refusal.js';
import { withoutTrailing } from '../../../core/model/text/trailing.js';
import type { Naming } from '../../../core/naming.js';
import { type OpenApiDocuments, openApiDocuments } from '../../../core/services/openapi/index.js';
import type { Registry } from '../../../core/schema/resource.js';
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
  /** The address of the server, once it listens. */
  readonly address: { readonly host: string; readonly port: number };
  /** Answers with a snapshot of the store. */
  readonly snapshot: (exchange: Exchange) => Promise<void>;
}

const METRICS = '/metrics';
const HEALTH_METRICS = '/metrics/slis';
const HEALTH = /^\/(livez|readyz|healthz)(\/.*)?$/;

/** The documents of the registry that is current when asked, made once for it and the documents of plugins. */
function documentsOfCurrent({ registry, naming, documents, address }: Parts) {
  const make = (of: Registry, further: ReadonlyMap<string, HttpDocument>, previous?: OpenApiDocuments) => ({
    of,
    further,
    discovery: discoveryDocuments(of, naming, {
      serverAddress: () => `${urlHost(address.host)}:${address.port}`,
      paths: ['/healthz', '/livez', METRICS, '/openapi/v2', '/openapi/v3', '/readyz', '/version', ...further.keys()],
    }),
    openapi: openApiDocuments(of, naming, [...further.values()], previous),
  });
  let made: ReturnType<typeof make> | undefined;
  return () => {
    const [current, further] = [registry(), documents()];
    if (made?.of !== current || made.further !== further) made = make(current, further, made?.openapi);
    return made;
  };
}

/** Everything outside the resources: health, discovery, OpenAPI, version. */
export function pathHandler(parts: Parts): PathHandler {
  const { registry, naming, checks, log, startedAt, livezGraceMs, snapshot, metrics, documents, address } = parts;
  const documentsOf = documentsOfCurrent(parts);
  const { scrape, observe } = healthMetrics(naming);
  const scrapes = new Map([
    [METRICS, metrics],
    [HEALTH_METRICS, scrape],
  ]);
  /** During the grace period after the start `/livez` does not wait for start hooks. */
  const countedFor = (endpoint: string): readonly HealthCheck[] =>
    endpoint === 'livez' && Date.now() - startedAt < livezGraceMs
      ? checks().filter(check => !check.name.startsWith('poststarthook/'))
      : checks();
  return async (exchange, route) => {
    const { path } = route.target as { path: string };
    const health = HEALTH.exec(path);
    if (health) {
      const endpoint = health[1] as 'livez' | 'readyz' | 'healthz';
      const answer = await healthAnswer(
        endpoint,
        health[2] ?? '',
        exchange.query,
        countedFor(endpoint),
        (of, check, passed, reason) => {
          observe(of, check, passed);
          if (!passed) log.warn({ endpoint: of, check, reason: String(reason) }, 'a health check failed');
        },
      );
      exchange.respond(answer.status, answer.headers, Buffer.from(answer.text));
      return true;
    }
    if (path === SNAPSHOT_PATH && exchange.method === 'GET') {
      await snapshot(exchange);
      return true;
    }
    const metricsHere = scrapes.get(path);
    if (metricsHere) {
      // Upstream sets them back to nothing.
      if (exchange.method === 'DELETE') throw methodNotAllowed();
      exchange.respond(
        200,
        [['content-type', metricsHere.contentType], NO_CACHE],
        Buffer.from(await metricsHere.text()),
      );
      return true;
    }
    const accept = exchange.header('accept');
    const match = exchange.header('if-none-match');
    const { discovery, openapi } = documentsOf();
    // Documents that do not check the method answer a POST like a GET.
    if (exchange.method !== 'GET' && discovery.isGetOnly(path)) throw methodNotAllowed();
    if (path.startsWith('/openapi/')) await openapi.prepare(path);
    const known =
      discovery.answer(path, accept, match, indented(exchange)) ??
      openapi.answer(path, firstValue(route.query, 'hash') || undefined, accept, match);
    if (!known) {
      const document = documents().get(path) ?? documents().get(withoutTrailing(path, '/'));
      if (document) return sendDocument(exchange, document, address);
      if (inKnownGroup(registry(), path)) throw unknownPath();
      return false;
    }
    send(exchange, known);
    return true;
  };
}

/** Sends the document of a plugin. Throws 405 and 406. */
async function sendDocument(exchange: Exchange, document: HttpDocument, address: Parts['address']): Promise<true> {
  const { contentType, headers, body } = document;
  if (exchange.method !== 'GET') throw methodNotAllowed();
  checkAccepts(exchange.header('accept'), contentType);
  const bytes = Buffer.from(await body(address));
  exchange.respond(200, [['content-type', contentType], ...Object.entries(headers)], bytes);
  return true;
}

function send(exchange: Exchange, { status, contentType, etag, bytes, headers }: DocumentAnswer): void {
  const all: [string, string][] = [
    ...(contentType ? ([['content-type', contentType]] as [string, string][]) : []),
    ...(Object.entries(headers) as [string, string][]),
  ];
  if (etag) all.push(['etag', etag]);
  exchange.respond(status, all, bytes);
}
