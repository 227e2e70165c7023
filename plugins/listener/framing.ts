import { Refusal } from '../../core/model/refusal.js';
import type { Headers } from './common.js';

/** A method is a token (RFC 9110, 9.1). */
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const DIGITS = /^\d+$/;

/**
 * What is wrong with a request's line or headers such that it must not be served: most of it leaves open where the
 * request ends, and a proxy that reads it otherwise could be made to smuggle another one past itself (RFC 9112, 6.3 and
 * 11.2). In words for the client; undefined if nothing is wrong.
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

/** Headers of the answer, 400, that a request with a framing fault gets before its connection is closed. */
export const FRAMING_HEADERS: Headers = [['content-type', 'application/json']];

/** Body of that answer: a Status with `fault` as its message. */
export const framingRefusal = (fault: string): Buffer =>
  Buffer.from(JSON.stringify(new Refusal('BadRequest', fault).toStatus()));
