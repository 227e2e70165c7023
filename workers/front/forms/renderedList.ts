import { RENDER_AHEAD, RENDER_SLICE_BYTES, RENDER_SLICE_OBJECTS } from '../../../core/limits.js';
import type { Entry } from '../../../core/threads/entries/entry.js';
import type { JobResult, Rendering } from '../../../core/threads/messages/messages.js';
import { compresses, respondRendered, streamParts } from '../answers/compress.js';
import { inOrder } from '../answers/inOrder.js';
import type { PoolClient } from '../pool/poolClient.js';
import type { FrontRequest } from '../access/sender.js';

/** Objects in runs of some bytes, each of which is encoded at once. */
export function renderSlices(objects: readonly Entry[], sliceBytes = RENDER_SLICE_BYTES): Entry[][] {
  const slices: Entry[][] = [];
  let slice: Entry[] = [];
  let bytes = 0;
  for (const object of objects) {
    slice.push(object);
    bytes += object.length;
    if (bytes < sliceBytes && slice.length < RENDER_SLICE_OBJECTS) continue;
    slices.push(slice);
    slice = [];
    bytes = 0;
  }
  if (slice.length > 0) slices.push(slice);
  return slices;
}

const valuesOf = (slice: readonly Entry[]): Uint8Array[] => slice.map(({ value }) => value);

/** The pool's answer instead of an encoding. */
type Answered = Extract<JobResult, { is: 'respond' }>;

/**
 * The text of a part of a list, in the form in which it follows the part before, or the refusal to convert one of its
 * objects.
 */
async function renderPart(
  pool: PoolClient,
  request: FrontRequest,
  slice: readonly Entry[],
): Promise<Uint8Array | Answered> {
  const result = await pool.render(request, { objects: valuesOf(slice), status: 200, part: true });
  if (result.is === 'respond') return result;
  if (result.is !== 'rendered') throw new Error('the pool could not encode a part of a list');
  return result.pieces[0]!;
}

/** The texts of all parts after the first of a list, or the first refusal. */
async function renderAll(
  pool: PoolClient,
  request: FrontRequest,
  slices: readonly (readonly Entry[])[],
): Promise<Answered | { readonly is: 'texts'; readonly texts: readonly Uint8Array[] }> {
  const texts: Uint8Array[] = [];
  for await (const part of inOrder(slices, RENDER_AHEAD, slice => renderPart(pool, request, slice))) {
    if ('is' in part) return part;
    texts.push(part);
  }
  return { is: 'texts', texts };
}

/**
 * The refusal of a list of these objects in the version of the request, because one of them cannot be converted;
 * undefined where all can be shown.
 */
export async function findUnconvertible(
  pool: PoolClient,
  request: FrontRequest,
  objects: readonly Entry[],
): Promise<Answered | undefined> {
  const [first = [], ...others] = renderSlices(objects);
  const list = { resourceVersion: '0' };
  const head = await pool.render(request, { objects: valuesOf(first), status: 200, list, part: true });
  if (head.is !== 'respond') throw new Error('the pool could not encode the first part of a list');
  if (head.status !== 200) return head;
  if (!head.rest?.mayFail) return undefined;
  const made = await renderAll(pool, request, others);
  return made.is === 'respond' ? made : undefined;
}

/**
 * Answers with a list in a form that is a text. A short one is one job of the pool, a long one a job for each slice:
 * they are sent in order while the next ones are made, no faster than the client takes them. Where a later part may be
 * refused, nothing is sent before all are made. `isWhole`: the objects can be encoded only all together.
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
  const made = rest.mayFail ? await renderAll(pool, request, others) : undefined;
  if (made?.is === 'respond') return await respondRendered(exchange, made);
  const texts = made?.texts;
  async function* parts(): AsyncGenerator<Uint8Array> {
    yield body;
    for await (const part of texts ?? inOrder(others, RENDER_AHEAD, slice => renderPart(pool, request, slice))) {
      if (rest!.between.length > 0) yield rest!.between;
      if ('is' in part) throw new Error('the pool could not encode a part of a list');
      yield part;
    }
    yield rest!.tail;
  }
  await streamParts(exchange, headers, parts(), isCompressed);
}
