import type { Choice, Form } from '../../../core/request/negotiate.js';
import {
  chooseForm,
  eventForms,
  FORMS,
  chooseAnswerForm,
  isPretty,
  encodeJsonBody,
} from '../../../core/request/forms.js';
import type { Route } from '../../../core/request/route.js';
import { firstValue } from '../../../core/request/query.js';
import { readJson, writeJson } from '../../../core/model/text/jsonText.js';
import type { ApiObject, Json } from '../../../core/model/object.js';
import { unknownPath } from '../../../core/model/refusal.js';
import { decodeStored } from '../../../core/plugin/informers/stored.js';
import { randomInt } from '../../../core/runtime/random.js';
import type { Strategy } from '../../../core/api/strategy.js';
import { readRecord } from '../../../core/services/decisions/recordText.js';
import type { Struct } from '../../../core/schema/model.js';
import { cborDocument, cborEvent } from '../../../core/schema/cbor/cbor.js';
import { encodeCborRecords } from '../../../core/schema/cbor/cborEncode.js';
import { encodeCommon, encodeEnvelope, encodeMessage } from '../../../core/schema/protobuf/protobuf.js';
import { encodeRecords, recordType } from '../../../core/schema/protobuf/protobufList.js';
import { watchFrame } from '../../../core/schema/protobuf/protobufWatch.js';
import type { Resource } from '../../../core/schema/resource.js';
import { asListItem, metadataStart } from '../../../core/schema/json/storedText.js';
import { encodeYaml, encodeYamlItems } from '../../../core/schema/yaml/yamlText.js';
import {
  parseIncludeObject,
  partialObjectMetadata,
  partialObjectMetadataList,
  type TableInput,
  tableValue,
} from '../../../core/services/tables/index.js';
import { rowTexts } from '../../../core/services/tables/rowText.js';
import { scaleColumns } from '../../../core/services/tables/scale.js';
import type { Job, JobResult, Rendering } from '../../../core/threads/messages/messages.js';
import { type Answer, type Headers, headersOf } from './answer.js';
import type { Context } from '../context.js';
import { converterOf } from './conversion.js';
import { encodeItems, listFrame } from './listText.js';
import { isScale, scaleOf } from '../subresources/scale.js';
import type { AuthorizedRequest } from '../types.js';
import { encodeObject, toRequestVersion, toStrategyVersion } from './versions.js';

/** Subresources that can be shown as Tables. */
const TABLE_SUBRESOURCES = ['status', 'scale'];

/** The forms that an answer about an object of a route may have. */
export function formsOf({ resource, subresource }: Route): readonly Form[] {
  const hasTable = subresource ? TABLE_SUBRESOURCES.includes(subresource.name) : !resource?.strategy.review;
  return hasTable ? FORMS : FORMS.filter(form => form !== 'table');
}

/** The form of an answer; events of a stream are never indented. */
function chooseAnswer(context: Context, route: Route, job: Job, list: boolean, events?: Rendering['events']): Choice {
  const resource = route.resource!;
  if (events) return chooseForm(resource, job.accept, context, { forms: eventForms(events.listed), stream: true });
  const choice = chooseAnswerForm(resource, job.accept, context, list, formsOf(route));
  return choice.pretty || !isPretty(job.query, job.userAgent) ? choice : { ...choice, pretty: true };
}

/** The result of a rendering. */
type Rendered =
  | Pick<Extract<JobResult, { is: 'respond' }>, 'is' | 'status' | 'headers' | 'body' | 'rest'>
  | Pick<Extract<JobResult, { is: 'rendered' }>, 'is' | 'pieces'>;

/**
 * The stored forms of objects of a request's version. Cells are computed from them: conversions may change an order.
 */
const storedForms = new WeakMap<ApiObject, ApiObject>();

/** Answers a read whose form the front end does not hold, or encodes a part of its answer. Throws 406. */
export async function render(context: Context, job: Job, route: Route, rendering: Rendering): Promise<Rendered> {
  const { resource } = route;
  if (!resource) throw unknownPath();
  if (rendering.records) return { is: 'rendered', pieces: await renderRecords(context, resource, rendering) };
  const isList = rendering.list !== undefined || rendering.part === true;
  const choice = chooseAnswer(context, route, job, isList, rendering.events);
  if (rendering.part && choice.media === 'yaml' && choice.form === 'object' && isShownAsStored(resource)) {
    const start = metadataStart(resource);
    const text = encodeYamlItems(rendering.objects.map(object => asListItem(object, start)));
    return framePart(context, route, choice, text, rendering);
  }
  const { showRecord } = resource.strategy;
  const stored = showRecord ? await showRecords(context, showRecord, rendering) : rendering.objects.map(decodeStored);
  const objects = await toRequestVersion(context, resource, stored);
  for (const [i, object] of objects.entries()) storedForms.set(object, stored[i]!);
  if (rendering.events)
    return { is: 'rendered', pieces: renderEvents(context, route, choice, objects, rendering.events) };
  if (rendering.part) return renderPart(context, route, choice, objects, rendering);
  const headers = answerHeaders(resource, choice, rendering);
  const value = rendering.list
    ? listValue(context, route, choice, objects, rendering.list)
    : objectValue(context, route, choice, objects[0]!);
  const body = encodeValue(choice, value, rendering.list ? resource.listType : typeOf(route, resource));
  return { is: 'respond', status: rendering.status, headers, body };
}

/** The objects that show records. The object of a get is explained. */
function showRecords(
  { authorization }: Context,
  show: NonNullable<Strategy['showRecord']>,
  { objects, list }: Rendering,
): Promise<readonly ApiObject[]> {
  const explaining = list ? undefined : { explain: authorization.explain };
  return Promise.all(objects.map(async bytes => await show(readRecord(bytes), explaining)));
}

/** Encodes objects as records: from their texts where these are of the version of the request. */
async function renderRecords(
  context: Context,
  resource: Resource,
  { objects, records, packed }: Rendering,
): Promise<readonly Uint8Array[]> {
  if (records === 'row') return rowTexts(resource, objects);
  if (records === 'cbor') return encodeCborRecords(resource, objects);
  const type = recordType(resource, records!);
  if (resource.apiVersion === resource.storageApiVersion) return encodeRecords(type, objects, packed);
  const shown = await toRequestVersion(context, resource, objects.map(decodeStored));
  const texts = shown.map(object => Buffer.from(writeJson(object)));
  return encodeRecords(type, texts);
}

function answerHeaders(resource: Resource, choice: Choice, { warnings }: Rendering): Headers {
  return headersOf(choice.contentType, warnings ?? (resource.warning === undefined ? [] : [resource.warning]));
}

/** The member of a list, or of a Table, that has its parts. */
const memberOf = ({ form }: Choice): string => (form === 'table' ? 'rows' : 'items');

/** Whether the objects of a resource are shown as they are stored. */
const isShownAsStored = ({ builtIn, apiVersion, storageApiVersion }: Resource): boolean =>
  builtIn && apiVersion === storageApiVersion;

/** A part of a list in a form that is a text. */
function renderPart(
  context: Context,
  route: Route,
  choice: Choice,
  objects: readonly ApiObject[],
  rendering: Rendering,
): Rendered {
  const part = listValue(context, route, choice, objects, rendering.list ?? {}) as {
    [member: string]: readonly unknown[];
  };
  return framePart(context, route, choice, encodeItems(choice, part[memberOf(choice)]!), rendering);
}

/** The text of a part of a list. The first part has `list`, and is answered with the text around all parts. */
function framePart(context: Context, route: Route, choice: Choice, text: Uint8Array, rendering: Rendering): Rendered {
  const { list, status } = rendering;
  if (!list) return { is: 'rendered', pieces: [text] };
  const empty = { ...listValue(context, route, choice, [], list), [memberOf(choice)]: [] };
  const { head, between, tail } = listFrame(choice, empty, memberOf(choice));
  const headers = answerHeaders(route.resource!, choice, rendering);
  const body = Buffer.concat([head, text]);
  const { builtIn, strategy } = route.resource!;
  const mayFail = !builtIn && (strategy.convert ?? converterOf(context, route.resource!)) !== undefined;
  return { is: 'respond', status, headers, body, rest: { between, tail, mayFail } };
}

function renderEvents(
  context: Context,
  route: Route,
  choice: Choice,
  objects: readonly ApiObject[],
  options: NonNullable<Rendering['events']>,
): Uint8Array[] {
  return objects.map((object, i) => {
    const shown = objectValue(context, route, choice, object, options.header && i === 0);
    const type = options.types[i]!;
    if (choice.media === 'protobuf')
      return watchFrame(type, encodeValue(choice, shown, typeOf(route, route.resource!)));
    if (choice.media === 'cbor') return cborEvent(type, cborDocument(Buffer.from(writeJson(shown))));
    return Buffer.from(`${writeJson({ type, object: shown })}\n`);
  });
}

/** Type of the object that an answer holds. */
const typeOf = (route: Route, resource: Resource): Struct => route.subresource?.type ?? resource.type;

/** `struct` is the type of `value`; forms derived from it have types of their own. */
function encodeValue(choice: Choice, value: object, struct: Struct | undefined): Uint8Array {
  if (choice.media === 'yaml') return Buffer.from(encodeYaml(value));
  if (choice.media === 'json') return encodeJsonBody(value, choice.pretty === true);
  if (choice.media === 'cbor') return cborDocument(Buffer.from(writeJson(value)));
  const { kind, apiVersion } = value as ApiObject;
  const body =
    choice.form === 'object'
      ? struct && encodeEnvelope(apiVersion, kind, encodeMessage(struct, value as unknown as Json))
      : encodeCommon(value as ApiObject);
  if (!body) throw new Error(`${kind} has no protobuf form`);
  return body;
}

function objectValue(context: Context, route: Route, choice: Choice, object: ApiObject, withHeader = true): object {
  if (choice.form === 'table')
    return tableOf(context, route, choice, [object], { resourceVersion: object.metadata.resourceVersion }, withHeader);
  const isRead = route.target.is === 'resource' && route.target.verb === 'get';
  const shown = isScale(route) ? scaleOf(route.resource!, object, !isRead) : object;
  return choice.form === 'object' ? shown : partialObjectMetadata(shown, choice.version, context.naming);
}

function listValue(
  context: Context,
  route: Route,
  choice: Choice,
  objects: readonly ApiObject[],
  metadata: Partial<NonNullable<Rendering['list']>>,
): object {
  const resource = route.resource!;
  if (choice.form === 'partialList' || choice.form === 'partial')
    return partialObjectMetadataList(objects, metadata, choice.version, context.naming);
  if (choice.form === 'table') {
    const { compareRows } = resource.strategy;
    return tableOf(context, route, choice, compareRows ? objects.toSorted(compareRows) : objects, metadata, true);
  }
  const items = resource.builtIn ? objects.map(({ kind: _kind, apiVersion: _apiVersion, ...rest }) => rest) : objects;
  const shown = resource.builtIn ? metadata : { ...metadata, continue: metadata.continue ?? '' };
  return { kind: resource.listKind, apiVersion: resource.apiVersion, metadata: shown, items };
}

function tableOf(
  context: Context,
  route: Route,
  choice: Choice,
  objects: readonly ApiObject[],
  listMetadata: object,
  withHeader: boolean,
): object {
  const resource = route.resource!;
  return tableValue({
    ...tableInput(context, route, choice, listMetadata, withHeader),
    objects: isScale(route) ? objects.map(object => scaleOf(resource, object)) : objects,
  });
}

/** Returns the inputs of a Table, besides its objects. */
function tableInput(
  context: Context,
  route: Route,
  choice: Choice,
  listMetadata: object,
  withHeader: boolean,
): Omit<TableInput, 'objects'> {
  const resource: Resource = route.resource!;
  const scale = isScale(route);
  const { columns } = resource.strategy;
  return {
    // Columns of custom kinds are paths, which may exist in a scale as well.
    columns: scale && resource.builtIn ? scaleColumns(columns) : columns,
    conditions: scale ? undefined : resource.strategy.rowConditions,
    // Columns of custom kinds are those of the version.
    ...(scale || !resource.builtIn || !resource.strategy.convert
      ? {}
      : { cellSource: (object: ApiObject) => storedForms.get(object) ?? toStrategyVersion(resource, object) }),
    listMetadata,
    includeObject: parseIncludeObject(firstValue(route.query, 'includeObject')),
    now: context.now(),
    tableVersion: choice.version,
    withHeader,
    naming: context.naming,
  };
}

/**
 * The answer to a write, in the form that the client accepts. `commit`: the kind of transaction that the answer waits
 * for. Its revision is not known yet: the body has gaps for it. After a put there is no body where the committed bytes
 * themselves can be sent, as plain JSON of the stored version. The front end makes CBOR of either, once the revision is
 * in it. Throws 406.
 */
export function encodeAnswer(
  context: Context,
  request: AuthorizedRequest,
  object: ApiObject,
  status: number,
  commit: 'none' | 'put' | 'delete' = 'none',
): Answer {
  const { job, route, resource, warnings } = request;
  const choice = chooseAnswer(context, route, job, false);
  const headers = headersOf(choice.contentType, warnings);
  const { media, form, pretty } = choice;
  const isPlain = form === 'object' && (media === 'cbor' || (media === 'json' && !pretty)) && !isScale(route);
  if (commit === 'put' && isPlain && resource.apiVersion === resource.storageApiVersion) return { status, headers };
  const whole =
    commit === 'none' ? object : { ...object, metadata: { ...object.metadata, resourceVersion: UNKNOWN_REVISION } };
  // As a read shows it, with the members that are always present.
  const shown = readJson(encodeObject(answerKind(route, resource), whole)) as unknown as ApiObject;
  const value = objectValue(context, route, choice, shown);
  if (media === 'cbor' && commit !== 'none') return { status, headers, ...withGaps(Buffer.from(writeJson(value))) };
  const body = encodeValue(choice, value, typeOf(route, resource));
  if (commit === 'none') return { status, headers, body };
  return media === 'protobuf' ? { status, headers, body, gaps: 'envelope' } : { status, headers, ...withGaps(body) };
}

/** The kind of the object that an answer to a write shows: for a scale, which is made later, that of its resource. */
function answerKind(route: Route, resource: Resource): Resource {
  const { subresource } = route;
  const { type } = subresource ?? {};
  if (!type || isScale(route) || subresource!.kind === resource.kind) return resource;
  const { kind, group, version } = subresource!;
  return { ...resource, type, kind, version, apiVersion: group ? `${group}/${version}` : version };
}

/** Stands for the revision that a commit will have. Nothing that a client has written contains it. */
const UNKNOWN_REVISION = String(randomInt(10 ** 14, 2 ** 48 - 1));

/** Cuts the unknown revision out of a text. A Table holds it twice, for itself and for its row. */
function withGaps(body: Uint8Array): { body: Uint8Array; gaps: readonly number[] } {
  const parts = Buffer.from(body.buffer, body.byteOffset, body.length).toString('latin1').split(UNKNOWN_REVISION);
  let at = 0;
  const gaps = parts.slice(0, -1).map(part => (at += part.length));
  return { body: Buffer.from(parts.join(''), 'latin1'), gaps };
}
