import * as http from 'node:http';
import type { IncomingMessage } from 'node:http';
import * as https from 'node:https';
import type { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { currentRequest } from '../../plugin/calls/requestScope.js';
import { monotonicTime } from '../../runtime/clock.js';
import { clearTimeout, delay, setTimeout } from '../../runtime/timers.js';
import { withResolvers } from '../../runtime/withResolvers.js';
import { WEBHOOK_RESPONSE_BYTES, WEBHOOK_RETRIES } from '../../limits.js';
import { ConnectionAgents, type Credentials, type Endpoint, isHttp } from './connections.js';
import { describeError } from './connectionErrors.js';

/** An answer of a webhook. */
export interface HttpAnswer {
  readonly status: number;
  readonly text: string;
  /** The content type of the answer; JSON if it has none. */
  readonly contentType: string;
  /** Whether the content type is plain text, or absent. */
  readonly isPlainText: boolean;
}

/** Thrown by `post` if there is no answer. The message is upstream's, if upstream has one. */
export class CallFailed extends Error {}

/** Options of a call. */
export interface CallOptions {
  /**
   * Whether the call may be sent twice, because the webhook only answers it. Absent: the webhook may act on it, and it
   * is sent once.
   */
  readonly isRepeatable?: boolean;
}

/** A message to a webhook, with headers besides those of every call. */
interface Message extends CallOptions {
  readonly body: string;
  readonly headers: http.OutgoingHttpHeaders;
}

/** An answer, and the seconds after which the webhook asks to be called again, if it does. */
interface Received extends HttpAnswer {
  readonly retryAfter: number | undefined;
}

/**
 * The timeout of a call for the current request, in milliseconds: at most the remaining time for which the request's
 * client waits.
 */
export function withinRequest(timeoutMs: number): number {
  const endsAt = currentRequest()?.endsAt ?? Number.POSITIVE_INFINITY;
  return Math.min(timeoutMs, Math.max(endsAt - monotonicTime(), 0));
}

/**
 * Calls webhooks over HTTPS, or over HTTP if the URL says so. Connections are kept and reused. Redirects are not
 * followed.
 */
export class WebhookClient {
  readonly #agents: ConnectionAgents;

  /**
   * `maxSockets`: the maximum number of connections to one webhook; further calls wait for one. `userAgent`: the value
   * of that header; absent: none is sent.
   */
  constructor(
    maxSockets = Number.POSITIVE_INFINITY,
    readonly userAgent?: string,
  ) {
    this.#agents = new ConnectionAgents(maxSockets);
  }

  /**
   * Posts JSON and resolves with the answer. Like upstream's client, calls again if a webhook is busy (429 or 5xx) and
   * says when to retry. Throws CallFailed if there is no answer within `timeoutMs`, or if it is larger than
   * WEBHOOK_RESPONSE_BYTES. The webhook gets the trace of the current request.
   */
  async post(endpoint: Endpoint, body: string, timeoutMs: number, options: CallOptions = {}): Promise<HttpAnswer> {
    const end = monotonicTime() + timeoutMs;
    const sent = { ...options, body, headers: { ...currentRequest()?.trace } };
    for (let retries = 0; ; retries++) {
      const answer = await this.#postOnce(endpoint, sent, end);
      const wait = (answer.retryAfter ?? 0) * 1000;
      if (answer.retryAfter === undefined || retries === WEBHOOK_RETRIES) return answer;
      const remaining = end - monotonicTime();
      await delay(Math.min(wait, Math.max(remaining, 0)));
      if (wait >= remaining) throw new CallFailed(`${shownCall(endpoint)}: context deadline exceeded`);
    }
  }

  /**
   * Posts once. If the webhook has closed a reused connection, a repeatable call is made again on another one; other
   * calls are not, because the webhook may have closed the connection before it got the call, or because of it.
   */
  async #postOnce(endpoint: Endpoint, message: Message, end: number): Promise<Received> {
    const { promise, resolve, reject } = withResolvers<Received>();
    let hasBegun = false;
    const fail = (why: string): void =>
      reject(new CallFailed(hasBegun ? UNREADABLE_BODY + why : `${shownCall(endpoint)}: ${why}`));
    const sent = this.#begin(endpoint, message, answer => {
      hasBegun = true;
      const content = contentOf(answer);
      const chunks: Buffer[] = [];
      let size = 0;
      content.on('data', (chunk: Buffer) => {
        size += chunk.length;
        if (size <= WEBHOOK_RESPONSE_BYTES) return void chunks.push(chunk);
        fail(`the response is larger than ${WEBHOOK_RESPONSE_BYTES} bytes`);
        sent.destroy();
      });
      content.on('end', () => resolve(receivedOf(answer, Buffer.concat(chunks).toString('utf8'))));
      for (const stream of new Set([content, answer])) stream.on('error', error => fail(describeError(error, true)));
    });
    const timer = setTimeout(() => {
      fail('context deadline exceeded');
      sent.destroy();
    }, end - monotonicTime());
    sent.on('error', (error: NodeJS.ErrnoException) => {
      const wasKept = sent.reusedSocket && !hasBegun && CLOSED.has(error.code);
      if (message.isRepeatable && wasKept && monotonicTime() < end) resolve(this.#postOnce(endpoint, message, end));
      else fail(describeError(error, hasBegun));
    });
    sent.end(message.body);
    return await promise.finally(() => clearTimeout(timer));
  }

  /**
   * Begins a call. Throws CallFailed for credentials that cannot be used, such as a key that does not belong to its
   * certificate.
   */
  #begin(endpoint: Endpoint, message: Message, answered: (answer: IncomingMessage) => void): http.ClientRequest {
    const headers = {
      'content-type': 'application/json',
      accept: 'application/json, */*',
      'accept-encoding': 'gzip',
      'content-length': Buffer.byteLength(message.body),
      ...(this.userAgent === undefined ? {} : { 'user-agent': this.userAgent }),
      ...message.headers,
      ...authorizationOf(endpoint.credentials),
    };
    try {
      const { request } = isHttp(endpoint) ? http : https;
      return request(endpoint.url, { method: 'POST', agent: this.#agents.of(endpoint), headers }, answered);
    } catch (error) {
      throw new CallFailed(`${shownCall(endpoint)}: ${(error as Error).message}`);
    }
  }

  /** Closes all connections. */
  close(): void {
    this.#agents.close();
  }
}

/** The codes of errors of a connection that the other side has closed. */
const CLOSED: ReadonlySet<string | undefined> = new Set(['ECONNRESET', 'EPIPE']);

const UNREADABLE_BODY = 'unexpected error when reading response body. Please retry. Original error: ';

const shownCall = ({ url }: Endpoint): string => `Post ${JSON.stringify(url)}`;

/** The body of an answer, decompressed. */
const contentOf = (answer: IncomingMessage): Readable =>
  answer.headers['content-encoding'] === 'gzip' ? answer.pipe(createGunzip()) : answer;

function receivedOf({ statusCode: status = 0, headers }: IncomingMessage, text: string): Received {
  const type = headers['content-type'];
  const seconds = headers['retry-after'] ?? '';
  const isBusy = (status === 429 || status >= 500) && /^\d+$/.test(seconds);
  return {
    status,
    text,
    contentType: type ?? 'application/json',
    isPlainText: type === undefined || type.startsWith('text/'),
    retryAfter: isBusy ? Number(seconds) : undefined,
  };
}

function authorizationOf({ token, username, password }: Credentials = {}): { authorization?: string } {
  if (token) return { authorization: `Bearer ${token}` };
  if (!username) return {};
  return { authorization: `Basic ${Buffer.from(`${username}:${password ?? ''}`).toString('base64')}` };
}
