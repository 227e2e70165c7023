import type { Exchange } from '../../../core/api/listener.js';
import type { CredentialUse } from '../../../core/api/access.js';
import { LARGE_JOB_BYTES, YAML_WEIGHT } from '../../../core/limits.js';
import type { User } from '../../../core/model/user.js';
import type { Grant, Job, JobResult, Rendering } from '../../../core/threads/messages/messages.js';
import { type AccessCache, credentialKey, decisionKey, isCurrent, type Identity } from '../access/access.js';
import { givenAuditId } from '../../../core/request/auditId.js';
import { readTrace } from '../../../core/request/traceContext.js';
import type { JobRunner } from './pool.js';
import type { FrontRequest, Sender } from '../access/sender.js';
import { credentialHeaders } from '../watch/webSocket.js';

/** Id of jobs that propose nothing. */
const NO_PROPOSAL = 0;

/** Fields of a job that depend on its request. */
export type JobFields = Partial<
  Pick<Job, 'id' | 'path' | 'body' | 'current' | 'currentKey' | 'begun' | 'granted' | 'collection' | 'warnings'>
>;

const OPEN_BRACE = 0x7b;
/** Media types whose bodies take longer to decode than JSON. */
const SLOW_TYPE = /yaml|cbor/i;

/**
 * The size of a body as the pool counts it: that of the JSON of a common kind that takes as long to decode. Most bodies
 * that begin with a brace are JSON, whatever their content type, such as those that Go clients apply.
 */
function weightOf({ exchange, route }: FrontRequest, bytes: number, first: number | undefined): number {
  const isSlow = first !== OPEN_BRACE && SLOW_TYPE.test(exchange.header('content-type') ?? '');
  return bytes * (route.resource?.strategy.weight ?? 1) * (isSlow ? YAML_WEIGHT : 1);
}

/** The key by which the cost of a write is remembered: method and resource decide which policies apply to it. */
const kindOf = ({ exchange, route: { resource, subresource } }: FrontRequest): string | undefined =>
  exchange.method === 'GET' || !resource
    ? undefined
    : `${exchange.method} ${resource.storageName} ${subresource?.name ?? ''}`;

/** Runs the jobs of requests. Sends known facts about their senders to the pool, and caches those that it returns. */
export class PoolClient {
  /** Identities of users of the program, since the last reset of the cache. */
  #identities = new WeakMap<User, Identity>();
  #epoch = 0;

  constructor(
    readonly pool: JobRunner,
    readonly access: AccessCache,
    readonly now: () => number,
    /** Called with the record about credentials. */
    readonly record: (use: CredentialUse) => void = () => undefined,
  ) {}

  /** The sender of an exchange, from the cache. Throws Refusal 401 for credentials that cannot be read. */
  senderOf(exchange: Exchange): Sender {
    const credentials = credentialKey(exchange);
    const identity = this.access.identity(credentials, this.now());
    return { credentials, identity, user: identity?.user, usage: identity?.usage ?? this.access.usages.unknown };
  }

  /** A controller as the sender of a request. */
  controllerAs(user: User): Sender {
    return { user, usage: this.access.usages.controllers };
  }

  /** A user of the program that the server runs in as the sender of a request. */
  userAs(user: User): Sender {
    if (this.#epoch !== this.access.epoch) {
      this.#identities = new WeakMap();
      this.#epoch = this.access.epoch;
    }
    const identity = this.#identities.get(user) ?? this.access.identityOf(user);
    this.#identities.set(user, identity);
    return { user, identity, usage: identity.usage };
  }

  /** Whether a request is known to be allowed. */
  isAllowed({ route, sender }: FrontRequest): boolean {
    // The permission holds for this request, even if it may not be remembered for others.
    if (sender.permission && isCurrent(sender.permission)) return true;
    const permission = sender.identity && this.access.permission(sender.identity, decisionKey(route), this.now());
    if (!permission) return false;
    sender.permission = permission;
    return true;
  }

  /**
   * Runs a job of a request. The pool authenticates and authorizes the sender unless that is known already; what it
   * finds is noted in `request.sender` and remembered for later requests. `fields` is called when the job is passed to
   * the pool, which may be later if it has many bytes. Throws the errors of `Pool.run`, and an Error if the client is
   * gone by then.
   */
  async run(
    request: FrontRequest,
    fields: () => JobFields = () => ({}),
    bytes = 0,
    /** The first byte of the body. */
    first?: number,
  ): Promise<JobResult> {
    const { exchange, sender } = request;
    const revision = this.access.objects.revision();
    const { epoch } = this.access;
    const asked = this.now();
    let isSecondWrite = false;
    let isOfCollection = false;
    const result = await this.#inTurn(
      sender,
      weightOf(request, bytes, first),
      kindOf(request),
      () => !exchange.aborted,
      () => {
        const given = fields();
        isSecondWrite = given.begun ?? false;
        isOfCollection = given.collection ?? false;
        // Member by member: an object from several spreads takes 3 KB, and more again when it is copied for the pool.
        return {
          id: given.id ?? NO_PROPOSAL,
          method: exchange.method,
          path: given.path ?? exchange.path,
          query: exchange.query,
          // The answers to the deletes of a deletecollection are not sent.
          accept: given.collection ? '' : (exchange.header('accept') ?? ''),
          contentType: exchange.header('content-type') ?? '',
          userAgent: exchange.header('user-agent') ?? '',
          ifMatch: exchange.header('if-match') ?? '',
          // Further jobs have the id that the first one was given.
          auditId: givenAuditId(exchange.header('audit-id')) ?? sender.trail?.auditId,
          trace: readTrace(name => exchange.header(name)),
          user: sender.user,
          credentials: sender.user ? undefined : credentialsOf(exchange),
          warnings: given.warnings ?? sender.warnings,
          granted: given.granted ?? this.isAllowed(request),
          body: given.body,
          current: given.current,
          currentKey: given.currentKey,
          collection: given.collection,
          begun: given.begun,
        };
      },
    );
    if (result.grant) this.#learn(request, result.grant, { revision, asked, epoch });
    // The deletes of a deletecollection are one request.
    if (result.trail && !isOfCollection) {
      // Plugins are asked about the first of two writes.
      const first = isSecondWrite ? sender.trail : undefined;
      sender.trail = first ? { ...result.trail, steps: first.steps, unseenChanges: first.unseenChanges } : result.trail;
      sender.key = 'key' in result ? result.key : undefined;
    }
    // Annotations of earlier jobs take precedence. Those of a second write are ignored.
    if (!isSecondWrite && result.annotations) sender.admission = { ...result.annotations, ...sender.admission };
    return result;
  }

  /** Encodes objects, or events of a watch, in the form that an exchange asks for. */
  async render({ exchange, sender }: FrontRequest, rendering: Rendering): Promise<JobResult> {
    const bytes = rendering.objects.reduce((sum, object) => sum + object.length, 0);
    // Encodings are shared: the others need them even if the client of this request is gone.
    const isWanted = () => rendering.events !== undefined || rendering.records !== undefined || !exchange.aborted;
    const result = await this.#inTurn(sender, bytes, undefined, isWanted, () => renderJob(exchange, rendering));
    if (result.trail) sender.trail = result.trail;
    return result;
  }

  /**
   * Like `render`, for long jobs: `take` is called when a thread is free for it, and may return undefined if nothing is
   * left to do. Resolves with undefined then.
   */
  async renderWhenFree(
    { exchange, sender }: FrontRequest,
    take: () => Rendering | undefined,
  ): Promise<JobResult | undefined> {
    return await this.pool.runInTurn(sender.usage, () => {
      const rendering = take();
      return rendering && renderJob(exchange, rendering);
    });
  }

  /**
   * Runs a job. A job with many bytes, or of a kind that has taken long, waits for its turn. Throws an Error if it is
   * no longer wanted by then.
   */
  #inTurn(
    { usage }: Sender,
    weight: number,
    kind: string | undefined,
    isWanted: () => boolean,
    job: () => Job,
  ): Promise<JobResult> {
    const isLarge = weight >= LARGE_JOB_BYTES;
    if (!isLarge && (kind === undefined || !this.pool.costs.isLong(kind)))
      return this.pool.run(job(), kind, usage.user);
    const take = (): Job => {
      if (!isWanted()) throw new Error('the client has closed the connection');
      return job();
    };
    return this.pool.runInTurn(usage, take, isLarge ? undefined : kind);
  }

  /** `epoch`: that of the cache when the pool was asked. */
  #learn(
    { route, sender }: FrontRequest,
    grant: Grant,
    { revision, asked, epoch }: { readonly revision: number; readonly asked: number; readonly epoch: number },
  ): void {
    const permission = this.access.permissionOf(grant, revision, asked);
    if (permission) sender.permission = permission;
    if (sender.credentials === undefined) {
      if (sender.identity && permission) this.access.allow(sender.identity, decisionKey(route), permission, asked);
      return;
    }
    if (grant.use && !sender.user) this.record(grant.use);
    if (!sender.user) {
      sender.annotations = grant.use?.annotations;
      sender.impersonator = grant.impersonator;
    }
    const isCurrent = epoch === this.access.epoch;
    const identity = isCurrent
      ? this.access.learn(sender.credentials, decisionKey(route), grant, permission, asked)
      : undefined;
    if (sender.user) return;
    sender.user = grant.user;
    sender.authenticator = grant.authenticator;
    sender.identity = identity;
    sender.usage = this.access.usages.of(grant.user.name);
    sender.warnings = grant.warnings;
  }
}

const credentialsOf = (exchange: Exchange): NonNullable<Job['credentials']> => ({
  headers: credentialHeaders(exchange),
  certificate: exchange.certificate,
  hasInvalidCertificate: exchange.hasInvalidCertificate,
  remoteAddress: exchange.remoteAddress,
});

/** The job that encodes objects in the form that an exchange asks for. */
export const renderJob = (exchange: Exchange, render: Rendering): Job => ({
  id: NO_PROPOSAL,
  granted: true,
  render,
  method: exchange.method,
  path: exchange.path,
  query: exchange.query,
  accept: exchange.header('accept') ?? '',
  contentType: exchange.header('content-type') ?? '',
  userAgent: exchange.header('user-agent') ?? '',
  ifMatch: exchange.header('if-match') ?? '',
  auditId: givenAuditId(exchange.header('audit-id')),
  trace: readTrace(name => exchange.header(name)),
});
