import type { Awaitable } from '../../../core/api/point.js';
import { RENDER_AHEAD } from '../../../core/limits.js';
import type { ListMetadata } from '../../../core/services/tables/index.js';
import type { Entry } from '../../../core/threads/entries/entry.js';
import { compresses, respondWhole, streamParts } from '../answers/compress.js';
import { inOrder } from '../answers/inOrder.js';
import { renderSlices } from './renderedList.js';
import type { Headers } from '../answers/reply.js';
import type { FrontRequest } from '../access/sender.js';

/** How a list is made of the texts or encodings of its objects by the front end. */
export interface MadeListForm {
  /** The bytes around the items, by the metadata of the list. */
  frame(list: ListMetadata): { readonly head: Uint8Array; readonly tail: Uint8Array };
  /** Bytes between two items. */
  readonly between: number;
  /** The items of some entries, in one or more pieces, with what stands between two before each. */
  items(request: FrontRequest, entries: readonly Entry[]): Awaitable<readonly Uint8Array[]>;
  /** Called with all entries of a long list, to begin with the last ones elsewhere. */
  makeAhead?(request: FrontRequest, entries: readonly Entry[]): void;
}

/** Answers with a list of one or more entries: as a whole if they are few, else in parts. */
export async function respondAssembled(
  request: FrontRequest,
  headers: Headers,
  form: MadeListForm,
  entries: readonly Entry[],
  list: ListMetadata,
): Promise<void> {
  const { exchange } = request;
  const { head, tail } = form.frame(list);
  const [first = [], ...others] = renderSlices(entries);
  if (others.length > 0) form.makeAhead?.(request, others.flat());
  const [begin, ...more] = await form.items(request, first);
  const part = Buffer.concat([head, begin!.subarray(form.between), ...more]);
  if (others.length === 0) return await respondWhole(exchange, headers, Buffer.concat([part, tail]));
  async function* parts(): AsyncGenerator<Uint8Array> {
    yield part;
    for await (const pieces of inOrder(others, RENDER_AHEAD, slice => form.items(request, slice))) yield* pieces;
    yield tail;
  }
  await streamParts(exchange, headers, parts(), compresses(exchange, part.length * (others.length + 1)));
}
