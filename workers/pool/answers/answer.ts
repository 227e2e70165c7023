import type { Transaction } from '../../../core/api/storage.js';
import type { Charges } from '../../../core/threads/messages/messages.js';
import { isPretty, encodeRefusal } from '../../../core/request/forms.js';
import { warningHeaders } from '../../../core/request/warnings.js';
import type { Refusal } from '../../../core/model/refusal.js';
import type { Serving } from '../../../core/request/negotiate.js';
import type { Job } from '../../../core/threads/messages/messages.js';

/** Headers of an answer. */
export type Headers = readonly (readonly [string, string])[];

/**
 * The answer to a write. With `operations` it is sent once they are committed; without a body it then shows the
 * committed object. `gaps`: the positions in the body where the digits of the revision are inserted; `envelope`: they
 * are inserted into the metadata of a protobuf message.
 */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body?: Uint8Array;
  readonly gaps?: readonly number[] | 'envelope';
  readonly operations?: Transaction;
  /** The charges for the operations. */
  readonly charges?: Charges | undefined;
  /** The request runs again for a second write once the operations are committed. */
  readonly more?: boolean;
  /** The key that a dry run would have written. */
  readonly key?: string;
}

const NO_CACHE = ['cache-control', 'no-cache, private'] as const;

/** The media type of answers that are always JSON. */
const JSON_TYPE = 'application/json';
/** One list for all answers without warnings: it is cloned once for the answers of a batch. */
const JSON_HEADERS: Headers = [['content-type', JSON_TYPE], NO_CACHE];

/** Headers of an answer of a media type, with the warnings collected. */
export function headersOf(contentType: string, warnings: readonly string[] = []): Headers {
  if (contentType === JSON_TYPE && warnings.length === 0) return JSON_HEADERS;
  return [['content-type', contentType], NO_CACHE, ...warningHeaders(warnings)];
}

/** A refusal as a Status, in a media type that the client accepts, with the warnings collected before it. */
export function statusAnswer(
  refusal: Refusal,
  { accept, query, userAgent }: Pick<Job, 'accept' | 'query' | 'userAgent'>,
  serving: Serving,
  warnings: readonly string[] = [],
): { status: number; headers: Headers; body: Uint8Array } {
  const retry = refusal.details?.retryAfterSeconds;
  const { contentType, bytes } = encodeRefusal(refusal, accept, serving, isPretty(query, userAgent));
  return {
    status: refusal.code,
    headers: [
      ['content-type', contentType],
      NO_CACHE,
      ...(retry ? [['retry-after', String(retry)] as const] : []),
      ...warningHeaders(warnings),
    ],
    body: bytes,
  };
}
