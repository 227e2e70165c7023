import { checkNameParameter } from '../../../core/model/nameParameter.js';
import { GZIP_BYTES } from '../../../core/limits.js';
import { decodeStored } from '../../../core/plugin/informers/stored.js';
import { badRequest, notFound } from '../../../core/model/refusal.js';
import { reasonOf, unreadable } from '../../../core/threads/entries/unreadable.js';
import type { ResourceTarget } from '../../../core/model/target.js';
import type { Resource } from '../../../core/schema/resource.js';
import { respondWhole } from '../answers/compress.js';
import { isConnect, objectName, refuseConnect } from '../../../core/request/connect.js';
import { notOlderThan, type ReadContext } from './readContext.js';
import { needsConversion, predates } from '../forms/storedList.js';
import { keyOf } from '../../../core/request/keys.js';
import { parseRevision } from '../../../core/request/resourceVersion.js';
import { metadataOf, pageOfRequest } from './listPage.js';
import { firstValue, parseFlag } from '../../../core/request/query.js';
import { headersFor, jsonLine, LINE_END, NO_CACHE } from '../answers/reply.js';
import type { FrontRequest } from '../access/sender.js';

/** Answers a get (spec, "Resource version semantics: get"). */
export async function get(context: ReadContext, request: FrontRequest, resource: Resource): Promise<void> {
  const { exchange, route } = request;
  const target = route.target as ResourceTarget;
  if (parseFlag(route.query, 'export'))
    throw badRequest('the export parameter, deprecated since v1.14, is no longer supported');
  const plain = context.wantsJson(exchange, resource) && !needsConversion(resource);
  // The answer of a connection has the form that its other end chooses.
  if (!plain && !route.subresource?.connect) context.accepts(exchange, resource);
  const raw = firstValue(route.query, 'resourceVersion');
  if (raw === '') {
    const recent = context.mostRecent();
    if (recent) await recent;
  } else if (raw !== '0') await notOlderThan(context, parseRevision(raw), raw);
  const { subresource: sub } = route;
  const isScale = sub?.type?.id.endsWith('.Scale') === true;
  const name = objectName(resource, sub, target.name);
  const collection = context.state.collections.get(resource.storageName);
  const key = keyOf(resource, target.namespace, name);
  const broken = collection?.unreadable.get(key);
  if (broken) throw unreadable({ key, reason: reasonOf(broken.value) });
  const entry = collection?.entries.get(key);
  if (!entry) {
    const scaled = isScale ? resource.strategy.scale?.notFoundAs : undefined;
    if (!scaled) checkNameParameter(name);
    throw notFound(scaled ?? { group: resource.group, resource: resource.plural }, name);
  }
  if (isConnect(sub)) {
    refuseConnect(resource, sub, 'get', decodeStored(entry.value), route.query);
    return exchange.respond(204, [NO_CACHE], new Uint8Array());
  }
  if (plain && !predates(resource, [entry]) && !isScale) {
    const { value, length } = entry;
    const headers = headersFor(resource);
    // Most objects are small: the listener copies them, and they are not compressed.
    if (length < GZIP_BYTES) return exchange.respond(200, headers, [value, LINE_END]);
    return await context.answers.run(request.sender.usage, length, () =>
      respondWhole(exchange, headers, jsonLine(value)),
    );
  }
  await context.respondObject(request, resource, entry);
}

/** Answers a list (spec, "Resource version semantics: list table"). */
export async function list(context: ReadContext, request: FrontRequest, resource: Resource): Promise<void> {
  context.accepts(request.exchange, resource, true);
  const page = await pageOfRequest(context, request, resource);
  await context.respondList(request, resource, page.entries, metadataOf(page));
}
