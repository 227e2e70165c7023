import type { AuditEvent, AuditLevel, AuditSinks, AuditStage } from '../../../core/api/observe/audit.js';
import type { Host } from '../../../core/api/host.js';
import type { Exchange } from '../../../core/api/listener.js';
import { type Awaitable, isPromise } from '../../../core/api/awaitable.js';
import type { User } from '../../../core/model/user.js';
import type { Naming } from '../../../core/naming.js';
import { givenAuditId } from '../../../core/request/auditId.js';
import { isWatch, type Route } from '../../../core/request/route.js';
import { randomUUID } from '../../../core/runtime/random.js';
import { isConfidential } from '../../../core/services/audit/confidential.js';
import {
  type AuditDecision,
  type AuditPolicy,
  decideAudit,
  hasRequestBody,
} from '../../../core/services/audit/policy.js';
import type { Sender } from '../access/sender.js';
import { isLong } from '../paths/methods.js';
import { AuditedExchange } from './auditedExchange.js';
import { AuditEvents, type AuditedRequest, type EventOfRequest } from './auditEvents.js';
import { sourceAddresses } from './auditedSource.js';

/** A time in RFC 3339 with microseconds. */
const microTime = (at: number): string => new Date(at).toISOString().replace('Z', '000Z');

/** A request whose events are not all written yet. */
export interface BegunRequest {
  /** To be used instead of the exchange. */
  readonly exchange: Exchange;
  /**
   * Writes that the request was received. To be called when its sender is known, before anything is done for it.
   * Returns false if the event could not be written: then the request must not continue, and is answered with 500.
   */
  receive(sender: Sender): Awaitable<boolean>;
  /** Writes how the request was answered. To be called when it is; for a watch, when its answer has begun. */
  end(sender: Sender | undefined): void;
}

/** The parts that the audit of requests needs. */
export interface AuditParts {
  /** The policy may be replaced at any time. */
  policy: AuditPolicy;
  readonly sinks: Pick<AuditSinks, 'isBlocking' | 'write'>;
  readonly naming: Naming;
  readonly now: () => number;
  /** Counts in the metrics of the server. */
  readonly observe: Host<'front'>['observe'];
}

/**
 * Gives the sinks the events of requests that the policy selects: who sent them, on whose behalf, the request, and how
 * it was answered. Headers with credentials are not recorded. Of bodies, the names of created objects and the Status of
 * an answer are, without values where objects have credentials. Where the policy asks for bodies, these and the patches
 * of webhooks are recorded too, but never those with credentials (`Strategy.confidential`): their events have the level
 * Metadata.
 */
export class Audit {
  readonly events: AuditEvents;

  constructor(readonly parts: AuditParts) {
    this.events = new AuditEvents(parts.naming);
  }

  /** Takes the record of a request from its exchange. If a sink is blocking, the answer waits for it. */
  begin(given: Exchange, route: Route): BegunRequest {
    const { policy, sinks } = this.parts;
    const auditId = givenAuditId(given.header('audit-id')) ?? randomUUID();
    const keepsBodies = policy.hasBodies && !isConfidential(route);
    return new RecordedRequest(this, new AuditedExchange(given, route, auditId, keepsBodies, sinks.isBlocking), policy);
  }
}

/** A request, from its arrival to its last event. */
class RecordedRequest implements BegunRequest {
  readonly #receivedAt: number;
  readonly #known: Omit<AuditedRequest, 'sender'>;
  #decision: AuditDecision | undefined;
  #common: EventOfRequest | undefined;
  /** Whether the first event was given to the sinks, and whether the request may continue. */
  #received: Awaitable<boolean> | undefined;
  #isRejected = false;

  /** `policy`: the one in force when the request arrived. */
  constructor(
    readonly audit: Audit,
    readonly exchange: AuditedExchange,
    readonly policy: AuditPolicy,
  ) {
    const { route, auditId } = exchange;
    const userAgent = exchange.header('user-agent') ?? '';
    this.#known = { exchange, route, auditId, userAgent, sourceIPs: sourceAddresses(exchange) };
    this.#receivedAt = audit.parts.now();
  }

  receive(sender: Sender): Awaitable<boolean> {
    const user = sender.impersonator ?? sender.user;
    // The user may not be known yet. Then `end` writes the event.
    if (!user) return true;
    const accepted = this.#writeReceived({ ...this.#known, sender }, user);
    const settle = (isAccepted: boolean): boolean => {
      if (!isAccepted) this.#reject();
      return isAccepted;
    };
    return isPromise(accepted) ? accepted.then(settle) : settle(accepted);
  }

  end(sender: Sender | undefined): void {
    if (this.#isRejected) return;
    const request = { ...this.#known, sender };
    const user = sender?.impersonator ?? sender?.user;
    const decision = this.#decide(user);
    const { level } = decision;
    if (level === 'None') return void this.exchange.release();
    const recorded = { ...decision, level };
    // A long list is sent in parts.
    if (this.exchange.isCollecting) this.exchange.whenEnded(() => this.#writeAnswered(request, user, recorded));
    else this.#writeAnswered(request, user, recorded);
  }

  #writeAnswered(
    request: AuditedRequest,
    user: User | undefined,
    decision: AuditDecision & { readonly level: AuditLevel },
  ): void {
    const { route, exchange } = this;
    const { status = 0 } = exchange;
    const isUnknown = status === 401;
    this.#common ??= this.audit.events.commonOf(request, user, decision.level);
    const received = isUnknown ? true : this.#writeReceived(request, user);
    const at = this.audit.parts.now();
    const answer = this.audit.events.answerOf(request, decision, { status, took: at - this.#receivedAt });
    const written = [received];
    if (isUnknown || isLong(route)) written.push(this.#write('ResponseStarted', at, answer));
    if (isWatch(route) && status < 400)
      exchange.whenEnded(() => void this.#write('ResponseComplete', this.audit.parts.now(), answer));
    else if (!isUnknown) written.push(this.#write('ResponseComplete', at, answer));
    const answerNow = (isAccepted: boolean): void => {
      if (isAccepted) exchange.release();
      else this.#reject();
    };
    if (written.some(isPromise)) void Promise.all(written).then(([isAccepted]) => answerNow(isAccepted!));
    else answerNow(received as boolean);
  }

  get route(): Route {
    return this.exchange.route;
  }

  /** Writes the first event, unless that was done. */
  #writeReceived(request: AuditedRequest, user: User | undefined): Awaitable<boolean> {
    const { level } = this.#decide(user);
    if (level !== 'None') this.#common ??= this.audit.events.commonOf(request, user, level);
    return (this.#received ??= level === 'None' ? true : this.#write('RequestReceived', this.#receivedAt, {}));
  }

  /** The decision of the policy, which is made once. `user`: who sent the request. */
  #decide(user: User | undefined): AuditDecision {
    if (this.#decision) return this.#decision;
    const { naming, observe } = this.audit.parts;
    const decision = decideAudit(this.policy, user, this.route.target, naming.group);
    observe('apiserver_audit_level_total', { level: decision.level }, 1);
    this.#decision =
      hasRequestBody(decision.level) && isConfidential(this.route) ? { ...decision, level: 'Metadata' } : decision;
    this.exchange.keep(this.#decision.level);
    return this.#decision;
  }

  #write(stage: AuditStage, at: number, more: Partial<AuditEvent>): Awaitable<boolean> {
    if (this.#decision!.omitted.has(stage)) return true;
    const { sinks, observe } = this.audit.parts;
    observe('apiserver_audit_event_total', {}, 1);
    const { kind, apiVersion, level, auditID, ...common } = this.#common!;
    const { requestURI, verb, user, sourceIPs, userAgent, objectRef } = common;
    const { annotations, ...parts } = more;
    return sinks.write({
      // In upstream's order.
      ...{ kind, apiVersion, level, auditID, stage, requestURI, verb, user },
      ...(more.impersonatedUser && { impersonatedUser: more.impersonatedUser }),
      ...(sourceIPs && { sourceIPs }),
      ...(userAgent !== undefined && { userAgent }),
      ...(objectRef && { objectRef }),
      ...parts,
      requestReceivedTimestamp: microTime(this.#receivedAt),
      stageTimestamp: microTime(at),
      ...(annotations && { annotations }),
    });
  }

  /** Refuses the request in upstream's words. */
  #reject(): void {
    this.#isRejected = true;
    this.audit.parts.observe('apiserver_audit_requests_rejected_total', {}, 1);
    const { path, query } = this.exchange;
    const uri = JSON.stringify(`${path}${query === '' ? '' : `?${query}`}`);
    this.exchange.refuse(500, `Internal Server Error: ${uri}: failed to store audit event\n`);
  }
}
