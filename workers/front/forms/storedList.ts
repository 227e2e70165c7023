import { LIST_SLICE_BYTES } from '../../../core/limits.js';
import { nextTurn } from '../../../core/runtime/timers.js';
import type { Resource } from '../../../core/schema/resource.js';
import type { ListMetadata } from '../../../core/services/tables/index.js';
import type { Entry } from '../../../core/threads/entries/entry.js';
import { compresses, streamCompressed } from '../answers/compress.js';
import { drainOf } from '../answers/drain.js';
import type { ListForm } from './form.js';

const OPEN = Buffer.from('{');
const NEXT = Buffer.from(',{');
const END = Buffer.from(']}\n');

/** The first bytes of a list up to its items. */
function listHead(resource: Resource, list: ListMetadata): Buffer {
  const metadata = {
    resourceVersion: list.resourceVersion,
    ...(list.continue || !resource.builtIn ? { continue: list.continue ?? '' } : {}),
    ...(list.remainingItemCount ? { remainingItemCount: list.remainingItemCount } : {}),
  };
  const [a, b] = resource.builtIn ? ['kind', 'apiVersion'] : ['apiVersion', 'kind'];
  const envelope = { kind: resource.listKind, apiVersion: resource.apiVersion };
  return Buffer.from(
    `{"${a}":"${envelope[a as 'kind']}","${b}":"${envelope[b as 'kind']}","metadata":${JSON.stringify(metadata)},"items":[`,
  );
}

/** Length of the envelope that list items of built-in kinds do not carry: `{"kind":"Pod","apiVersion":"v1",`. */
const envelopeLength = (resource: Resource): number =>
  resource.builtIn
    ? Buffer.byteLength(
        `{"kind":${JSON.stringify(resource.kind)},"apiVersion":${JSON.stringify(resource.storageApiVersion)},`,
      )
    : 1;

/**
 * The parts of a list's body, in order: views of the items as they are held, without the `skip` bytes of their
 * envelopes, and the separators.
 */
export function* listParts(head: Uint8Array, items: readonly Entry[], skip: number): Generator<Uint8Array> {
  yield head;
  let between = OPEN;
  for (const item of items) {
    yield between;
    yield item.from(skip);
    between = NEXT;
  }
  yield END;
}

/** The bytes of those parts together. */
export function listLength(head: Uint8Array, items: readonly Entry[], skip: number): number {
  let length = head.length + END.length + Math.max(0, items.length * NEXT.length - 1);
  for (const item of items) length += item.length - skip;
  return length;
}

/** Lists in JSON of views of stored objects. A long one is streamed in slices, and waits for a slow reader. */
export const storedList = (resource: Resource): ListForm => ({
  async respond({ exchange }, { headers, entries, metadata }) {
    const head = listHead(resource, metadata);
    const skip = envelopeLength(resource);
    const length = listLength(head, entries, skip);
    const parts = listParts(head, entries, skip);
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
      else await nextTurn();
      if (exchange.aborted) return;
    }
    stream.end();
  },
});

/** Whether the version asked for is not the stored one, so that objects have to be converted. */
export const needsConversion = (resource: Resource): boolean => resource.apiVersion !== resource.storageApiVersion;

/**
 * Whether one of the entries may have been written under another schema than the resource's. Then the pool has to show
 * it.
 */
export const predates = (resource: Resource, entries: Iterable<Entry>): boolean => {
  const { changedAt } = resource;
  if (changedAt === undefined) return false;
  for (const entry of entries) if (entry.revision <= changedAt) return true;
  return false;
};
