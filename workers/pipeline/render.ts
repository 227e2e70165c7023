import { randomInt } from 'node:crypto';
import type { Choice, Form } from '../../core/request/negotiate.js';
import { chooseForm, FORMS, chooseAnswerForm, isPretty, encodeJsonBody } from '../../core/request/forms.js';
import type { Route } from '../../core/request/route.js';
import { firstValue } from '../../core/request/query.js';
import type { ApiObject, Json } from '../../core/model/object.js';
import { unknownPath } from '../../core/model/refusal.js';
import { decodeStored } from '../../core/plugin/stored.js';
import type { Struct } from '../../core/schema/model.js';
import { encodeCommon, encodeEnvelope, encodeMessage } from '../../core/schema/protobuf.js';
import { watchFrame } from '../../core/schema/protobufWatch.js';
import type { Resource } from '../../core/schema/resource.js';
import { encodeYaml } from '../../core/schema/yaml.js';
import {
  parseIncludeObject,
  partialObjectMetadata,
  partialObjectMetadataList,
  tableValue,
} from '../../core/tables/index.js';
import { scaleColumns } from '../../core/tables/scale.js';
import type { Job, Rendering } from '../../core/threads/messages.js';
import { type Answer, type Headers, jsonHeaders } from './answer.js';
import type { Context } from './context.js';
import { isScale, scaleOf } from './scale.js';
import type { AuthorizedRequest } from './stages.js';
import { encodeObject, toRequestVersion, toStorageVersion } from './versions.js';

/** Subresources that can be shown as Tables. */
const TABLE_SUBRESOURCES = ['status', 'scale'];

/** The forms that an answer about an object of a route may have. */
export function formsOf({ resource, subresource }: Route): readonly Form[] {
  const hasTable = subresource ? TABLE_SUBRESOURCES.includes(subresource.name) : !resource?.strategy.review;
  return hasTable ? FORMS : FORMS.filter(form => form !== 'table');
}

/** The form of an answer; events of a stream are never indented. */
function chooseAnswer({ naming }: Context, route: Route, job: Job, list: boolean, stream: boolean): Choice {
  const resource = route.resource!;
  const choice = stream
    ? chooseForm(resource, job.accept, naming, { forms: ['object', 'table', 'partial'], stream })
    : chooseAnswerForm(resource, job.accept, naming, list, formsOf(route));
  return stream || choice.pretty || !isPretty(job.query, job.userAgent) ? choice : { ...choice, pretty: true };
}

const headersFor = (choice: Choice, warnings: readonly string[] = []): Headers => [
  ['content-type', choice.contentType],
  ...jsonHeaders(warnings).slice(1),
];

/** Answers a read whose form the front end does not hold. Throws 406. */
export async function render(
  context: Context,
  job: Job,
  route: Route,
  rendering: Rendering,
): Promise<
  { is: 'respond'; status: number; headers: Headers; body: Uint8Array } | { is: 'rendered'; pieces: Uint8Array[] }
> {
  const { resource } = route;
  if (!resource) throw unknownPath();
  const choice = chooseAnswer(context, route, job, rendering.list !== undefined, rendering.events !== undefined);
  const objects = rendering.objects.map(bytes => toRequestVersion(resource, decodeStored(bytes)));
  if (rendering.events)
    return { is: 'rendered', pieces: renderEvents(context, route, choice, objects, rendering.events) };
  const value = rendering.list
    ? listValue(context, route, choice, objects, rendering.list)
    : objectValue(context, route, choice, objects[0]!);
  const body = encodeValue(choice, value, rendering.list ? resource.listType : typeOf(route, resource));
  return {
    is: 'respond',
    status: rendering.status,
    headers: headersFor(choice, rendering.warnings ?? (resource.warning === undefined ? [] : [resource.warning])),
    body,
  };
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
    return Buffer.from(`${JSON.stringify({ type, object: shown })}\n`);
  });
}

/** Type of the object that an answer holds. */
const typeOf = (route: Route, resource: Resource): Struct => route.subresource?.type ?? resource.type;

/** `struct` is the type of `value`; forms derived from it have types of their own. */
function encodeValue(choice: Choice, value: object, struct: Struct | undefined): Uint8Array {
  if (choice.media === 'yaml') return Buffer.from(encodeYaml(value));
  if (choice.media === 'json') return encodeJsonBody(value, choice.pretty === true);
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
  const shown = isScale(route) ? scaleOf(route.resource!, object) : object;
  return choice.form === 'object' ? shown : partialObjectMetadata(shown, choice.version, context.naming);
}

function listValue(
  context: Context,
  route: Route,
  choice: Choice,
  objects: readonly ApiObject[],
  metadata: NonNullable<Rendering['list']>,
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
  const resource: Resource = route.resource!;
  const scale = isScale(route);
  const { columns } = resource.strategy;
  return tableValue({
    // Columns of custom kinds are paths, which lead somewhere in a scale as well.
    columns: scale && resource.builtIn ? scaleColumns(columns) : columns,
    conditions: scale ? undefined : resource.strategy.rowConditions,
    objects: scale ? objects.map(object => scaleOf(resource, object)) : objects,
    ...(scale || !resource.strategy.convert
      ? {}
      : { cellSource: (object: ApiObject) => toStorageVersion(resource, object) }),
    listMetadata,
    includeObject: parseIncludeObject(firstValue(route.query, 'includeObject')),
    now: context.now(),
    tableVersion: choice.version,
    withHeader,
    naming: context.naming,
  });
}

/**
 * The answer to a write, in the form that the client accepts. `commit`: the kind of transaction that the answer waits
 * for. Its revision is not known yet: the body has gaps for it, and after a put there is none at all where the
 * committed bytes themselves can be sent, as plain JSON of the stored version. Throws 406.
 */
export function encodeAnswer(
  context: Context,
  request: AuthorizedRequest,
  object: ApiObject,
  status: number,
  commit: 'none' | 'put' | 'delete' = 'none',
): Answer {
  const { job, route, resource, warnings } = request;
  const choice = chooseAnswer(context, route, job, false, false);
  const headers = headersFor(choice, warnings);
  const isPlain = choice.form === 'object' && choice.media === 'json' && !choice.pretty && !isScale(route);
  if (commit === 'put' && isPlain && resource.apiVersion === resource.storageApiVersion) return { status, headers };
  const whole =
    commit === 'none' ? object : { ...object, metadata: { ...object.metadata, resourceVersion: UNKNOWN_REVISION } };
  // As a read shows it: with the members that are always there.
  const shown = JSON.parse(encodeObject(answerKind(route, resource), whole)) as ApiObject;
  const body = encodeValue(choice, objectValue(context, route, choice, shown), typeOf(route, resource));
  if (commit === 'none') return { status, headers, body };
  return choice.media === 'protobuf'
    ? { status, headers, body, gaps: 'envelope' }
    : { status, headers, ...withGaps(body) };
}

/** The kind of the object that an answer to a write shows: of a scale, which is made later, that of its resource. */
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
