import { Refusal } from '../../core/model/refusal.js';
import type { Headers } from './common.js';

/** A method is a token (RFC 9110, 9.1). */
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const DIGITS = /^\d+$/;

/**
 * Why a request must not be served because of its line or headers, as a message for the client; undefined if it may.
 * Most of these faults make it ambiguous where the request ends, so that a proxy could forward a second, hidden request
 * (request smuggling: RFC 9112, 6.3 and 11.2).
 */
export function framingFault(method: string, headers: Headers, httpVersion: '1.0' | '1.1'): string | undefined {
  let hosts = 0;
  let length: string | undefined;
  let chunked = false;
  for (const [name, value] of headers) {
    if (name === 'host') hosts++;
    else if (name === 'content-length') {
      if (!DIGITS.test(value)) return 'Content-Length: must be a decimal number';
      if (length !== undefined && length !== value) return 'Content-Length: sent twice with different values';
      length = value;
    } else if (name === 'transfer-encoding') {
      if (chunked || value.toLowerCase() !== 'chunked') return 'Transfer-Encoding: only chunked is supported, once';
      chunked = true;
    }
  }
  if (hosts > 1 || (hosts === 0 && httpVersion === '1.1')) return 'Host: must be sent once';
  if (chunked && length !== undefined) return 'Content-Length and Transfer-Encoding must not be sent together';
  return TOKEN.test(method) ? undefined : 'the method is not a token';
}

/** Headers of the 400 for a request with a framing fault. The connection is closed after it. */
export const FRAMING_HEADERS: Headers = [['content-type', 'application/json']];

/** Body of the 400: a Status with `fault` as its message. */
export const framingRefusal = (fault: string): Buffer =>
  Buffer.from(JSON.stringify(new Refusal('BadRequest', fault).toStatus()));
