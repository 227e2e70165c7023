import type { Readable } from 'node:stream';
import type { Endpoints, Service } from '../../../kinds/v1.js';
import type { Log } from '../../../core/api/host.js';
import type { ApiObject } from '../../../core/model/object.js';
import { asksForWebSocket, handshakeFault } from '../../../core/model/webSocket.js';
import { decodeStored } from '../../../core/plugin/informers/stored.js';
import { isWatch } from '../../../core/request/route.js';
import { timeoutOf } from '../../../core/request/query.js';
import { API_SERVICES } from '../../../core/services/aggregation/registration.js';
import type { AggregatorAnswer, AggregatorRequest } from '../../../core/services/aggregation/aggregatorRequest.js';
import { ProxyCredentials } from '../../../core/services/aggregation/proxyCredentials.js';
import { addressOf, NoAddress, type ServiceObjects } from '../../../core/services/aggregation/serviceAddress.js';
import type { ConnectionAgents, Endpoint } from '../../../core/services/webhooks/connections.js';
import type { Priorities } from '../../../core/services/discovery/otherServers.js';
import type { AggregationRules } from '../../../core/settings/aggregation.js';
import type { FrontRequest } from '../access/sender.js';
import { text } from '../answers/reply.js';
import { isLong } from '../paths/methods.js';
import type { State } from '../state/state.js';
import { type AggregatedVersion, ApiServices } from './apiServices.js';
import type { ForwardedRequest } from './forward.js';
import { requestHeaders } from './forwardedHeaders.js';

/**
 * Passes requests for the groups and versions of other servers on to them, as the aggregation layer of upstream does.
 * The server is a front proxy: it has authenticated and authorized the sender, and tells the other server the user in
 * headers, which are trusted because of its client certificate.
 */
export class Aggregation {
  readonly #services: ApiServices;
  readonly #credentials: ProxyCredentials;
  /** The objects that tell where services are. */
  readonly #objects: ServiceObjects = {
    service: (namespace, name) => this.#find<Service>(`core/services/${namespace}/${name}`),
    endpoints: (namespace, name) => this.#find<Endpoints>(`core/endpoints/${namespace}/${name}`),
  };
  /**
   * The connections that are kept for further requests. Created at the first request, which loads the modules of TLS.
   */
  #agents: ConnectionAgents | undefined;

  constructor(
    readonly state: () => Pick<State, 'collections' | 'find'>,
    readonly rules: AggregationRules,
    readonly log: Pick<Log, 'warn'>,
  ) {
    this.#services = new ApiServices(() => state().collections.get(API_SERVICES));
    this.#credentials = new ProxyCredentials(rules.credentials);
  }

  /** The version that a path belongs to, if another server answers it; undefined if this server does. */
  of(path: string): AggregatedVersion | undefined {
    return this.#services.of(path);
  }

  /** Passes on a request, whose sender is authorized, with its body. Resolves when the answer has ended. */
  async answer({ exchange, route, sender }: FrontRequest, version: AggregatedVersion, body: Readable, auditId: string) {
    if (!version.isAvailable) return unavailable(exchange, auditId);
    let endpoint: Endpoint;
    try {
      endpoint = await this.#endpointOf(version);
    } catch (error) {
      if (!(error instanceof NoAddress)) throw error;
      this.log.warn(
        { apiService: version.name, reason: error.message },
        'a service of an APIService cannot be reached',
      );
      return unavailable(exchange, auditId);
    }
    const host = endpoint.url.slice('https://'.length);
    const path = forwardedPath(exchange.path);
    const request: ForwardedRequest = {
      exchange,
      endpoint,
      path: exchange.query === '' ? path : `${path}?${exchange.query}`,
      headers: requestHeaders(exchange, { user: sender.user!, host, path, auditId }),
      body,
      auditId,
      isWatch: isWatch(route),
      timeoutMs: isLong(route) ? undefined : timeoutOf(route.query),
      refusesRedirects: this.rules.refusesRedirects,
    };
    const headers = exchange.headers();
    const isSocket = asksForWebSocket(exchange.method, headers) && handshakeFault(headers) === undefined;
    const [{ forward, unreachable }, { ConnectionAgents }] = await Promise.all([
      import('./forward.js'),
      import('../../../core/services/webhooks/connections.js'),
    ]);
    // From here on, listeners notice an abort. The body of an aborted request has no end that the other server could
    // be sent, so the connection to it would stay open.
    if (exchange.aborted) return;
    try {
      if (isSocket) await (await import('./forwardSocket.js')).forwardSocket(request);
      else await forward(request, (this.#agents ??= new ConnectionAgents()));
    } catch (error) {
      // Node.js refuses to send a header with a control character, such as one in the name of the user.
      if ((error as NodeJS.ErrnoException).code !== 'ERR_INVALID_CHAR') throw error;
      unreachable(request, error as Error);
    }
  }

  /** The versions of other servers, by the names of their APIServices: the same map until one has changed. */
  versions(): ReadonlyMap<string, AggregatedVersion> {
    return this.#services.versions();
  }

  /** The priorities of all versions, including those of this server, by the names of their APIServices. */
  priorities(): ReadonlyMap<string, Priorities> {
    return this.#services.priorities();
  }

  /**
   * Gets a document from another server with the identity of this server. Rejects with the reason if there is no
   * answer.
   */
  async get(
    version: AggregatedVersion,
    path: string,
    request: Omit<AggregatorRequest, 'endpoint'>,
  ): Promise<AggregatorAnswer> {
    const { url, ...endpoint } = await this.#endpointOf(version);
    const { getAsAggregator } = await import('../../../core/services/aggregation/aggregatorRequest.js');
    return await getAsAggregator({ ...request, endpoint: { ...endpoint, url: url + path } });
  }

  /** Resolves with the address of the server of a version. Rejects with NoAddress if it is not known. */
  async #endpointOf({ service, ca, skipsVerification }: AggregatedVersion): Promise<Endpoint> {
    const host = addressOf(service, this.rules, this.#objects);
    const credentials = await this.#credentials.current();
    return {
      url: `https://${host}`,
      serverName: `${service.name}.${service.namespace}.svc`,
      skipsVerification,
      ...(ca === undefined ? {} : { ca }),
      ...(credentials ? { credentials } : {}),
    };
  }

  /** Closes all connections that are kept. */
  close(): void {
    this.#agents?.close();
  }

  #find<Kind extends ApiObject>(key: string): Kind | undefined {
    const entry = this.state().find(key);
    return entry && (decodeStored(entry.value) as Kind);
  }
}

const unavailable = (exchange: FrontRequest['exchange'], auditId: string): void =>
  text(exchange, 503, 'service unavailable\n', [['audit-id', auditId]]);

/** Characters that Go escapes in paths, besides those that `encodeURI` does. */
const ESCAPED_IN_PATHS = /[!'()*?#]/g;

/**
 * A path as authorizers have seen it: decoded and escaped again, whatever escapes its sender has chosen. Otherwise the
 * other server could read a different name in it.
 */
const forwardedPath = (path: string): string =>
  encodeURI(decodeURIComponent(path)).replace(
    ESCAPED_IN_PATHS,
    char => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  );
