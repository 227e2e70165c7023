import { checkNameParameter } from '../../../core/model/nameParameter.js';
import type { Exchange } from '../../../core/api/listener.js';
import { LIST_SLICE_BYTES } from '../../../core/limits.js';
import { decodeStored } from '../../../core/plugin/informers/stored.js';
import { badRequest, notFound } from '../../../core/model/refusal.js';
import type { ResourceTarget } from '../../../core/model/target.js';
import type { Resource } from '../../../core/schema/resource.js';
import { heldBytes } from '../answers/answers.js';
import { compresses, respondWhole, streamCompressed } from '../answers/compress.js';
import { isConnect, objectName, refuseConnect } from '../../../core/request/connect.js';
import { notOlderThan, type ReadContext } from './readContext.js';
import { drainOf } from '../answers/drain.js';
import { envelopeLength, listHead, listLength, listParts, needsConversion, predates } from '../forms/listFrame.js';
import { keyOf } from '../../../core/request/keys.js';
import { parseRevision } from '../../../core/request/resourceVersion.js';
import { type ListPage, metadataOf, pageOfRequest } from './listPage.js';
import { firstValue, parseFlag } from '../../../core/request/query.js';
import { headersFor, NO_CACHE } from '../answers/reply.js';
import type { FrontRequest } from '../access/sender.js';

/** Answers a get (spec, "Resource version semantics: get"). */
export async function get(context: ReadContext, request: FrontRequest, resource: Resource): Promise<void> {
  const { exchange, route } = request;
  const target = route.target as ResourceTarget;
  if (parseFlag(route.query, 'export'))
    throw badRequest('the export parameter, deprecated since v1.14, is no longer supported');
  const plain = context.wantsJson(exchange, resource) && !needsConversion(resource);
  if (!plain) context.accepts(exchange, resource);
  const raw = firstValue(route.query, 'resourceVersion');
  if (raw === '') {
    const recent = context.mostRecent();
    if (recent) await recent;
  } else if (raw !== '0') await notOlderThan(context, parseRevision(raw), raw);
  const { subresource: sub } = route;
  const isScale = sub?.type?.id.endsWith('.Scale') === true;
  const name = objectName(resource, sub, target.name);
  const entry = context.state.collections
    .get(resource.storageName)
    ?.entries.get(keyOf(resource, target.namespace, name));
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
    // Most objects are small, and copied by the listener.
    if (entry.length <= LIST_SLICE_BYTES) return await respondWhole(exchange, headersFor(resource), entry.value);
    return await context.answers.run(request.sender.usage, entry.length, () =>
      respondWhole(exchange, headersFor(resource), entry.value),
    );
  }
  await context.respondObject(request, resource, entry);
}

/** Answers a list (spec, "Resource version semantics: list table"). */
export async function list(context: ReadContext, request: FrontRequest, resource: Resource): Promise<void> {
  const { exchange } = request;
  const plain = context.wantsJson(exchange, resource) && !needsConversion(resource);
  if (!plain) context.accepts(exchange, resource, true);
  const listed = await pageOfRequest(context, request, resource);
  if (plain && !predates(resource, listed.entries)) {
    return await context.answers.run(request.sender.usage, heldBytes(listed.entries), () =>
      sendList(exchange, resource, listed),
    );
  }
  await context.respondList(request, resource, listed.entries, metadataOf(listed));
}

/** Sends a list; a long one as a stream, in slices, that waits for a slow reader. */
async function sendList(exchange: Exchange, resource: Resource, listed: ListPage): Promise<void> {
  const head = listHead(resource, listed.revision, listed.next, listed.remaining);
  const skip = envelopeLength(resource);
  const headers = headersFor(resource);
  const length = listLength(head, listed.entries, skip);
  const parts = listParts(head, listed.entries, skip);
  if (compresses(exchange, length)) return await streamCompressed(exchange, headers, parts);
  if (length <= LIST_SLICE_BYTES) return exchange.respond(200, headers, [...parts]);
  const stream = exchange.stream(200, headers, { length });
  const drained = drainOf(exchange, stream);
  let slice = 0;
  for (const part of parts) {
    const unsent = stream.write(part);
    slice += part.length;
    if (slice < LIST_SLICE_BYTES) continue;
    slice = 0;
    if (unsent > 4 * LIST_SLICE_BYTES) await drained();
    else await new Promise(resolve => setImmediate(resolve));
    if (exchange.aborted) return;
  }
  stream.end();
}
