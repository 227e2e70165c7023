import { CREDENTIALS_BYTES, HEADER_VALUE_BYTES } from '../../core/limits.js';
import { Refusal } from '../../core/model/refusal.js';
import type { Headers } from './common.js';

/** A method is a token (RFC 9110, 9.1). */
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const DIGITS = /^\d+$/;

/** Headers that hold credentials, which may be longer than others. */
const CREDENTIALS = new Set(['authorization', 'sec-websocket-protocol']);

/**
 * The refusal of a request with a header value that is too long, before anything reads it; undefined if there is none.
 * `encoding`: how the listener has decoded the bytes of the values.
 */
export function sizeRefusal(headers: Headers, encoding: 'latin1' | 'utf8'): Refusal | undefined {
  for (const [name, value] of headers) {
    const limit = CREDENTIALS.has(name) ? CREDENTIALS_BYTES : HEADER_VALUE_BYTES;
    // A character of the decoded text is one to three bytes.
    if (value.length > limit || (value.length > limit / 3 && Buffer.byteLength(value, encoding) > limit))
      return new Refusal('RequestHeaderFieldsTooLarge', `a value of ${name} must be at most ${limit} bytes`);
  }
  return undefined;
}

/**
 * The refusal of a request that must not be served because of its line or headers; undefined if it may be. `fault`:
 * another reason of the listener to refuse it, as a message for the client.
 */
export function headRefusal(
  method: string,
  headers: Headers,
  { httpVersion, encoding }: { readonly httpVersion: '1.0' | '1.1'; readonly encoding: 'latin1' | 'utf8' },
  fault?: string,
): Refusal | undefined {
  const tooLong = sizeRefusal(headers, encoding);
  if (tooLong) return tooLong;
  const found = framingFault(method, headers, httpVersion) ?? fault;
  return found === undefined ? undefined : new Refusal('BadRequest', found);
}

/**
 * Returns why a request must not be served because of its line or headers, as a message for the client; undefined if it
 * may. Most of these faults make it ambiguous where the request ends, so that a proxy could forward a second, hidden
 * request (request smuggling: RFC 9112, 6.3 and 11.2).
 */
function framingFault(method: string, headers: Headers, httpVersion: '1.0' | '1.1'): string | undefined {
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

/** Headers of the answer to a request whose head is refused. The connection is closed after it. */
export const REFUSAL_HEADERS: Headers = [['content-type', 'application/json']];

/** Body of that answer. */
export const refusalBody = (refusal: Refusal): Buffer => Buffer.from(JSON.stringify(refusal.toStatus()));
