import { readJson } from '../model/jsonText.js';
import { isRecord, stringAt } from '../model/record.js';
import type { HttpAnswer } from './client.js';

/** Messages of upstream's client for answers that are errors, by code. */
const ERRORS: ReadonlyMap<number, string> = new Map([
  [400, 'the server rejected our request for an unknown reason'],
  [401, 'the server has asked for the client to provide credentials'],
  [404, 'the server could not find the requested resource'],
  [405, 'the server does not allow this method on the requested resource'],
  [409, 'the server reported a conflict'],
  [415, 'the server was unable to respond with a content type that the client supports'],
  [422, 'the server rejected our request due to an error in our request'],
  [429, 'the server has received too many requests and has asked us to try again later'],
  [503, 'the server is currently unable to handle the request'],
  [504, 'the server was unable to return a response in the time allotted, but may still be processing the request'],
]);

/** Upstream's text for an answer that is an error: the message of a Status, or one for the code. */
export function errorOf(answer: HttpAnswer): string {
  const { status, text, isPlainText } = answer;
  const body = parseAnswer(answer);
  const isFailure = isRecord(body) && body['kind'] === 'Status' && body['status'] === 'Failure';
  if (isFailure && stringAt(body, 'message')) return stringAt(body, 'message');
  const known = ERRORS.get(status);
  if (known) return known;
  const shown = (isPlainText && text.trim()) || 'unknown';
  if (status === 403) return shown;
  if (status >= 500)
    return `an error on the server (${JSON.stringify(shown)}) has prevented the request from succeeding`;
  return `the server responded with the status code ${status} but did not return more information`;
}

/** Upstream's text for an answer that is no JSON. */
export const unreadableError = ({ status, text, contentType }: HttpAnswer): string =>
  text === ''
    ? `0-length response with status code: ${status} and content type: ${contentType}`
    : "couldn't get version/kind; json parse error: json: cannot unmarshal string into Go value of type struct " +
      '{ APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }';

/** The JSON of an answer; undefined for anything else. */
export function parseAnswer({ text }: Pick<HttpAnswer, 'text'>): unknown {
  try {
    return readJson(text);
  } catch {
    return undefined;
  }
}
