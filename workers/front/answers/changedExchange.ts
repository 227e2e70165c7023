import type { Exchange } from '../../../core/api/listener.js';
import type { Headers } from './reply.js';

/** Returns an exchange with the members of `own`, and all others of `exchange`. */
const changed = (exchange: Exchange, own: Partial<Exchange>): Exchange =>
  new Proxy(exchange, {
    get(target, name) {
      if (Object.hasOwn(own, name)) return own[name as keyof Exchange];
      const member: unknown = Reflect.get(target, name, target);
      return typeof member === 'function' ? (member as () => unknown).bind(target) : member;
    },
    set: (target, name, value) => Reflect.set(target, name, value, target),
  });

/**
 * The exchange as if its client did not accept compressed answers, for servers without the feature gate
 * `APIResponseCompression`.
 */
export const withoutCompression = (exchange: Exchange): Exchange =>
  changed(exchange, { header: name => (name === 'accept-encoding' ? undefined : exchange.header(name)) });

/** Headers with the audit id of the request. Answers of the pool may have it already. */
export const withAuditId = (headers: Headers, auditId: string): Headers =>
  headers.some(([name]) => name === 'audit-id') ? headers : [['audit-id', auditId], ...headers];

/** An exchange whose answer has an audit id. */
export const answeringWithId = (exchange: Exchange, auditId: string): Exchange =>
  changed(exchange, {
    respond: (status, headers, body) => exchange.respond(status, withAuditId(headers, auditId), body),
    stream: (status, headers, options) => exchange.stream(status, withAuditId(headers, auditId), options),
  });
