import * as https from 'node:https';
import type { IncomingHttpHeaders } from 'node:http';
import { namingOf } from '../../naming.js';
import { clearTimeout, setTimeout } from '../../runtime/timers.js';
import { withResolvers } from '../../runtime/withResolvers.js';
import { type Endpoint, tlsOptionsOf } from '../webhooks/connections.js';
import { describeError } from '../webhooks/connectionErrors.js';

/** A request of the aggregation layer itself, which no client has sent. */
export interface AggregatorRequest {
  /** Its URL includes the path. */
  readonly endpoint: Endpoint;
  /** Names in lower case. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Milliseconds in which the answer must be complete. */
  readonly timeoutMs: number;
  /** Maximum size of the answer's body. 0: the body is not read. */
  readonly maxBytes: number;
}

/** The answer of a server to the aggregation layer. */
export interface AggregatorAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** The user as which the aggregation layer sends requests, with upstream's name. It may read everything. */
const IDENTITY = {
  'x-remote-user': `system:${namingOf('kubernetes').component('orchestrator-aggregator')}`,
  'x-remote-group': 'system:masters',
};

/**
 * Gets a document of another server, as the user of the aggregation layer, over a connection of its own. Redirects are
 * not followed. Rejects with an Error in Go's words if there is no answer in time, or if it is too large.
 */
export async function getAsAggregator(request: AggregatorRequest): Promise<AggregatorAnswer> {
  const { endpoint, headers, timeoutMs, maxBytes } = request;
  const { promise, resolve, reject } = withResolvers<AggregatorAnswer>();
  const fail = (why: string): void => reject(new Error(`Get ${JSON.stringify(endpoint.url)}: ${why}`));
  let hasBegun = false;
  const sent = https.request(
    endpoint.url,
    {
      agent: false,
      headers: { 'user-agent': 'Go-http-client/1.1', ...IDENTITY, ...headers },
      ...tlsOptionsOf(endpoint),
    },
    answer => {
      hasBegun = true;
      const { statusCode: status = 0, headers } = answer;
      const parts: Buffer[] = [];
      let size = 0;
      const done = (): void => resolve({ status, headers, body: Buffer.concat(parts) });
      if (maxBytes === 0) {
        done();
        sent.destroy();
        return;
      }
      answer.on('data', (part: Buffer) => {
        size += part.length;
        if (size <= maxBytes) return void parts.push(part);
        fail(`the response is larger than ${maxBytes} bytes`);
        sent.destroy();
      });
      answer.on('end', done);
      answer.on('error', error => fail(describeError(error, true)));
    },
  );
  sent.on('error', error => fail(describeError(error, hasBegun)));
  const timer = setTimeout(() => {
    fail('net/http: request canceled (Client.Timeout exceeded while awaiting headers)');
    sent.destroy();
  }, timeoutMs);
  sent.end();
  return await promise.finally(() => clearTimeout(timer));
}
