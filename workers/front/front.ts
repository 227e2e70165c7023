import type { Log } from '../../core/api/host.js';
import type { Exchange } from '../../core/api/listener.js';
import { BODIES_BYTES, BODY_BYTES, POOL_QUEUE, WRITE_RETRIES } from '../../core/limits.js';
import type { RequestMetrics } from '../../core/metrics/index.js';
import {
  badRequest,
  conflict,
  methodNotAllowed,
  MODIFIED,
  notFound,
  Refusal,
  unknownPath,
} from '../../core/model/refusal.js';
import type { ResourceTarget } from '../../core/model/target.js';
import type { User } from '../../core/model/user.js';
import { withEnvelopeRevision } from '../../core/schema/protobufWatch.js';
import type { Registry } from '../../core/schema/resource.js';
import type { Current, Job, JobResult, Rendering, Verdict } from '../../core/threads/messages.js';
import { InFlight } from '../../core/threads/inFlight.js';
import { type AccessCache, credentialKey, decisionKey } from './access.js';
import { respondWhole } from './compress.js';
import { keyOf } from '../../core/request/keys.js';
import { type Pool, tooBusy } from './pool.js';
import { pageOfRequest } from './listPage.js';
import { get, list } from './reads.js';
import { watch } from './watches.js';
import { credentialHeaders } from './webSocket.js';
import type { ReadContext } from './context.js';
import { refuseThrown, text } from './reply.js';
import { actedOn } from './actedOn.js';
import { checkQuery, checkTimeout } from '../../core/request/query.js';
import { parseRoute, type Route } from '../../core/request/route.js';
import type { State } from './state.js';
import { unavailable } from './unavailable.js';
import { deleteCollection } from './deleteCollection.js';

/** Subresources whose requests last as long as the client wants. */
const LONG_SUBRESOURCES = new Set(['attach', 'exec', 'proxy', 'log', 'portforward']);

/** Id of jobs that propose nothing. */
const UNPROPOSED = 0;

/** Verbs a resource answers with GET. */
const READS = { get, list, watch } as const;

/** Answers requests outside of the resources: documents, health, metrics. Tells whether it knew the path. */
export type PathHandler = (exchange: Exchange, route: Route) => Promise<boolean> | boolean;

/**
 * The front end: owns connections, cached reads and watches. A request is routed, its identity and permission are
 * looked up in the caches, and it is then answered from bytes that are here, or handed to the pool and, for writes,
 * answered when the writer has committed.
 */
export class Front {
  /** Who waits for the writer's word on a proposal, or may come to. */
  readonly #inFlight = new InFlight<(verdict: Verdict) => void>();
  #writerEnded = false;
  /** Bytes that the bodies under way have at most. */
  #bodies = 0;

  constructor(
    readonly registry: () => Registry,
    readonly state: State,
    readonly pool: Pool,
    readonly access: AccessCache,
    readonly reads: ReadContext,
    readonly paths: PathHandler,
    readonly log: Log,
    readonly metrics: RequestMetrics,
  ) {}

  /** Handles one exchange of a listener; never throws. */
  handle(exchange: Exchange): void {
    const began = performance.now();
    this.metrics.begin(exchange.method);
    const route = this.#route(exchange);
    void this.#answer(exchange, route)
      .catch(thrown => refuseThrown(exchange, thrown, this.log, this.reads.naming))
      .then(() => this.metrics.end(exchange.method, route, exchange.status ?? 0, performance.now() - began));
  }

  /** Handles a request made inside the server, as `user`, without authentication. */
  handleAs(exchange: Exchange, user: User): void {
    void this.#answer(exchange, this.#route(exchange), user).catch(thrown =>
      refuseThrown(exchange, thrown, this.log, this.reads.naming),
    );
  }

  /** Where a request leads, in the registry as the last commit left it. */
  #route(exchange: Exchange): Route {
    this.reads.catchUp();
    return parseRoute(this.registry(), exchange.method, exchange.path, exchange.query);
  }

  /** What the writer says about proposals. */
  onVerdicts(verdicts: readonly Verdict[]): void {
    for (const verdict of verdicts) this.#inFlight.get(verdict.id)?.(verdict);
  }

  /** Nobody decides about proposals any more: those under way are answered with 504, as they may have taken place. */
  writerEnded(): void {
    this.#writerEnded = true;
    for (const [id, settle] of this.#inFlight) settle({ id, is: 'unavailable', message: 'the writer has ended' });
  }

  async #answer(exchange: Exchange, route: Route, internal?: User): Promise<void> {
    checkQuery(exchange.query);
    if (!isLong(route)) checkTimeout(route.query);
    const reads =
      exchange.method === 'GET' ||
      exchange.method === 'HEAD' ||
      route.target.is === 'path' ||
      route.missing !== undefined;
    if (!reads && !refusedMethod(exchange, route))
      return route.target.is === 'resource' && route.target.verb === 'deletecollection'
        ? this.#collection(exchange, route, internal)
        : this.#write(exchange, route, internal);
    const allowed = this.#cached(exchange, route) ?? (await this.#grant(exchange, route, internal));
    if (allowed) await this.#read(exchange, route);
  }

  /** True if the caches know the identity and its permission. */
  #cached(exchange: Exchange, route: Route): true | undefined {
    const now = this.state.now();
    this.reads.catchUp();
    const known = this.access.identity(credentialKey(exchange), now);
    return known && this.access.isAllowed(known, decisionKey(route), now) ? true : undefined;
  }

  /** Asks the pool for identity and permission; false after a refusal was sent. */
  async #grant(exchange: Exchange, route: Route, internal?: User): Promise<boolean> {
    const result = await this.#run(exchange, route, internal, {});
    if (result.is === 'granted') return true;
    this.#respond(exchange, result);
    return false;
  }

  async #read(exchange: Exchange, route: Route): Promise<void> {
    const { target, resource } = route;
    if (target.is === 'path') {
      if (!(await this.paths(exchange, route))) text(exchange, 404, '404 page not found\n');
      return;
    }
    if (route.missing === 'text') return text(exchange, 404, '404 page not found\n');
    if (route.missing === 'object' && target.is === 'resource')
      throw notFound({ group: target.group, resource: target.resource }, target.name);
    if (route.missing === 'namespace') throw badRequest('Namespace parameter required.');
    if (!resource) throw unknownPath();
    if (refusedMethod(exchange, route)) throw unsupported(route);
    await READS[target.verb as keyof typeof READS](this.reads, exchange, route, resource);
  }

  async #collection(exchange: Exchange, route: Route, internal?: User): Promise<void> {
    await this.#withBody(exchange, async body => {
      const checked = await this.#run(exchange, route, internal, { body });
      if (checked.is !== 'granted') return this.#respond(exchange, checked);
      await deleteCollection(
        await pageOfRequest(this.reads, route, route.resource!),
        exchange,
        route,
        (path, entry) =>
          this.#propose(
            exchange,
            {
              ...route,
              target: {
                ...(route.target as ResourceTarget),
                verb: 'delete',
                name: entry.name,
                namespace: entry.namespace,
              },
            },
            { body, path, granted: true, user: internal },
          ),
        (pieces, metadata) => this.render(exchange, { objects: pieces, status: 200, list: metadata }),
      );
    });
  }

  async #write(exchange: Exchange, route: Route, internal?: User): Promise<void> {
    await this.#withBody(exchange, async body => {
      const result = await this.#propose(exchange, actedOn(this.registry(), route, exchange, body), {
        body,
        user: internal,
      });
      this.#respond(exchange, result);
    });
  }

  /** Reads the body and acts on it, unless bodies under way are too much already. */
  async #withBody(exchange: Exchange, act: (body: Uint8Array) => Promise<void>): Promise<void> {
    const size = announcedBytes(exchange);
    if (this.#bodies + size > BODIES_BYTES) throw tooBusy();
    this.#bodies += size;
    try {
      await act(await exchange.body(BODY_BYTES));
    } finally {
      this.#bodies -= size;
    }
  }

  /**
   * Runs a read-transform-write until the writer accepts it: a proposal that lost a race runs again on the newer
   * object, a bounded number of times.
   */
  async #propose(
    exchange: Exchange,
    route: Route,
    given: { body: Uint8Array; path?: string; granted?: boolean; user?: User },
  ): Promise<JobResult & { is: 'respond' }> {
    const target = route.target as ResourceTarget;
    let lost: string | undefined;
    let fresh = false;
    let begun: (JobResult & { is: 'respond' }) | undefined;
    for (let attempt = 0; attempt < WRITE_RETRIES; attempt++) {
      this.reads.catchUp();
      const { revision } = this.state;
      const current = this.#current(route, target, lost);
      const { result, verdict } = await this.#attempt(exchange, route, {
        ...given,
        current,
        begun: begun !== undefined,
      });
      if (result.is === 'respond') {
        // Somebody else has ended what the first write began.
        if (begun && result.status === 404) return begun;
        // A dry run of a create: the name that it found may be taken.
        if (target.name === '' && !lost && result.key && this.#current(route, target, result.key)) {
          lost = result.key;
          continue;
        }
        if (result.status < 400 || fresh || !(await this.#outdated(revision))) return result;
        fresh = true;
        continue;
      }
      if (result.is !== 'proposed') throw new Error(`the pipeline answered a write with ${result.is}`);
      const settled = await verdict;
      lost = result.key;
      if (settled?.is === 'committed') {
        const answer = this.#committed(route, result, settled.revision, current);
        if (!result.more) return answer;
        begun = answer;
      }
      if (settled?.is === 'unavailable') throw unavailable();
      if (settled?.is === 'error') throw new Refusal('InternalError', `Internal error occurred: ${settled.message}`);
    }
    throw conflict({ group: route.resource?.group ?? '', resource: target.resource }, target.name, MODIFIED);
  }

  /**
   * Whether a refusal made at `revision` may have been due to what another process has changed meanwhile: it is known
   * here now.
   */
  async #outdated(revision: number): Promise<boolean> {
    const recent = this.reads.mostRecent();
    if (!recent) return false;
    await recent;
    return this.state.revision > revision;
  }

  async #attempt(
    exchange: Exchange,
    route: Route,
    given: Partial<Job>,
  ): Promise<{ result: JobResult; verdict: Promise<Verdict | undefined> }> {
    // The pool counts until it has answered; a store that takes its time must not gather any number of writes either.
    if (this.#inFlight.size >= POOL_QUEUE) throw tooBusy();
    if (this.#writerEnded) throw unavailable();
    let settle!: (verdict: Verdict) => void;
    const verdict = new Promise<Verdict>(resolve => (settle = resolve));
    const id = this.#inFlight.add(settle);
    try {
      const result = await this.#run(exchange, route, given.user, { ...given, id });
      if (result.is !== 'proposed') this.#inFlight.delete(id);
      return {
        result,
        verdict:
          result.is === 'proposed' ? verdict.finally(() => this.#inFlight.delete(id)) : Promise.resolve(undefined),
      };
    } catch (error) {
      this.#inFlight.delete(id);
      throw error;
    }
  }

  #current(route: Route, target: ResourceTarget, lost: string | undefined): Current | undefined {
    if (!route.resource || (!target.name && !lost)) return undefined;
    const entry = this.state.collections
      .get(route.resource.storageName)
      ?.entries.get(target.name ? keyOf(route.resource, target.namespace, target.name) : lost!);
    return entry && { bytes: entry.value, revision: entry.revision };
  }

  /** The answer to a committed proposal: the bytes the pipeline made, or the committed object itself. */
  #committed(
    route: Route,
    { id, status, headers, body, gaps }: JobResult & { is: 'proposed' },
    revision: number,
    current: Current | undefined,
  ): JobResult & { is: 'respond' } {
    const answer = (bytes: Uint8Array) => ({ id, is: 'respond', status, headers, body: bytes }) as const;
    if (body) {
      if (gaps === 'envelope') return answer(withEnvelopeRevision(body, revision));
      return answer(gaps ? filled(body, gaps, revision) : body);
    }
    const object = this.#written(route, revision) ?? current?.bytes;
    if (!object) throw new Error('the committed object is not in the cache');
    return answer(object);
  }

  /**
   * The object that this revision wrote, from the history: a later change may already have replaced it in the
   * collection.
   */
  #written(route: Route, revision: number): Uint8Array | undefined {
    const { storageName } = route.resource!;
    return this.state.history.at(revision).find(change => change.collection.storageName === storageName && change.after)
      ?.after?.value;
  }

  /** Has the pool show objects in the form the request asks for, and sends them. */
  async render(exchange: Exchange, rendering: Rendering): Promise<void> {
    const route = parseRoute(this.registry(), exchange.method, exchange.path, exchange.query);
    const result = await this.#run(exchange, route, undefined, { render: rendering, granted: true });
    if (result.is === 'respond' && result.status === 200) await respondWhole(exchange, result.headers, result.body);
    else this.#respond(exchange, result);
  }

  /** Has the pool encode watch events in another form. */
  async renderEvents(exchange: Exchange, rendering: Rendering): Promise<readonly Uint8Array[]> {
    const route = parseRoute(this.registry(), exchange.method, exchange.path, exchange.query);
    const result = await this.#run(exchange, route, undefined, { render: rendering, granted: true });
    if (result.is !== 'rendered') throw new Error('events could not be rendered');
    return result.pieces;
  }

  async #run(exchange: Exchange, route: Route, internal: User | undefined, given: Partial<Job>): Promise<JobResult> {
    const now = this.state.now();
    const credentials = credentialKey(exchange);
    const known = internal ? undefined : this.access.identity(credentials, now);
    const key = decisionKey(route);
    const policy = this.access.policy;
    const user = internal ?? known?.user;
    const { path, query, granted } = {
      path: exchange.path,
      query: exchange.query,
      granted: known !== undefined && this.access.isAllowed(known, key, now),
      ...given,
    };
    const result = await this.pool.run({
      id: given.id ?? UNPROPOSED,
      method: exchange.method,
      path,
      query,
      accept: exchange.header('accept') ?? '',
      contentType: exchange.header('content-type') ?? '',
      userAgent: exchange.header('user-agent') ?? '',
      ifMatch: exchange.header('if-match') ?? '',
      user,
      credentials: user
        ? undefined
        : {
            headers: credentialHeaders(exchange),
            certificate: exchange.certificate,
            remoteAddress: exchange.remoteAddress,
          },
      granted,
      body: given.body,
      current: given.current,
      begun: given.begun,
      render: given.render,
    });
    if (result.grant && !internal) this.access.learn(credentials, key, result.grant, policy, now);
    return result;
  }

  #respond(exchange: Exchange, result: JobResult): void {
    if (exchange.aborted) return;
    if (result.is !== 'respond') throw new Error(`the pipeline answered with ${result.is}`);
    exchange.respond(result.status, result.headers, result.body);
  }
}

/** A body with the revision's digits at its gaps. */
function filled(body: Uint8Array, gaps: readonly number[], revision: number): Buffer {
  const digits = Buffer.from(String(revision));
  const ends = [...gaps, body.length];
  return Buffer.concat(ends.flatMap((end, i) => [...(i > 0 ? [digits] : []), body.subarray(ends[i - 1] ?? 0, end)]));
}

/** Whether a request may take as long as it likes. */
const isLong = ({ target }: Route): boolean =>
  target.is === 'resource' && (target.verb === 'watch' || LONG_SUBRESOURCES.has(target.subresource));

/** The refusal of a verb that the resource does not have. */
function unsupported({ resource, target }: Route): Refusal {
  if (!resource?.custom || target.is !== 'resource') return methodNotAllowed();
  const { group, plural } = resource;
  const text = `${target.verb} is not supported on resources of kind ${JSON.stringify(`${plural}.${group}`)}`;
  return new Refusal('MethodNotAllowed', text, { group, kind: plural });
}

/** Whether a resource does not have the verb that the method stands for. */
function refusedMethod(exchange: Exchange, route: Route): boolean {
  const { resource, subresource, target } = route;
  if (target.is === 'path' || !resource) return false;
  // Upstream routes table kinds by method, others by what is asked for; a proxy passes on what it is sent.
  if (
    (exchange.method === 'HEAD' && !resource.custom && subresource?.name !== 'proxy') ||
    (route.watchPath && exchange.method !== 'GET')
  )
    return true;
  if (target.name === '' ? ['update', 'patch'].includes(target.verb) : target.verb === 'create' && !subresource)
    return true;
  const verbs = subresource ? subresource.verbs : resource.verbs;
  if (!verbs.includes(target.verb)) return true;
  return resource.namespaced && target.namespace === '' && !['list', 'watch'].includes(target.verb) && resource.stored;
}

/** The most that a request's body takes (RFC 9112, 6): one without a length may have any, up to the limit. */
function announcedBytes(exchange: Exchange): number {
  if (exchange.header('transfer-encoding') !== undefined) return BODY_BYTES;
  const length = Number(exchange.header('content-length') ?? 0);
  return length >= 0 ? Math.min(length, BODY_BYTES) : BODY_BYTES;
}
