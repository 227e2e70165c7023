import { negotiate, type Choice, type MediaName } from '../../core/negotiate.js';
import type { Route } from '../../core/front/route.js';
import { first } from '../../core/front/query.js';
import type { ApiObject } from '../../core/model/object.js';
import { unknownPath } from '../../core/model/refusal.js';
import { decodeStored, revisionSpan } from '../../core/plugin/stored.js';
import type { Resource } from '../../core/schema/resource.js';
import { parseIncludeObject, partialObjectMetadata, partialObjectMetadataList, tableValue } from '../../core/tables/index.js';
import { scaleColumns } from '../../core/tables/scale.js';
import type { Job, Rendering } from '../../core/threads/messages.js';
import { type Answer, type Headers, jsonHeaders } from './answer.js';
import { encodeYaml } from './body.js';
import type { Context, Permitted } from './context.js';
import { scaleOf } from './scale.js';
import { inRequestVersion, stored } from './write.js';

const MEDIA: readonly MediaName[] = ['json', 'yaml'];

const choose = (context: Context, accept: string, list: boolean, stream: boolean): Choice =>
  negotiate(accept || undefined, {
    media: MEDIA,
    forms: list ? ['object', 'table', 'partialList'] : ['object', 'table', 'partial'],
    stream,
    naming: context.naming,
  });

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
): Promise<{ is: 'respond'; status: number; headers: Headers; body: Uint8Array } | { is: 'rendered'; pieces: Uint8Array[] }> {
  const { resource } = route;
  if (!resource) throw unknownPath();
  const choice = choose(context, job.accept, rendering.list !== undefined, rendering.events !== undefined);
  const objects = rendering.objects.map(bytes => inRequestVersion(resource, decodeStored(bytes)));
  if (rendering.events) return { is: 'rendered', pieces: events(context, route, choice, objects, rendering.events) };
  const value = rendering.list
    ? listValue(context, route, choice, objects, rendering.list)
    : objectValue(context, route, choice, objects[0]!);
  return { is: 'respond', status: rendering.status, headers: headersFor(choice), body: bytesOf(choice, value) };
}

function events(
  context: Context,
  route: Route,
  choice: Choice,
  objects: readonly ApiObject[],
  about: NonNullable<Rendering['events']>,
): Uint8Array[] {
  return objects.map((object, i) => {
    const shown = objectValue(context, route, choice, object, about.header && i === 0);
    return Buffer.from(`${JSON.stringify({ type: about.types[i], object: shown })}\n`);
  });
}

const bytesOf = (choice: Choice, value: object): Uint8Array =>
  choice.media === 'yaml'
    ? Buffer.from(encodeYaml(value))
    : Buffer.from(`${JSON.stringify(value, null, choice.pretty ? 2 : undefined)}\n`);

function objectValue(context: Context, route: Route, choice: Choice, object: ApiObject, withHeader = true): object {
  const resource = route.resource!;
  if (choice.form === 'partial' || choice.form === 'partialList')
    return partialObjectMetadata(object, choice.version, context.naming);
  if (choice.form === 'table')
    return table(context, route, choice, [object], { resourceVersion: object.metadata.resourceVersion }, withHeader);
  return route.subresource?.name === 'scale' ? scaleOf(resource, object) : object;
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
  if (choice.form === 'table') return table(context, route, choice, objects, metadata, true);
  const items = resource.builtIn ? objects.map(({ kind: _kind, apiVersion: _apiVersion, ...rest }) => rest) : objects;
  return { kind: resource.listKind, apiVersion: resource.apiVersion, metadata, items };
}

function table(
  context: Context,
  route: Route,
  choice: Choice,
  objects: readonly ApiObject[],
  listMetadata: object,
  withHeader: boolean,
): object {
  const resource: Resource = route.resource!;
  const scale = route.subresource?.name === 'scale';
  return tableValue({
    resource: scale ? { storageName: 'autoscaling/scales' } : resource,
    columns: scale ? scaleColumns(resource.strategy.columns) : resource.strategy.columns,
    objects: scale ? objects.map(object => scaleOf(resource, object)) : objects,
    ...(scale || !resource.strategy.convert ? {} : { cellsFrom: (object: ApiObject) => stored(resource, object) }),
    listMetadata,
    includeObject: parseIncludeObject(first(route.query, 'includeObject')),
    now: context.now(),
    tableVersion: choice.version,
    withHeader,
    naming: context.naming,
  });
}

/** The answer to a write: none for plain JSON of the stored version with `proposed` (the committed object is sent), else the bytes in the form asked for. */
export async function shape(
  context: Context,
  permitted: Permitted,
  object: ApiObject,
  status: number,
  warnings: readonly string[],
  proposed = false,
): Promise<Answer> {
  const { job, route, resource } = permitted;
  const choice = choose(context, job.accept, false, false);
  const headers = headersFor(choice, warnings);
  const plain = choice.form === 'object' && choice.media === 'json' && !choice.pretty && route.subresource?.name !== 'scale';
  if (proposed && plain && resource.apiVersion === resource.storageApiVersion) return { status, headers };
  const shown = proposed ? { ...object, metadata: { ...object.metadata, resourceVersion: '0' } } : object;
  const body = bytesOf(choice, objectValue(context, route, choice, shown));
  if (!proposed) return { status, headers, body };
  const [start, end] = choice.media === 'json' && !choice.pretty ? revisionSpan(body) : looseSpan(body);
  return { status, headers, body: Buffer.concat([body.subarray(0, start), body.subarray(end)]), gap: start };
}

/** Where the version stands in YAML or indented JSON that this server wrote with version 0. */
function looseSpan(body: Uint8Array): readonly [number, number] {
  const found = /resourceVersion"?: "0"/.exec(Buffer.from(body).toString('latin1'));
  const end = found!.index + found![0].length - 1;
  return [end - 1, end];
}
