import { RENDER_AHEAD } from '../../../core/limits.js';
import type { Entry } from '../../../core/threads/entries/entry.js';
import type { JobResult } from '../../../core/threads/messages/messages.js';
import { headersWithId } from '../answers/reply.js';
import { compresses, respondRendered, streamParts } from '../answers/compress.js';
import { inOrder } from '../answers/inOrder.js';
import { renderSlices } from '../answers/renderSlices.js';
import type { PoolClient } from '../pool/poolClient.js';
import type { FrontRequest } from '../access/sender.js';
import type { AnsweredList, ListForm } from './form.js';

/** The pool, which encodes objects. */
type Renderer = Pick<PoolClient, 'render'>;

const valuesOf = (slice: readonly Entry[]): Uint8Array[] => slice.map(({ value }) => value);

/** An answer that the pool has given instead of an encoding. */
type Answered = Extract<JobResult, { is: 'respond' }>;

/**
 * The text of a part of a list, in the form in which it follows the previous part, or the refusal to convert one of its
 * objects.
 */
async function renderPart(
  pool: Renderer,
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
  pool: Renderer,
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
 * The refusal of a list of these objects in the version of the request, if one of them cannot be converted; undefined
 * if all can be shown.
 */
export async function findUnconvertible(
  pool: Renderer,
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
async function respondRenderedList(
  pool: Renderer,
  request: FrontRequest,
  { entries: objects, metadata: list, warnings }: AnsweredList,
  isWhole: boolean,
): Promise<void> {
  const { exchange } = request;
  const rendering = { status: 200, list, warnings };
  const slices = isWhole ? [objects] : renderSlices(objects);
  const [first = [], ...others] = slices;
  if (others.length === 0)
    return await respondRendered(exchange, await pool.render(request, { ...rendering, objects: valuesOf(first) }));
  const head = await pool.render(request, { ...rendering, objects: valuesOf(first), part: true });
  if (head.is !== 'respond' || !head.rest) return await respondRendered(exchange, head);
  const { body, rest } = head;
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
  await streamParts(exchange, headersWithId(head), parts(), isCompressed);
}

/** Lists that the pool makes. `isWhole`: the objects can be encoded only all together. */
export const renderedList = (pool: Renderer, isWhole: boolean): ListForm => ({
  isWhole,
  respond: (request, list) => respondRenderedList(pool, request, list, isWhole),
});
