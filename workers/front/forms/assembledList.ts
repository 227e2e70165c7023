import { LIST_SLICE_BYTES, RENDER_AHEAD } from '../../../core/limits.js';
import type { FrontRequest } from '../access/sender.js';
import { compresses, respondWhole, streamParts } from '../answers/compress.js';
import { inOrder } from '../answers/inOrder.js';
import type { AnsweredList, ItemForm, ListForm } from './form.js';
import { renderSlices } from '../answers/renderSlices.js';

const NOTHING = new Uint8Array();

const sizeOf = (pieces: readonly Uint8Array[]): number => pieces.reduce((sum, { length }) => sum + length, 0);

/** Lists that are put together from items: sent as a whole if they are short, else in parts. */
export const assembledList = (form: ItemForm): ListForm => ({
  respond: (request, list) => respondAssembled(request, form, list),
});

async function respondAssembled(
  request: FrontRequest,
  form: ItemForm,
  { headers, entries, metadata }: AnsweredList,
): Promise<void> {
  const { exchange } = request;
  const length = await form.measure?.(request, entries);
  if (exchange.aborted) return;
  const { head, tail } = form.frame(metadata, length ?? 0);
  const total = length === undefined ? undefined : head.length + length + tail.length;
  const isShort = total !== undefined && total <= LIST_SLICE_BYTES;
  const [first = [], ...others] = isShort ? [entries] : renderSlices(entries);
  if (others.length > 0) form.makeAhead?.(request, others.flat());
  const [begin = NOTHING, ...more] = await form.items(request, first);
  const pieces = [head, begin.subarray(form.between), ...more];
  const size = sizeOf(pieces);
  if (others.length === 0) {
    const isSent = size + tail.length <= LIST_SLICE_BYTES && !compresses(exchange, size + tail.length);
    if (isSent) return exchange.respond(200, headers, [...pieces, tail]);
    return await respondWhole(exchange, headers, Buffer.concat([...pieces, tail]));
  }
  async function* parts(): AsyncGenerator<Uint8Array> {
    yield Buffer.concat(pieces);
    let sent = size;
    for await (const next of inOrder(others, RENDER_AHEAD, slice => form.items(request, slice))) {
      sent += sizeOf(next);
      yield* next;
    }
    if (total !== undefined && sent + tail.length !== total)
      throw new Error(`a list has ${sent + tail.length} bytes instead of ${total}`);
    yield tail;
  }
  await streamParts(exchange, headers, parts(), compresses(exchange, total ?? size * (others.length + 1)), total);
}
