import { readJson } from '../../model/text/jsonText.js';
import type { Json } from '../../model/object.js';
import { isRecord, stringAt, type UnknownRecord } from '../../model/record.js';
import { jsonSyntaxError } from '../../schema/json/jsonSyntax.js';
import { valueMismatch } from '../../schema/patch/mismatch.js';
import { decodeYaml } from '../../schema/yaml/yaml.js';
import { CallFailed, type HttpAnswer } from './client.js';

/** Messages of upstream's client for answers that are errors, by code. */
const ERRORS: ReadonlyMap<number, string> = new Map([
  [400, 'the server rejected our request for an unknown reason'],
  [401, 'the server has asked for the client to provide credentials'],
  [404, 'the server could not find the requested resource'],
  [405, 'the server does not allow this method on the requested resource'],
  [409, 'the server reported a conflict'],
  [422, 'the server rejected our request due to an error in our request'],
  [429, 'the server has received too many requests and has asked us to try again later'],
  [503, 'the server is currently unable to handle the request'],
  [504, 'the server was unable to return a response in the time allotted, but may still be processing the request'],
]);

const NOT_ACCEPTABLE = 'the server was unable to respond with a content type that the client supports';

/** Upstream's limit of the bytes that it repeats from an error answer. */
const SHOWN_CHARACTERS = 2048;

/** Upstream's text for an error answer: the message of a Status, or one for the code. */
export function errorOf(answer: HttpAnswer): string {
  const { status, text, isPlainText } = answer;
  const body = parseAnswer(answer);
  const isFailure = isRecord(body) && body['kind'] === 'Status' && body['status'] === 'Failure';
  if (isFailure && stringAt(body, 'message')) return stringAt(body, 'message');
  const known = ERRORS.get(status);
  if (known) return known;
  const shown = (isPlainText && text.slice(0, SHOWN_CHARACTERS).trim()) || 'unknown';
  if (status === 403 || status === 415) return shown;
  if (status === 406) return shown === 'unknown' ? NOT_ACCEPTABLE : shown;
  if (status >= 500)
    return `an error on the server (${JSON.stringify(shown)}) has prevented the request from succeeding`;
  return `the server responded with the status code ${status} but did not return more information`;
}

const TYPE_META =
  'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }';

/**
 * The object in an answer; null counts as an empty object. As in upstream, an answer that does not begin like a JSON
 * object is parsed as YAML. Throws CallFailed with upstream's text for anything else.
 */
export function readAnswer(answer: HttpAnswer): UnknownRecord {
  const { status, text, contentType } = answer;
  if (text === '')
    throw new CallFailed(`0-length response with status code: ${status} and content type: ${contentType}`);
  const body = /^\s*\{/.test(text) ? parseAnswer(answer) : parseYaml(text);
  if (isRecord(body)) return body;
  if (body === null) return {};
  const why = body === undefined ? jsonSyntaxError(Buffer.from(text)) : valueMismatch(body as Json, TYPE_META);
  throw new CallFailed(`couldn't get version/kind; json parse error: ${why}`);
}

/** The JSON of an answer; undefined for anything else. */
function parseAnswer({ text }: Pick<HttpAnswer, 'text'>): unknown {
  try {
    return readJson(text);
  } catch {
    return undefined;
  }
}

function parseYaml(text: string): unknown {
  try {
    return decodeYaml(Buffer.from(text));
  } catch (error) {
    throw new CallFailed((error as Error).message);
  }
}
