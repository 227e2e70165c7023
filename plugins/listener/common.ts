import { STATUS_CODES } from 'node:http';
import type { Exchange } from '../../core/api/listener.js';
import { DRAIN_MS, STALLED_READER_MS } from '../../core/limits.js';
import { Refusal } from '../../core/model/refusal.js';
import { clearTimeout, setTimeout } from '../../core/runtime/timers.js';

/** Unsent bytes of a stream below which its `onDrain` listeners are called. */
export const LOW_WATER = 64 * 1024;

/** Names and values of headers, as in `Exchange`. */
export type Headers = readonly (readonly [string, string])[];

const LINES = new Map(Object.entries(STATUS_CODES).map(([code, text]) => [Number(code), `${code} ${text}`]));

/** `200 OK`. */
export const statusLine = (status: number): string => LINES.get(status) ?? `${status} Status`;

/** Whether an answer with this status has no body and no length (RFC 9110, 6.4.1). */
export const bodiless = (status: number): boolean => status < 200 || status === 204 || status === 304;

/** Whether a request with these headers has a body (RFC 9112, 6.3). */
export const hasBody = (headers: Headers): boolean =>
  headers.some(([name, value]) => name === 'transfer-encoding' || (name === 'content-length' && Number(value) > 0));

/** Calls back if a client has not read any of its pending bytes for `STALLED_READER_MS`. */
export class StallTimer {
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly onStall: () => void) {}

  /** Call when the socket is full. */
  start(): void {
    this.timer ??= setTimeout(this.onStall, STALLED_READER_MS).unref();
  }

  /** Call when the socket has accepted bytes, or is closed. */
  stop(): void {
    if (this.timer === undefined) return;
    clearTimeout(this.timer);
    this.timer = undefined;
  }
}

/**
 * Waits until all exchanges have ended, at most for `DRAIN_MS`: clients that stall must not keep a server from closing.
 */
export async function waitForExchanges(exchanges: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>(resolve => {
    timer = setTimeout(resolve, DRAIN_MS);
  });
  await Promise.race([exchanges, late]);
  clearTimeout(timer);
}

const FAILED = Buffer.from(JSON.stringify(new Refusal('InternalError', 'Internal error occurred').toStatus()));

/** Calls the front end's handler. An error that it throws is a bug; the request is then answered with 500. */
export function runHandler<E extends Exchange>(
  exchange: E,
  handle: (exchange: Exchange) => void,
  failed: (error: unknown) => void,
): void {
  try {
    handle(exchange);
  } catch (error) {
    failed(error);
    try {
      exchange.respond(500, [['content-type', 'application/json']], FAILED);
    } catch {
      // An answer has already begun. The connection ends when the client or a timeout closes it.
    }
  }
}
