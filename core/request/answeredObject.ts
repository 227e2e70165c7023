import { readJson } from '../model/text/jsonText.js';
import type { ApiObject } from '../model/object.js';
import { type Reason, Refusal, type StatusBody } from '../model/refusal.js';

const OPENING = '{'.charCodeAt(0);

/** The refusal that a Status represents. */
export function refusalOf(status: ApiObject, code: number): Refusal {
  const { reason = '', message = `status ${code}`, details } = status as unknown as StatusBody;
  return new Refusal(reason as Reason, message, details, code);
}

/** The object of an answer. Throws the Refusal that it represents for a status of 300 or above. */
export function answeredObject(status: number, body: Uint8Array): ApiObject {
  // For kinds that are no longer served, the answer is plain text.
  if (status >= 300 && body[0] !== OPENING) throw new Refusal('NotFound', 'no such path', {}, status);
  const object = body.length > 0 ? (readJson(body) as unknown as ApiObject) : ({} as ApiObject);
  if (status >= 300) throw refusalOf(object, status);
  return object;
}
