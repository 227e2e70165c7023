import type { AuditEvent, AuditLevel, AuditSinks, AuditStage, AuditUser } from '../../../core/api/observe/audit.js';
import { randomUUID } from '../../../core/runtime/random.js';
import {
  type AuditDecision,
  type AuditPolicy,
  decideAudit,
  hasRequestBody,
} from '../../../core/services/audit/policy.js';
import type { Exchange } from '../../../core/api/listener.js';
import type { User } from '../../../core/model/user.js';
import { stringAt } from '../../../core/model/record.js';
import { nameOf } from '../../../core/model/target.js';
import type { Naming } from '../../../core/naming.js';
import { isWatch, type Route } from '../../../core/request/route.js';
import { withSelectors } from '../../../core/request/selectors.js';
import { isOfRoute, withoutManagedFields } from './auditedBody.js';
import { givenAuditId } from '../../../core/request/auditId.js';
import { AuditedExchange } from './auditedExchange.js';
import { sourceAddresses } from './auditedSource.js';
import { isLong } from '../paths/methods.js';
import type { Sender } from '../access/sender.js';

/** An answered request. */
interface AuditedRequest {
  readonly exchange: AuditedExchange;
  readonly route: Route;
  readonly sender: Sender | undefined;
  /** Milliseconds since the epoch. */
  readonly receivedAt: number;
  readonly auditId: string;
  readonly userAgent: string;
  readonly sourceIPs: readonly string[];
}

const userOf = ({ name, uid, groups, extra }: User): AuditUser => ({
  username: name,
  ...(uid === '' ? {} : { uid }),
  ...(groups.length === 0 ? {} : { groups }),
  ...(extra.size === 0 ? {} : { extra: Object.fromEntries(extra) }),
});

/** Whether the bodies of a route have credentials. */
const isConfidential = ({ target, resource }: Route): boolean =>
  target.is === 'resource' && (resource?.strategy.confidential?.includes(target.subresource) ?? false);

/** Whether a request was refused before it was authorized, since its sender may not act as somebody else. */
const isImpersonationRefused = ({ exchange, sender }: AuditedRequest): boolean =>
  sender?.impersonator === undefined && exchange.headers().some(([name]) => /^impersonate-/i.test(name));

/** The members that all events of a request have. */
type EventOfRequest = Omit<AuditEvent, 'stage' | 'requestReceivedTimestamp' | 'stageTimestamp'>;

/** A time in RFC 3339 with microseconds. */
const microTime = (at: number): string => new Date(at).toISOString().replace('Z', '000Z');

/** A request whose event is not written yet. */
export interface BegunRequest {
  /** To be used instead of the exchange. */
  readonly exchange: Exchange;
  /** Writes the event. To be called when the request is answered; for a watch, when its answer has begun. */
  end(sender: Sender | undefined): void;
}

/**
 * Gives the sinks the events of requests that the policy selects: who sent them, on whose behalf, what was asked, and
 * how it was answered. Nothing of headers with credentials is recorded, and of bodies the names of created objects and
 * the Status of an answer without values. Where the policy asks for bodies, these and the patches of webhooks are
 * recorded too, but never those with credentials (`Strategy.confidential`): their events have the level Metadata.
 */
export class Audit {
  constructor(
    readonly policy: AuditPolicy,
    readonly sinks: Pick<AuditSinks, 'write'>,
    readonly naming: Naming,
    readonly now: () => number,
  ) {}

  /**
   * Takes what is recorded about a request from its exchange.
   */
  begin(given: Exchange, route: Route): BegunRequest {
    const auditId = givenAuditId(given.header('audit-id')) ?? randomUUID();
    const keepsBodies = this.policy.hasBodies && !isConfidential(route);
    const exchange = new AuditedExchange(given, route, auditId, keepsBodies);
    const userAgent = exchange.header('user-agent') ?? '';
    const sourceIPs = sourceAddresses(exchange);
    const receivedAt = this.now();
    return {
      exchange,
      end: sender => this.#record({ exchange, route, sender, receivedAt, auditId, userAgent, sourceIPs }),
    };
  }

  #record(request: AuditedRequest): void {
    const { route, sender, receivedAt } = request;
    const user = sender?.impersonator ?? sender?.user;
    const decision = this.#decide(user, route);
    const { level } = decision;
    if (level === 'None') return;
    const common = this.#commonOf(request, user, level);
    const write = (stage: AuditStage, at: number, more: Partial<AuditEvent>): void => {
      if (decision.omitted.has(stage)) return;
      this.sinks.write({ ...common, stage, ...more, ...this.#timesOf(receivedAt, at) });
    };
    const { exchange } = request;
    const { status = 0 } = exchange;
    const isUnknown = status === 401;
    if (!isUnknown) write('RequestReceived', receivedAt, {});
    const answered = {
      ...this.#impersonatedOf(request),
      ...this.#createdObjectOf(request),
      ...this.#bodiesOf(request, decision),
      responseStatus: { metadata: {}, code: status, ...exchange.answeredStatus() },
      annotations: this.#annotationsOf(request, decision),
    };
    const at = this.now();
    if (isUnknown || isLong(route)) write('ResponseStarted', at, answered);
    const isOngoing = isWatch(route) && status < 400;
    if (!isUnknown && !isOngoing) write('ResponseComplete', at, answered);
  }

  /** As whom a request was made. It is not known of a request that was only received. */
  #impersonatedOf({ sender }: AuditedRequest): Pick<AuditEvent, 'impersonatedUser'> {
    return sender?.impersonator && sender.user ? { impersonatedUser: userOf(sender.user) } : {};
  }

  #decide(user: User | undefined, route: Route): AuditDecision {
    const decision = decideAudit(this.policy, user, route.target, this.naming.group);
    return hasRequestBody(decision.level) && isConfidential(route) ? { ...decision, level: 'Metadata' } : decision;
  }

  /**
   * The bodies that the level of an event includes: of a request, if it was authorized and so was decoded; of an answer
   * outside of resources, if it is an object of the API.
   */
  #bodiesOf(
    { exchange, route, sender }: AuditedRequest,
    { level, omitsManagedFields }: AuditDecision,
  ): Pick<AuditEvent, 'requestObject' | 'responseObject'> {
    if (!hasRequestBody(level)) return {};
    if (!route.resource) {
      const answer = level === 'RequestResponse' ? exchange.responseObject() : undefined;
      return answer === undefined || stringAt(answer, 'kind') === '' ? {} : { responseObject: answer };
    }
    const shown = (value: object | undefined): object | undefined =>
      value && omitsManagedFields ? withoutManagedFields(value) : value;
    const isDecoded = sender?.reason !== undefined;
    const sent = exchange.requestObject();
    const requestObject = isDecoded && sent && isOfRoute(sent, route) ? shown(sent) : undefined;
    const responseObject = level === 'RequestResponse' ? shown(exchange.responseObject()) : undefined;
    return { ...(requestObject && { requestObject }), ...(responseObject && { responseObject }) };
  }

  /** Says of an event that a body was too long for it. */
  #truncationOf({ exchange, route }: AuditedRequest, { level }: AuditDecision): Readonly<Record<string, string>> {
    if (!hasRequestBody(level) || isWatch(route)) return {};
    const isTruncated = exchange.isRequestTruncated || (level === 'RequestResponse' && exchange.isResponseTruncated);
    return isTruncated ? { [`${this.naming.group('audit.orchestrator.io')}/truncated`]: 'true' } : {};
  }

  #commonOf(request: AuditedRequest, user: User | undefined, level: AuditLevel): EventOfRequest {
    const { naming } = this;
    const { exchange, route, auditId, userAgent, sourceIPs, sender } = request;
    const target = sender?.user ? withSelectors(route) : route.target;
    const query = exchange.query === '' ? '' : `?${exchange.query}`;
    return {
      kind: 'Event',
      apiVersion: naming.apiVersion('audit.orchestrator.io/v1'),
      level,
      auditID: auditId,
      requestURI: `${exchange.path}${query}`,
      verb: target.verb,
      user: user ? userOf(user) : {},
      ...(sourceIPs.length === 0 ? {} : { sourceIPs }),
      ...(userAgent === '' ? {} : { userAgent }),
      ...(target.is === 'path' ? {} : { objectRef: this.#objectOf(target) }),
    };
  }

  /** The object that a request was to create, whose name is not in its path. */
  #createdObjectOf({ exchange, route: { target } }: AuditedRequest): Pick<AuditEvent, 'objectRef'> {
    if (target.is === 'path' || target.verb !== 'create' || target.name !== '') return {};
    return { objectRef: this.#objectOf({ ...target, name: exchange.createdName() }) };
  }

  #objectOf(target: Extract<Route['target'], { is: 'resource' }>): NonNullable<AuditEvent['objectRef']> {
    const { resource, namespace, group, version, subresource } = target;
    const name = nameOf(target);
    const members = { resource, namespace, name, apiGroup: this.naming.group(group), apiVersion: version, subresource };
    return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== ''));
  }

  #annotationsOf(request: AuditedRequest, decision: AuditDecision): NonNullable<AuditEvent['annotations']> {
    const { exchange, sender } = request;
    const { group } = this.naming;
    // A later stage may refuse an allowed request with any code.
    const isAllowed = sender?.reason !== undefined;
    const isForbidden = !isAllowed && exchange.status === 403;
    const isKnown =
      isAllowed ||
      (!isImpersonationRefused(request) && (isForbidden || (sender?.user !== undefined && exchange.status !== 401)));
    const authorization = group('authorization.orchestrator.io');
    return {
      ...sender?.annotations,
      ...this.#truncationOf(request, decision),
      ...(hasRequestBody(decision.level) ? sender?.admission : this.#withoutPatches(sender?.admission)),
      ...(isKnown
        ? {
            [`${authorization}/decision`]: isForbidden ? 'forbid' : 'allow',
            [`${authorization}/reason`]: sender?.reason ?? '',
          }
        : {}),
    };
  }

  /** Annotations without the patches of webhooks, which have parts of objects. */
  #withoutPatches(annotations: Readonly<Record<string, string>> = {}): Readonly<Record<string, string>> {
    const prefix = `patch.${this.naming.group('webhook.admission.orchestrator.io')}/`;
    return Object.fromEntries(Object.entries(annotations).filter(([name]) => !name.startsWith(prefix)));
  }

  #timesOf(receivedAt: number, at: number): Pick<AuditEvent, 'requestReceivedTimestamp' | 'stageTimestamp'> {
    return { requestReceivedTimestamp: microTime(receivedAt), stageTimestamp: microTime(at) };
  }
}
