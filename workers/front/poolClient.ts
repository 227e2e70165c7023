import type { Exchange } from '../../core/api/listener.js';
import type { User } from '../../core/model/user.js';
import type { Grant, Job, JobResult, Rendering } from '../../core/threads/messages.js';
import { type AccessCache, credentialKey, decisionKey } from './access.js';
import type { Pool } from './pool.js';
import type { FrontRequest, Sender } from './sender.js';
import { credentialHeaders } from './webSocket.js';

/** Id of jobs that propose nothing. */
const NO_PROPOSAL = 0;

/** Fields of a job that its request decides about. */
export type JobFields = Partial<Pick<Job, 'id' | 'path' | 'body' | 'current' | 'currentKey' | 'begun' | 'granted'>>;

/** Runs jobs of requests: tells the pool what is known of their senders, and remembers what it finds out. */
export class PoolClient {
  constructor(
    readonly pool: Pick<Pool, 'run'>,
    readonly access: AccessCache,
    readonly now: () => number,
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

  /** Whether a request is known to be allowed. */
  isAllowed({ route, sender }: FrontRequest): boolean {
    if (sender.allowedUnder === this.access.policy) return true;
    return sender.identity !== undefined && this.access.isAllowed(sender.identity, decisionKey(route), this.now());
  }

  /**
   * Runs a job of a request. The pool authenticates and authorizes the sender as far as that is not known; what it
   * finds is noted in `request.sender` and remembered for later requests. Throws what `Pool.run` throws.
   */
  async run(request: FrontRequest, fields: JobFields = {}): Promise<JobResult> {
    const { exchange, sender } = request;
    const { policy } = this.access;
    const asked = this.now();
    // Member by member: an object from several spreads takes 3 KB, and more again when it is copied for the pool.
    const { id = NO_PROPOSAL, path = exchange.path, granted = this.isAllowed(request), body, current, begun } = fields;
    const result = await this.pool.run({
      id,
      method: exchange.method,
      path,
      query: exchange.query,
      accept: exchange.header('accept') ?? '',
      contentType: exchange.header('content-type') ?? '',
      userAgent: exchange.header('user-agent') ?? '',
      ifMatch: exchange.header('if-match') ?? '',
      user: sender.user,
      credentials: sender.user ? undefined : credentialsOf(exchange),
      warnings: sender.warnings,
      granted,
      body,
      current,
      currentKey: fields.currentKey,
      begun,
    });
    if (result.grant) this.#learn(request, result.grant, policy, asked);
    return result;
  }

  /** Encodes objects, or events of a watch, in the form that an exchange asks for. */
  async render(exchange: Exchange, rendering: Rendering): Promise<JobResult> {
    return await this.pool.run({ ...fieldsOf(exchange), id: NO_PROPOSAL, granted: true, render: rendering });
  }

  #learn({ route, sender }: FrontRequest, grant: Grant, policy: number, asked: number): void {
    if (grant.allowed) sender.allowedUnder = policy;
    if (sender.credentials === undefined) return;
    const identity = this.access.learn(sender.credentials, decisionKey(route), grant, policy, asked);
    if (sender.user) return;
    sender.user = grant.user;
    sender.identity = identity;
    sender.usage = this.access.usages.of(grant.user.name);
    sender.warnings = grant.warnings;
  }
}

const credentialsOf = (exchange: Exchange): NonNullable<Job['credentials']> => ({
  headers: credentialHeaders(exchange),
  certificate: exchange.certificate,
  remoteAddress: exchange.remoteAddress,
});

const fieldsOf = (exchange: Exchange) => ({
  method: exchange.method,
  path: exchange.path,
  query: exchange.query,
  accept: exchange.header('accept') ?? '',
  contentType: exchange.header('content-type') ?? '',
  userAgent: exchange.header('user-agent') ?? '',
  ifMatch: exchange.header('if-match') ?? '',
});
