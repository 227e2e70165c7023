import * as https from 'node:https';
import type { ClientRequest, IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import type { Exchange } from '../../../core/api/listener.js';
import { LIST_SLICE_BYTES } from '../../../core/limits.js';
import { clearTimeout, setTimeout } from '../../../core/runtime/timers.js';
import { withResolvers } from '../../../core/runtime/withResolvers.js';
import type { ConnectionAgents, Endpoint } from '../../../core/services/webhooks/connections.js';
import { describeError } from '../../../core/services/webhooks/connectionErrors.js';
import { drainOf } from '../answers/drain.js';
import { text } from '../answers/reply.js';
import { answerHeaders } from './forwardedHeaders.js';

/** Between two events of a watch in JSON, a space has no meaning. */
const SPACE = { value: 0x20, partOfWrite: false };

/** The Status of a request that ran out of time. */
const TIMED_OUT = {
  metadata: {},
  status: 'Failure',
  message: 'Timeout: request did not complete within the allotted timeout',
  reason: 'Timeout',
  details: {},
  code: 504,
};

/** Methods of requests that may be sent twice: those that the HTTP client of Go repeats. */
const REPEATABLE: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

/** Statuses of answers that have no body (RFC 9110, 15.3.5 and 15.4.5). */
const WITHOUT_BODY: ReadonlySet<number> = new Set([204, 304]);

/** The codes of errors of a connection that the other side has closed. */
const CLOSED: ReadonlySet<string | undefined> = new Set(['ECONNRESET', 'EPIPE']);

/** A request as it is passed on to another server. */
export interface ForwardedRequest {
  readonly exchange: Exchange;
  readonly endpoint: Endpoint;
  readonly path: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: Readable;
  readonly auditId: string;
  /** Whether the answer is a stream of changes. */
  readonly isWatch: boolean;
  /** Milliseconds in which the answer must be complete; undefined if it may take as long as the client likes. */
  readonly timeoutMs: number | undefined;
  /** Whether answers that redirect the client are refused: it would send its credentials elsewhere. */
  readonly refusesRedirects: boolean;
}

/**
 * Passes a request on, and its answer back, each no faster than its receiver reads. Resolves when the answer has ended.
 * Without an answer, the client gets 503 with the reason, or 504 after the timeout.
 */
export async function forward(request: ForwardedRequest, agents: ConnectionAgents): Promise<void> {
  const { exchange, endpoint, path, headers, body, timeoutMs } = request;
  const { promise, resolve } = withResolvers<void>();
  let current: ClientRequest;
  const { hostname, port } = new URL(endpoint.url);
  const hasBody = headers.some(([name]) => name === 'content-length' || name === 'transfer-encoding');
  const options = {
    method: exchange.method,
    host: hostname.replace(/^\[|\]$/g, ''),
    port,
    path,
    agent: agents.of(endpoint),
    setHost: false,
    headers: headers.flat(),
  };
  const send = (mayRepeat: boolean): void => {
    const sent = (current = https.request(options, answer => void answerWith(request, answer).then(resolve)));
    sent.on('error', (error: NodeJS.ErrnoException) => {
      // A connection that was kept open may have been closed before the request arrived.
      if (mayRepeat && sent.reusedSocket && CLOSED.has(error.code) && !exchange.aborted) return send(false);
      resolve();
      unreachable(request, error);
    });
    if (hasBody) body.on('error', error => sent.destroy(error)).pipe(sent);
    else sent.end();
  };
  send(!hasBody && REPEATABLE.has(exchange.method));
  const timer = timeoutMs === undefined ? undefined : setTimeout(() => expire(request, current), timeoutMs);
  exchange.onAbort(() => current.destroy());
  await promise.finally(() => clearTimeout(timer));
}

/** Answers with 504 and a text, as upstream does, and gives up the request to the other server. */
function expire(request: ForwardedRequest, sent: ClientRequest): void {
  answerText(request, 504, `${JSON.stringify(TIMED_OUT)}\n`);
  sent.destroy();
}

/** Answers with 503 for a server that does not answer, unless an answer has begun. */
export const unreachable = (request: ForwardedRequest, error: Error): void =>
  answerText(request, 503, `error trying to reach service: ${describeError(error, false)}\n`);

/** Answers with a text, unless an answer has begun. */
function answerText({ exchange, auditId }: ForwardedRequest, status: number, body: string): void {
  if (!exchange.aborted && exchange.status === undefined) text(exchange, status, body, [['audit-id', auditId]]);
}

/** Sends the answer of the other server to the client. */
export async function answerWith(request: ForwardedRequest, answer: IncomingMessage): Promise<void> {
  const { exchange, auditId, refusesRedirects } = request;
  const { statusCode: status = 0 } = answer;
  if (refusesRedirects && status >= 300 && status < 400)
    answerText(request, 502, 'the backend attempted to redirect this request, which is not permitted');
  if (exchange.aborted || exchange.status !== undefined) return void answer.destroy();
  const headers = answerHeaders(answer.rawHeaders, auditId);
  if (WITHOUT_BODY.has(status)) {
    answer.resume();
    return exchange.respond(status, headers, []);
  }
  const length = answer.headers['content-length'];
  const type = answer.headers['content-type'] ?? '';
  const isJsonWatch = request.isWatch && type.startsWith('application/json') && !answer.headers['content-encoding'];
  const stream = exchange.stream(status, headers, {
    ...(length === undefined ? {} : { length: Number(length) }),
    ...(isJsonWatch ? { ahead: SPACE } : {}),
  });
  const drained = drainOf(exchange, stream);
  try {
    for await (const part of answer as AsyncIterable<Buffer>) {
      if (exchange.aborted) return;
      if (stream.write(part) >= LIST_SLICE_BYTES) await drained();
    }
    stream.end();
  } catch {
    stream.abort();
  }
}
