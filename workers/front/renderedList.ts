import { RENDER_AHEAD, RENDER_SLICE_BYTES, RENDER_SLICE_OBJECTS } from '../../core/limits.js';
import type { Entry } from '../../core/threads/entry.js';
import type { Rendering } from '../../core/threads/messages.js';
import { compresses, respondRendered, streamParts } from './compress.js';
import { inOrder } from './inOrder.js';
import type { PoolClient } from './poolClient.js';
import type { FrontRequest } from './sender.js';

/** Objects in runs that the pool encodes in one job each. */
export function renderSlices(objects: readonly Entry[]): Entry[][] {
  const slices: Entry[][] = [];
  let slice: Entry[] = [];
  let bytes = 0;
  for (const object of objects) {
    slice.push(object);
    bytes += object.length;
    if (bytes < RENDER_SLICE_BYTES && slice.length < RENDER_SLICE_OBJECTS) continue;
    slices.push(slice);
    slice = [];
    bytes = 0;
  }
  if (slice.length > 0) slices.push(slice);
  return slices;
}

const valuesOf = (slice: readonly Entry[]): Uint8Array[] => slice.map(({ value }) => value);

/** The text of a part of a list, as it stands behind the part before. */
async function renderPart(pool: PoolClient, request: FrontRequest, slice: readonly Entry[]): Promise<Uint8Array> {
  const result = await pool.render(request, { objects: valuesOf(slice), status: 200, part: true });
  if (result.is !== 'rendered') throw new Error('the pool could not encode a part of a list');
  return result.pieces[0]!;
}

/**
 * Answers with a list in a form that is a text. A short one is one job of the pool, a long one a job for each slice:
 * they are sent in order while the next ones are made, no faster than the client takes them. `isWhole`: the objects can
 * be encoded only all together.
 */
export async function respondTextList(
  pool: PoolClient,
  request: FrontRequest,
  objects: readonly Entry[],
  rendering: Omit<Rendering, 'objects'>,
  isWhole = false,
): Promise<void> {
  const { exchange } = request;
  const slices = isWhole ? [objects] : renderSlices(objects);
  const [first = [], ...others] = slices;
  if (others.length === 0)
    return await respondRendered(exchange, await pool.render(request, { ...rendering, objects: valuesOf(first) }));
  const head = await pool.render(request, { ...rendering, objects: valuesOf(first), part: true });
  if (head.is !== 'respond' || !head.rest) return await respondRendered(exchange, head);
  const { headers, body, rest } = head;
  const isCompressed = compresses(exchange, body.length * slices.length);
  const between = Buffer.from(rest.between);
  async function* parts(): AsyncGenerator<Uint8Array> {
    yield body;
    for await (const part of inOrder(others, RENDER_AHEAD, slice => renderPart(pool, request, slice))) {
      if (between.length > 0) yield between;
      yield part;
    }
    yield Buffer.from(rest!.tail);
  }
  await streamParts(exchange, headers, parts(), isCompressed);
}
