import type { AuditEvent, AuditLevel, AuditUser } from '../../../core/api/observe/audit.js';
import { isRecord, stringAt, type UnknownRecord } from '../../../core/model/record.js';
import { nameOf } from '../../../core/model/target.js';
import type { User } from '../../../core/model/user.js';
import type { Naming } from '../../../core/naming.js';
import { isWatch, type Route } from '../../../core/request/route.js';
import { withSelectors } from '../../../core/request/selectors.js';
import { isConfidential } from '../../../core/services/audit/confidential.js';
import { type AuditDecision, hasRequestBody } from '../../../core/services/audit/policy.js';
import type { Sender } from '../access/sender.js';
import { isLong } from '../paths/methods.js';
import { isOfRoute, understoodRequest, withoutManagedFields } from './auditedBody.js';
import type { AuditedExchange } from './auditedExchange.js';

/** Duration in milliseconds above which the event of a request states it: upstream's number. */
const SLOW_MS = 500;

/** Milliseconds as Go writes a duration: `612ms`, `1.5s`, `2m3.5s`. */
function durationText(ms: number): string {
  if (ms < 1000) return `${ms}ms`;
  const minutes = Math.floor(ms / 60_000);
  return `${minutes > 0 ? `${minutes}m` : ''}${(ms % 60_000) / 1000}s`;
}

/** A request, as far as it is known. */
export interface AuditedRequest {
  readonly exchange: AuditedExchange;
  readonly route: Route;
  readonly sender: Sender | undefined;
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

/** Whether a request was refused before it was authorized, since its sender may not act as somebody else. */
const isImpersonationRefused = ({ exchange, sender }: AuditedRequest): boolean =>
  sender?.impersonator === undefined && exchange.headers().some(([name]) => /^impersonate-/i.test(name));

/**
 * Whether a request was refused before its body was read: for the media type of a patch, for its parameters, or for
 * duplicate or unknown fields where these are refused.
 */
function isRefusedUnread(exchange: AuditedExchange): boolean {
  if (exchange.status === 415) return true;
  if (exchange.status !== 422 && exchange.status !== 400) return false;
  const { details, message } = (exchange.answeredStatus(false) ?? {}) as UnknownRecord;
  if (exchange.status === 400) return typeof message === 'string' && message.includes('strict decoding error');
  return isRecord(details) && /^(?:Create|Update|Patch)Options$/.test(stringAt(details, 'kind'));
}

/** The members that all events of a request have. */
export type EventOfRequest = Omit<AuditEvent, 'stage' | 'requestReceivedTimestamp' | 'stageTimestamp'>;

/** Makes the parts of audit events. Names are in the naming of the server. */
export class AuditEvents {
  constructor(readonly naming: Naming) {}

  /** The members that an event has once its request is answered. `took`: the milliseconds that it took. */
  answerOf(
    request: AuditedRequest,
    decision: AuditDecision,
    { status, took }: { readonly status: number; readonly took: number },
  ): Partial<AuditEvent> {
    const { exchange, route } = request;
    const requestObject = this.#requestObjectOf(request, decision);
    const responseObject = this.#responseObjectOf(request, decision);
    const annotations = { ...this.#annotationsOf(request, decision), ...this.#latencyOf(route, took) };
    return {
      ...this.#impersonatedOf(request),
      ...this.#sentObjectOf(request, requestObject),
      responseStatus: { metadata: {}, code: status, ...exchange.answeredStatus(isConfidential(route)) },
      ...(requestObject && { requestObject }),
      ...(responseObject && { responseObject }),
      ...(Object.keys(annotations).length === 0 ? {} : { annotations }),
    };
  }

  /** The impersonated user of a request. It is not known for a request that was only received. */
  #impersonatedOf({ sender }: AuditedRequest): Pick<AuditEvent, 'impersonatedUser'> {
    return sender?.impersonator && sender.user ? { impersonatedUser: userOf(sender.user) } : {};
  }

  /** The body of a request that its level includes, if the request was authorized and so was decoded. */
  #requestObjectOf(request: AuditedRequest, { level, omitsManagedFields }: AuditDecision): object | undefined {
    const sent = hasRequestBody(level) ? this.#understoodOf(request) : undefined;
    return sent && omitsManagedFields ? withoutManagedFields(sent) : sent;
  }

  #understoodOf({ exchange, route, sender }: AuditedRequest): object | undefined {
    if (!sender?.permission || isRefusedUnread(exchange)) return undefined;
    const sent = exchange.requestObject();
    return sent && understoodRequest(sent, route, this.naming.group('meta.orchestrator.io'));
  }

  /** The body of an answer that its level includes. An answer outside of resources must be an object of the API. */
  #responseObjectOf(
    { exchange, route }: AuditedRequest,
    { level, omitsManagedFields }: AuditDecision,
  ): object | undefined {
    if (level !== 'RequestResponse') return undefined;
    const answer = exchange.responseObject();
    if (!route.resource) return answer && stringAt(answer, 'kind') !== '' ? answer : undefined;
    return answer && omitsManagedFields ? withoutManagedFields(answer) : answer;
  }

  /** The annotation of an event whose bodies were too long for it. */
  #truncationOf({ exchange, route }: AuditedRequest, { level }: AuditDecision): Readonly<Record<string, string>> {
    if (!hasRequestBody(level) || isWatch(route) || !route.resource) return {};
    const isTruncated = exchange.isRequestTruncated || (level === 'RequestResponse' && exchange.isResponseTruncated);
    return isTruncated ? { [`${this.naming.group('audit.orchestrator.io')}/truncated`]: 'true' } : {};
  }

  /** The members of all events of a request. `user`: who sent it, if that is known. */
  commonOf(request: AuditedRequest, user: User | undefined, level: AuditLevel): EventOfRequest {
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

  /**
   * The object that the path names, with values from the body of a create or update: its uid and resource version and,
   * if the path has none, its name; if the body was not decoded, the name that the object got. `understood`: the body
   * that the event has, if any.
   */
  #sentObjectOf(request: AuditedRequest, understood: object | undefined): Pick<AuditEvent, 'objectRef'> {
    const { exchange, route, sender } = request;
    const { target } = route;
    if (target.is === 'path' || (target.verb !== 'create' && target.verb !== 'update')) return {};
    if (!sender?.permission || isRefusedUnread(exchange)) return {};
    // A body is not decoded for its metadata alone, unless the answer suggests that it cannot be decoded.
    const sent = understood ?? (exchange.status === 400 ? this.#understoodOf(request) : exchange.requestObject());
    if (sent && !isOfRoute(sent, route)) return {};
    const sentAt = (member: string): string => (sent ? stringAt(sent, 'metadata', member) : '');
    const [uid, resourceVersion] = [sentAt('uid'), sentAt('resourceVersion')];
    const name = target.name || (sent ? sentAt('name') : (sender.written ?? ''));
    const isOfPath = name === target.name && uid === '' && resourceVersion === '';
    return isOfPath ? {} : { objectRef: this.#objectOf({ ...target, name }, { uid, resourceVersion }) };
  }

  /** Members in upstream's order. `sent`: the identity of the object in the body of the request. */
  #objectOf(
    target: Extract<Route['target'], { is: 'resource' }>,
    sent: { readonly uid?: string; readonly resourceVersion?: string } = {},
  ): NonNullable<AuditEvent['objectRef']> {
    const { resource, namespace, group, version, subresource } = target;
    const { uid = '', resourceVersion = '' } = sent;
    const name = nameOf(target);
    const apiGroup = this.naming.group(group);
    const members = { resource, namespace, name, uid, apiGroup, apiVersion: version, resourceVersion, subresource };
    return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== ''));
  }

  #annotationsOf(request: AuditedRequest, decision: AuditDecision): NonNullable<AuditEvent['annotations']> {
    const { exchange, sender } = request;
    const { group } = this.naming;
    // A later stage may refuse an allowed request with any code.
    const isAllowed = sender?.permission !== undefined;
    const isForbidden = !isAllowed && exchange.status === 403;
    const isKnown =
      isAllowed ||
      (!isImpersonationRefused(request) && (isForbidden || (sender?.user !== undefined && exchange.status !== 401)));
    const authorization = group('authorization.orchestrator.io');
    return {
      ...(isAllowed ? this.#deprecationOf(request.route) : {}),
      ...sender?.annotations,
      ...this.#truncationOf(request, decision),
      ...(hasRequestBody(decision.level) ? sender?.admission : this.#withoutPatches(sender?.admission)),
      ...(isKnown
        ? {
            [`${authorization}/decision`]: isForbidden ? 'forbid' : 'allow',
            [`${authorization}/reason`]: sender?.permission?.reason ?? '',
          }
        : {}),
    };
  }

  /** The annotation of a slow request: how long it took. */
  #latencyOf(route: Route, took: number): NonNullable<AuditEvent['annotations']> {
    if (took <= SLOW_MS || isLong(route)) return {};
    return { [`${this.naming.group('apiserver.latency.orchestrator.io')}/total`]: durationText(took) };
  }

  /** The annotations of a request for a deprecated version: that it is, and the release that removes the version. */
  #deprecationOf({ resource }: Route): NonNullable<AuditEvent['annotations']> {
    if (resource?.warning === undefined) return {};
    const removed = resource.deprecation?.removed;
    const group = this.naming.group('orchestrator.io');
    return { [`${group}/deprecated`]: 'true', ...(removed && { [`${group}/removed-release`]: removed }) };
  }

  /** Annotations without the patches of webhooks, which have parts of objects. */
  #withoutPatches(annotations: Readonly<Record<string, string>> = {}): Readonly<Record<string, string>> {
    const prefix = `patch.${this.naming.group('webhook.admission.orchestrator.io')}/`;
    return Object.fromEntries(Object.entries(annotations).filter(([name]) => !name.startsWith(prefix)));
  }
}
