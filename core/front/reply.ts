import type { Exchange } from '../api/listener.js';
import type { Log } from '../api/host.js';
import { Refusal } from '../model/refusal.js';

/** A header list. */
export type Headers = readonly (readonly [string, string])[];

export const JSON_TYPE = ['content-type', 'application/json'] as const;
const NO_CACHE = ['cache-control', 'no-cache, private'] as const;

/** Headers of every JSON answer. */
export const JSON_HEADERS: Headers = [JSON_TYPE, NO_CACHE];

/** Sends a refusal as its Status, or as YAML-free JSON where the client asked for something else: errors are always JSON here. */
export function refuse(exchange: Exchange, refusal: Refusal, headers: Headers = []): void {
  if (exchange.aborted) return;
  const retry = refusal.details?.retryAfterSeconds;
  const all = [...JSON_HEADERS, ...(retry ? [['retry-after', String(retry)] as const] : []), ...headers];
  exchange.respond(refusal.code, all, Buffer.from(`${JSON.stringify(refusal.toStatus())}\n`));
}

/** Anything thrown: a Refusal goes to the client as it is, all else is a bug, logged with its stack and answered with 500. */
export function refuseThrown(exchange: Exchange, thrown: unknown, log: Log): void {
  if (thrown instanceof Refusal) {
    refuse(exchange, thrown);
    return;
  }
  if (exchange.aborted) return;
  log.error(
    { stack: (thrown as Error)?.stack ?? String(thrown), method: exchange.method, path: exchange.path },
    'a request failed unexpectedly',
  );
  refuse(
    exchange,
    new Refusal('InternalError', 'Internal error occurred: the request could not be completed; see the log of the server', {
      causes: [{ message: 'unexpected failure' }],
    }),
  );
}

/** Text answer, as upstream gives outside the API. */
export function text(exchange: Exchange, status: number, body: string, headers: Headers = []): void {
  exchange.respond(
    status,
    [['content-type', 'text/plain; charset=utf-8'], ['x-content-type-options', 'nosniff'], ...headers],
    Buffer.from(body),
  );
}
