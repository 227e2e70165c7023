import type { AuditEvent, AuditLevel, AuditUser } from '../../../core/api/observe/audit.js';
import { stringAt } from '../../../core/model/record.js';
import { nameOf } from '../../../core/model/target.js';
import type { User } from '../../../core/model/user.js';
import type { Naming } from '../../../core/naming.js';
import { isWatch, type Route } from '../../../core/request/route.js';
import { withSelectors } from '../../../core/request/selectors.js';
import { type AuditDecision, hasRequestBody } from '../../../core/services/audit/policy.js';
import type { Sender } from '../access/sender.js';
import { isOfRoute, withoutManagedFields } from './auditedBody.js';
import type { AuditedExchange } from './auditedExchange.js';

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

/** The members that all events of a request have. */
export type EventOfRequest = Omit<AuditEvent, 'stage' | 'requestReceivedTimestamp' | 'stageTimestamp'>;

/** Makes the parts of audit events. Names are in the naming of the server. */
export class AuditEvents {
  constructor(readonly naming: Naming) {}

  /** The members that an event has once its request is answered. `status`: that of the answer. */
  answerOf(request: AuditedRequest, decision: AuditDecision, status: number): Partial<AuditEvent> {
    const annotations = this.#annotationsOf(request, decision);
    return {
      ...this.#impersonatedOf(request),
      ...this.#createdObjectOf(request),
      ...this.#bodiesOf(request, decision),
      responseStatus: { metadata: {}, code: status, ...request.exchange.answeredStatus() },
      ...(Object.keys(annotations).length === 0 ? {} : { annotations }),
    };
  }

  /** The impersonated user of a request. It is not known of a request that was only received. */
  #impersonatedOf({ sender }: AuditedRequest): Pick<AuditEvent, 'impersonatedUser'> {
    return sender?.impersonator && sender.user ? { impersonatedUser: userOf(sender.user) } : {};
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
      ...this.#deprecationOf(request.route),
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

  /** Says of a request for a version that is deprecated that it is, and the release that does not have it any more. */
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
