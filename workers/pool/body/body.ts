import type { Json } from '../../../core/model/object.js';
import { badRequest, Refusal } from '../../../core/model/refusal.js';
import { readJson } from '../../../core/model/text/jsonText.js';
import { neutralMediaType } from '../../../core/naming.js';
import { parseStrict } from '../../../core/schema/decode/decode.js';
import { CBOR_TYPE } from '../../../core/schema/cbor/cbor.js';
import { decodeCbor } from '../../../core/schema/cbor/cborDecode.js';
import type { Struct } from '../../../core/schema/model.js';
import { decodeEnvelope, decodeMessage } from '../../../core/schema/protobuf/protobuf.js';
import { findStrictErrors } from '../../../core/schema/decode/strict.js';
import { typeOf } from '../../../core/schema/table/types.js';
import { UnreadableBody } from '../../../core/schema/decode/unreadable.js';
import { decodeYamlStrict } from '../../../core/schema/yaml/yaml.js';
import { writtenNumbers, writtenNumbersOfPatch } from '../../../core/schema/json/writtenNumbers.js';
import { isWellFormed, mediaTypeOf } from './contentType.js';
import type { Context } from '../context.js';
import type { WriteOptions } from './options.js';
import type { AuthorizedRequest } from '../types.js';
import { PROTOBUF_TYPE } from '../../../core/request/negotiate.js';

const STRATEGIC = 'application/strategic-merge-patch+json';
const isYaml = (mediaType: string): boolean => mediaType === 'application/yaml';

/** Throws 415 for a Content-Type that names no format in which the object of a create or update can be sent. */
export function checkMediaType({ naming, cbor }: Context, { job, resource }: AuthorizedRequest): void {
  if (isWellFormed(job.contentType)) {
    const mediaType = mediaTypeOf(job.contentType);
    if (!mediaType || mediaType === 'application/json' || isYaml(mediaType)) return;
    if (neutralMediaType(mediaType) === PROTOBUF_TYPE && resource.builtIn) return;
    if (cbor && mediaType === CBOR_TYPE) return;
  }
  const known = ['application/json', 'application/yaml', PROTOBUF_TYPE, ...(cbor ? [CBOR_TYPE] : [])];
  const accepted = known.map(naming.mediaType).join(', ');
  throw new Refusal(
    'UnsupportedMediaType',
    `the body of the request was in an unknown format - accepted media types include: ${accepted}`,
  );
}

/**
 * Parses the body in the format that its Content-Type names. Errors for duplicate members are added to
 * `request.duplicates`. Throws 400 and 415.
 */
export function parseBody(context: Context, request: AuthorizedRequest, options: WriteOptions): Json {
  const { job, resource } = request;
  const body = job.body!;
  const mediaType = mediaTypeOf(job.contentType);
  const isPatch = job.method === 'PATCH' && mediaType.endsWith('-patch+json');
  if (!isPatch) checkMediaType(context, request);
  if (neutralMediaType(mediaType) === PROTOBUF_TYPE && resource.builtIn) return parseProtobuf(request, body);
  if (mediaType === CBOR_TYPE) return decodeCbor(body);
  const yaml = isYaml(mediaType);
  const { value, duplicates, unusualNumbers } = yaml ? decodeYamlStrict(body) : parseStrict(body);
  // Duplicates are reported together with unknown fields, which the decoder finds.
  if (options.fieldValidation !== 'Ignore') request.duplicates.push(...duplicates);
  return unusualNumbers && !yaml && resource.builtIn && mediaType !== STRATEGIC ? parseWritten(request, value) : value;
}

/** A body in JSON with exact numbers. Sets `request.numberMismatch`. */
function parseWritten(request: AuthorizedRequest, parsed: Json): Json {
  const { buffer, byteOffset, byteLength } = request.job.body!;
  const text = Buffer.from(buffer, byteOffset, byteLength).toString('utf8');
  const isJsonPatch = Array.isArray(parsed) && request.job.method === 'PATCH';
  const type = bodyType(request);
  const written = isJsonPatch ? writtenNumbersOfPatch(text, parsed, type) : writtenNumbers(text, type);
  request.numberMismatch = written.mismatch;
  return readJson(written.text);
}

/** The type of the object in the body, or of the object that it patches. */
function bodyType({ route, resource, target }: AuthorizedRequest): Struct {
  const deletes = target.verb === 'delete' || target.verb === 'deletecollection';
  return deletes ? typeOf('meta.v1.DeleteOptions') : (route.subresource?.type ?? resource.type);
}

/** A body in the protobuf envelope (spec, "Protobuf wrapper"), as the JSON value that it stands for. */
function parseProtobuf(request: AuthorizedRequest, body: Uint8Array): Json {
  const { apiVersion, kind, raw } = decodeEnvelope(body);
  return { kind, apiVersion, ...(decodeMessage(bodyType(request), raw).value as { [key: string]: Json }) };
}

/** Refuses a body, or adds warnings, for strict errors in its fields, as `level` says (spec, "Field validation"). */
export function reportStrictErrors(
  level: WriteOptions['fieldValidation'],
  strictErrors: readonly string[],
  warnings: string[],
  refusal: (strictErrors: string) => Refusal,
): void {
  if (strictErrors.length === 0 || level === 'Ignore') return;
  if (level === 'Strict') throw refusal(strictText(strictErrors));
  warnings.push(...strictErrors);
}

const YAML_DUPLICATE = /^line \d+: key .* already set in map$/s;

/** Strict errors as a refusal names them: duplicate keys of a text in YAML are one error with several lines. */
function strictText(strictErrors: readonly string[]): string {
  const duplicates = strictErrors.filter(text => YAML_DUPLICATE.test(text));
  const others = strictErrors.filter(text => !YAML_DUPLICATE.test(text));
  const lines = ['yaml: unmarshal errors:', ...duplicates].join('\n  ');
  return [...(duplicates.length > 0 ? [lines] : []), ...others].join(', ');
}

/**
 * All strict errors of a body of the type. For JSON they are in the order of the members, for other formats
 * duplicates first.
 */
export function orderStrictErrors(
  { job }: AuthorizedRequest,
  type: Struct,
  duplicates: readonly string[],
  unknown: readonly string[],
): readonly string[] {
  if (duplicates.length === 0) return unknown;
  const isJson = ['', 'application/json'].includes(mediaTypeOf(job.contentType));
  if (!isJson || !job.body) return [...duplicates, ...unknown];
  const { buffer, byteOffset, byteLength } = job.body;
  return findStrictErrors(Buffer.from(buffer, byteOffset, byteLength).toString('utf8'), type);
}

/** The refusal of fields that are unknown or given twice. `given`: the version of the body if it is another one. */
export function strictRefusal({ route, resource }: AuthorizedRequest, strictErrors: string, given?: string): Refusal {
  const { kind, version: own } = route.subresource?.type ? route.subresource : resource;
  const version = given ?? own;
  const what = `${kind} in version ${JSON.stringify(version)} cannot be handled as a ${kind}`;
  return badRequest(`${what}: strict decoding error: ${strictErrors}`);
}

/** Bytes of a body that a refusal shows. */
const SHOWN_BYTES = 30;

/** The beginning of a body: as text where that looks like an object, else in hexadecimal. */
function summarize(body: Uint8Array): string {
  if (body.length === 0) return '<empty>';
  const start = Buffer.from(body.subarray(0, SHOWN_BYTES));
  return start.toString(start[0] === 0x7b ? 'utf8' : 'hex') + (body.length > SHOWN_BYTES ? ' ...' : '');
}

/**
 * Returns what `read` returns for the body. Throws 400 for a body that is not an object at all: the message names the
 * kind that was expected and shows how the body begins.
 */
export function explainUnreadable<T>({ resource, route, job }: AuthorizedRequest, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    if (!(cause instanceof UnreadableBody)) throw cause;
    const kind = route.subresource?.kind ?? resource.kind;
    throw badRequest(
      `the object provided is unrecognized (must be of type ${kind}): ${cause.message} (${summarize(job.body!)})`,
    );
  }
}
