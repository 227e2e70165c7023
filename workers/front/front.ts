import type { Log } from '../../core/api/host.js';
import type { Exchange } from '../../core/api/listener.js';
import type { DecisionRecord } from '../../core/api/observe/decisions.js';
import type { Sites } from '../../core/api/site.js';
import { siteOf } from '../../core/request/siteOf.js';
import { SITE_BODY_BYTES } from '../../core/limits.js';
import { givenAuditId } from '../../core/request/auditId.js';
import { monotonicTime, systemTime } from '../../core/runtime/clock.js';
import { randomUUID } from '../../core/runtime/random.js';
import type { RequestMetrics } from '../../core/services/metrics/index.js';
import { badRequest, notFound, Refusal, unknownPath } from '../../core/model/refusal.js';
import type { ResourceTarget } from '../../core/model/target.js';
import { WEBSOCKET_VERSION } from '../../core/model/webSocket.js';
import { ANONYMOUS, type User } from '../../core/model/user.js';
import type { Serving } from '../../core/request/negotiate.js';
import { checkQuery, checkTimeout } from '../../core/request/query.js';
import { isMalformedPath, isWatch, parseRoute, type Route } from '../../core/request/route.js';
import type { Registry } from '../../core/schema/resource.js';
import type { Aggregation } from './aggregation/aggregation.js';
import type { AggregatedVersion } from './aggregation/apiServices.js';
import { holdBody } from './aggregation/holdBody.js';
import type { Audit, BegunRequest } from './audit/audit.js';
import { Bodies } from './fairness/bodies.js';
import { type FrontRefusal, recordOf } from './decisions/recordOf.js';
import { CollectionDeleter } from './write/deleteCollection.js';
import { isLong, isMethodAllowed, isWrite, methodNotAllowedError } from './paths/methods.js';
import type { PoolClient } from './pool/poolClient.js';
import type { Proposals } from './write/proposals.js';
import type { ReadContext } from './reads/readContext.js';
import { type Headers, refuse, refuseThrown, respond, text, warningHeadersOf } from './answers/reply.js';
import { withoutCompression } from './answers/changedExchange.js';
import type { FrontRequest, Sender } from './access/sender.js';
import type { State } from './state/state.js';
import { webSocketFault } from './watch/webSocket.js';
import { type PathHandler, READS, WRITES, type WriteParts } from './paths/routes.js';

/** The parts of the front end. */
export interface FrontParts {
  readonly registry: () => Registry;
  readonly state: State;
  readonly pool: PoolClient;
  readonly proposals: Proposals;
  readonly reads: ReadContext;
  readonly paths: PathHandler;
  /** Sites of plugins, whose senders are not authenticated. */
  readonly sites: () => Sites;
  readonly aggregation: Aggregation;
  readonly log: Log;
  readonly metrics: RequestMetrics;
  /** Absent: nothing is recorded. */
  readonly audit?: Audit | undefined;
  /** Whether large answers are compressed for clients that accept it. */
  readonly compression: boolean;
  /** Takes the record of a request that was refused, or has changed something. */
  readonly decided: (record: DecisionRecord) => void;
}

/**
 * Answers requests. A request is routed, and its sender and permission are looked up in the caches; the pool determines
 * everything that is not cached. Reads are then answered from the cache of all objects, writes by the pool and the
 * writer.
 */
export class Front {
  readonly #bodies = new Bodies();
  readonly #writes: WriteParts;

  constructor(readonly parts: FrontParts) {
    this.#writes = { write: parts, deleter: new CollectionDeleter(parts) };
  }

  /** Handles an exchange of a listener. Never throws. */
  handle(given: Exchange): void {
    const exchange = this.parts.compression ? given : withoutCompression(given);
    this.#handle(exchange, answered => this.parts.pool.senderOf(answered));
  }

  /** Handles a request of the program that the server runs in, as `user`, who is not authenticated. Never throws. */
  handleOf(user: User, exchange: Exchange): void {
    this.#handle(exchange, () => this.parts.pool.userAs(user));
  }

  #handle(exchange: Exchange, senderOf: (exchange: Exchange) => Sender): void {
    const { metrics } = this.parts;
    const began = monotonicTime();
    metrics.begin(exchange.method);
    const route = this.#route(exchange);
    let sender: Sender | undefined;
    const audited = this.parts.audit?.begin(exchange, route);
    const answered = audited?.exchange ?? exchange;
    void this.#answer(answered, route, () => (sender = senderOf(answered)), audited).then(refused => {
      const ms = monotonicTime() - began;
      metrics.end(exchange.method, route, answered.status ?? 0, ms);
      audited?.end(sender);
      this.#record(answered, route, sender, refused, ms);
    });
  }

  /** Handles a request of a controller, as `user`, who is not authenticated. Never throws. */
  handleAs(exchange: Exchange, user: User): void {
    const began = monotonicTime();
    const route = this.#route(exchange);
    const sender = this.parts.pool.controllerAs(user);
    const audited = this.parts.audit?.begin(exchange, route);
    const answered = audited?.exchange ?? exchange;
    void this.#answer(answered, route, () => sender, audited).then(refused => {
      audited?.end(sender);
      this.#record(answered, route, sender, refused, monotonicTime() - began);
    });
  }

  /**
   * Authenticates and authorizes an exchange in the pool, unless it is known to be allowed, and remembers and returns
   * the result, without answering.
   */
  async learnAccess(exchange: Exchange): Promise<boolean> {
    const { pool } = this.parts;
    const request = { exchange, route: this.#route(exchange), sender: pool.senderOf(exchange) };
    if (request.sender.user && pool.isAllowed(request)) return true;
    return (await pool.run(request)).is === 'granted';
  }

  /** The route of a request, in the registry as the last commit left it. */
  #route(exchange: Exchange): Route {
    this.parts.reads.catchUp();
    return parseRoute(this.parts.registry(), exchange.method, exchange.path, exchange.query);
  }

  /** Records a request that was refused, or has changed something. */
  #record(
    { path, query, status }: Exchange,
    route: Route,
    sender: Sender | undefined,
    refused: FrontRefusal | undefined,
    ms: number,
  ): void {
    if (!refused && !sender?.trail) return;
    const record = recordOf({ path, query, route, sender, code: status, refused, at: systemTime(), ms });
    if (record) this.parts.decided(record);
  }

  /** Answers a request. Never rejects: errors are answered, and returned if they are Refusals. */
  async #answer(
    exchange: Exchange,
    route: Route,
    findSender: () => Sender,
    audited: Pick<BegunRequest, 'receive'> | undefined,
  ): Promise<FrontRefusal | undefined> {
    let headers: Headers = [];
    let sender: Sender | undefined;
    try {
      if (isMalformedPath(exchange.path)) return refuseAsText(exchange, badRequest('400 Bad Request'), '');
      checkQuery(exchange.query);
      if (!isLong(route)) checkTimeout(route.query);
      sender = findSender();
      const request: FrontRequest = { exchange, route, sender };
      const version = this.parts.aggregation.of(exchange.path);
      if (version) await this.#forward(request, version, audited);
      else if (route.target.is === 'path' && siteOf(this.parts.sites(), exchange.path))
        await this.#visit(request, audited);
      else if (isWrite(exchange.method, route)) await this.#write(request, audited);
      else if ((await this.#authorize(request)) && (!audited || (await audited.receive(sender)))) {
        headers = warningHeadersOf(route.resource ?? route);
        return await this.#read(request);
      }
    } catch (thrown) {
      const auditId = auditIdOf(exchange, sender);
      const withId: Headers = [...headers, ['audit-id', auditId]];
      const refusal = refuseThrown(exchange, thrown, this.parts.log, this.parts.reads, {
        headers: withId,
        user: sender?.user,
        auditId,
      });
      return refusal && { auditId, refusal };
    }
    return undefined;
  }

  /**
   * Authenticates and authorizes a request, by the caches if they know the sender and the permission, else by the pool.
   * Returns false after a refusal was sent.
   */
  async #authorize(request: FrontRequest): Promise<boolean> {
    const { pool } = this.parts;
    if (request.sender.user && pool.isAllowed(request)) return true;
    const { usage } = request.sender;
    usage.add('requests');
    const result = await pool.run(request).finally(() => usage.remove('requests'));
    if (result.is === 'granted') return true;
    respond(request.exchange, result);
    return false;
  }

  /** Answers a read. Returns the refusal if it has sent one. Throws other Refusals. */
  async #read(request: FrontRequest): Promise<FrontRefusal | undefined> {
    const { exchange, route } = request;
    const { target, resource } = route;
    const { paths, reads } = this.parts;
    if (target.is === 'path') {
      return (await paths(exchange, route)) ? undefined : refuseAsText(exchange, noPage(), '\n', request.sender);
    }
    if (route.missing === 'text') return refuseAsText(exchange, noPage(), '\n', request.sender);
    if (route.missing === 'object') throw notFound({ group: target.group, resource: target.resource }, target.name);
    if (route.missing === 'namespace') throw badRequest('Namespace parameter required.');
    if (!resource) throw unknownPath();
    if (!isMethodAllowed(exchange.method, route)) throw methodNotAllowedError(route);
    // The objects are made by the main thread.
    if (resource.strategy.showRecord) {
      await paths(exchange, route);
      return undefined;
    }
    const fault = isWatch(route) ? webSocketFault(exchange) : undefined;
    if (fault !== undefined) return refuseHandshake(exchange, badRequest(fault), reads, request.sender);
    const objects = this.parts.state.loading.waitFor(resource.storageName);
    if (objects) await objects;
    await READS[isWatch(route) ? 'watch' : (target.verb as keyof typeof READS)](reads, request, resource);
    return undefined;
  }

  /** Has another server answer a request, once the sender is authorized. */
  async #forward(
    request: FrontRequest,
    version: AggregatedVersion,
    audited: Pick<BegunRequest, 'receive'> | undefined,
  ) {
    const { exchange, route, sender } = request;
    const body = holdBody(exchange);
    if (!(await this.#authorize(request))) return;
    if (audited && !(await audited.receive(sender))) return;
    const { usage } = sender;
    const counted = isLong(route) ? 'watches' : 'requests';
    usage.add(counted);
    try {
      await this.parts.aggregation.answer(request, version, body, auditIdOf(exchange, sender));
    } finally {
      body.destroy();
      usage.remove(counted);
    }
  }

  /** Has a site answer a request. It is not authenticated, so it counts as a request of an unknown sender. */
  async #visit({ exchange, route, sender }: FrontRequest, audited: Pick<BegunRequest, 'receive'> | undefined) {
    const { usage } = sender;
    const body = this.#bodies.read(exchange, usage, false, SITE_BODY_BYTES);
    try {
      usage.add('requests');
      try {
        if (audited && !(await audited.receive(sender))) return;
        const isKnown = await this.parts.paths(exchange, route, await body.bytes);
        if (!isKnown) text(exchange, 404, '404 page not found\n');
      } finally {
        usage.remove('requests');
      }
    } finally {
      body.release();
    }
  }

  /**
   * Answers a write. A sender that is unknown, or has no credentials, is authenticated and authorized by the headers
   * alone, while the first part of the body arrives: a refused request is answered without its body.
   */
  async #write(request: FrontRequest, audited: Pick<BegunRequest, 'receive'> | undefined): Promise<void> {
    const { sender } = request;
    const body = this.#bodies.read(request.exchange, sender.usage, isNobody(sender));
    try {
      if (isNobody(sender) && !(await this.#authorize(request))) return;
      if (audited && !(await audited.receive(sender))) return;
      const { usage } = sender;
      body.accept(usage);
      usage.add('requests');
      try {
        await this.#runWrite(request, await body.bytes);
      } finally {
        usage.remove('requests');
      }
    } finally {
      body.release();
    }
  }

  async #runWrite(request: FrontRequest, body: Uint8Array): Promise<void> {
    const { verb } = request.route.target as ResourceTarget;
    // The answer to a write is sent with its event, which arrives after all objects.
    const objects = request.route.resource?.stored ? this.parts.state.loading.waitFor() : undefined;
    if (objects) await objects;
    await (WRITES[verb] ?? WRITES['*'])(this.#writes, request, body);
  }
}

/** The audit id of a request: the one that the client or the pool has chosen, or a new one. */
const auditIdOf = (exchange: Exchange, sender: Sender | undefined): string =>
  givenAuditId(exchange.header('audit-id')) ?? sender?.trail?.auditId ?? randomUUID();

const noPage = (): Refusal => new Refusal('NotFound', '404 page not found');

/** Sends the message of a refusal, and `end`, as a text: the form that upstream has outside of the API. */
function refuseAsText(exchange: Exchange, refusal: Refusal, end: string, sender?: Sender): FrontRefusal {
  const auditId = auditIdOf(exchange, sender);
  text(exchange, refusal.code, refusal.message + end, [['audit-id', auditId]]);
  return { auditId, refusal };
}

/** Refuses a WebSocket handshake, and names the supported version (RFC 6455, 4.4). */
function refuseHandshake(exchange: Exchange, refusal: Refusal, serving: Serving, sender: Sender): FrontRefusal {
  const auditId = auditIdOf(exchange, sender);
  refuse(exchange, refusal, serving, [
    ['sec-websocket-version', WEBSOCKET_VERSION],
    ['audit-id', auditId],
  ]);
  return { auditId, refusal };
}

/** Whether a request is anonymous: it has no credentials to verify. */
const isNobody = ({ user }: Sender): boolean => !user || user.name === ANONYMOUS.name;
