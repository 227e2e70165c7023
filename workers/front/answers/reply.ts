import type { Exchange } from '../../../core/api/listener.js';
import type { Log } from '../../../core/api/host.js';
import { Refusal } from '../../../core/model/refusal.js';
import type { Serving } from '../../../core/request/negotiate.js';
import type { Resource } from '../../../core/schema/resource.js';
import type { JobResult } from '../../../core/threads/messages/messages.js';
import { isPretty, encodeRefusal } from '../../../core/request/forms.js';
import { warningHeaders } from '../../../core/request/warnings.js';
import { stackOf } from '../../../core/plugin/calls/stack.js';
import type { User } from '../../../core/model/user.js';
import { copyBytes } from '../../../core/runtime/copyBytes.js';
import { givenAuditId } from '../../../core/request/auditId.js';
import { readTrace, traceIdOf } from '../../../core/request/traceContext.js';

/** A header list. */
export type Headers = readonly (readonly [string, string])[];

const JSON_TYPE = ['content-type', 'application/json'] as const;
/** Answers must not be cached. */
export const NO_CACHE = ['cache-control', 'no-cache, private'] as const;

/** Headers of every JSON answer. */
export const JSON_HEADERS: Headers = [JSON_TYPE, NO_CACHE];

/** The end of a JSON document in an answer: upstream's encoder writes one. */
export const LINE_END: Uint8Array = Buffer.from('\n');

/** A JSON document with its line end. */
export function jsonLine(json: Uint8Array): Buffer {
  const line = Buffer.allocUnsafe(json.length + LINE_END.length);
  copyBytes(line, 0, json);
  line.set(LINE_END, json.length);
  return line;
}

/**
 * Headers of an answer about a resource. By default `warnings` are those of the resource, and `mediaType` is JSON.
 */
export function headersFor(resource: Resource, mediaType?: string, warnings?: readonly string[]): Headers {
  const own: Headers = mediaType === undefined ? JSON_HEADERS : [['content-type', mediaType], NO_CACHE];
  if (warnings) return [...own, ...warningHeaders(warnings)];
  return resource.warning === undefined ? own : [...own, ...warningHeadersOf(resource)];
}

/** The Warning header for a version that is deprecated. */
export const warningHeadersOf = ({ warning }: { readonly warning?: string | undefined }): Headers =>
  warning === undefined ? [] : warningHeaders([warning]);

/**
 * Whether JSON is indented for the client: if its query says so or, without that, for programs that people use
 * directly.
 */
export const indented = (exchange: Exchange): boolean => isPretty(exchange.query, exchange.header('user-agent') ?? '');

/** Sends the pool's answer. Throws an Error if the job has another result. */
export function respond(exchange: Exchange, result: JobResult): void {
  if (exchange.aborted) return;
  if (result.is !== 'respond') throw new Error(`the pool answered with ${result.is}`);
  exchange.respond(result.status, headersWithId(result), result.body);
}

/** All headers of an answer of the pool. */
export const headersWithId = ({ headers, auditId }: Extract<JobResult, { is: 'respond' }>): Headers =>
  auditId === undefined ? headers : [...headers, ['audit-id', auditId]];

/** Sends a refusal as its Status, in the form that the client accepts. */
export function refuse(exchange: Exchange, refusal: Refusal, serving: Serving, headers: Headers = []): void {
  if (exchange.aborted) return;
  const retry = refusal.details?.retryAfterSeconds;
  const { contentType, bytes } = encodeRefusal(refusal, exchange.header('accept'), serving, indented(exchange));
  const retryAfter = retry ? [['retry-after', String(retry)] as const] : [];
  exchange.respond(refusal.code, [['content-type', contentType], NO_CACHE, ...retryAfter, ...headers], bytes);
}

/** The parts of a request that the answer to its refusal depends on. */
interface RefusedRequest {
  readonly headers?: Headers;
  readonly user?: User | undefined;
  readonly auditId?: string | undefined;
}

/**
 * Answers with anything thrown: a Refusal is sent to the client as it is; anything else is a bug, which is logged with
 * its stack and answered with 500. Never throws. If an answer has begun, nothing is sent: the code that streams the
 * answer ends it. `headers`: further headers of a refusal; `user`: the sender, for the log; `auditId`: that of the
 * request. Returns the refusal that was sent; undefined if none was.
 */
export function refuseThrown(
  exchange: Exchange,
  thrown: unknown,
  log: Log,
  serving: Serving,
  { headers = [], user, auditId = givenAuditId(exchange.header('audit-id')) }: RefusedRequest = {},
): Refusal | undefined {
  if (exchange.aborted) return undefined;
  const begun = exchange.status !== undefined;
  if (thrown instanceof Refusal && !begun) {
    refuse(exchange, thrown, serving, headers);
    return thrown;
  }
  const trace = readTrace(name => exchange.header(name));
  log.error(
    {
      method: exchange.method,
      path: exchange.path,
      user: user?.name,
      auditId,
      traceId: trace && traceIdOf(trace),
      stack: stackOf(thrown),
    },
    'a request failed unexpectedly',
  );
  if (begun) return undefined;
  const refusal = new Refusal(
    'InternalError',
    'Internal error occurred: the request could not be completed; see the log of the server',
    { causes: [{ message: 'unexpected failure' }] },
  );
  refuse(exchange, refusal, serving, headers);
  return refusal;
}

/** Sends a text answer, the form that upstream has outside of the API. */
export function text(exchange: Exchange, status: number, body: string, headers: Headers = []): void {
  exchange.respond(
    status,
    [['content-type', 'text/plain; charset=utf-8'], ['x-content-type-options', 'nosniff'], NO_CACHE, ...headers],
    Buffer.from(body),
  );
}
