/** The bytes of a message in one buffer to be transferred: one copy and one allocation for any number of pieces. */
export interface Packing {
  /** Views into the buffer, in the order given. */
  readonly views: readonly Uint8Array[];
  /** Transfer list for `postMessage`: the buffer, or nothing if there are no bytes. */
  readonly transfer: ArrayBuffer[];
}

/** Copies `pieces` into one buffer. A message with views of other buffers would carry these buffers whole. */
export function packBytes(pieces: readonly Uint8Array[]): Packing {
  let total = 0;
  for (const piece of pieces) total += piece.length;
  if (total === 0) return { views: pieces.map(() => EMPTY), transfer: [] };
  const buffer = new ArrayBuffer(total);
  const bytes = new Uint8Array(buffer);
  let at = 0;
  const views = pieces.map(piece => {
    bytes.set(piece, at);
    const view = bytes.subarray(at, at + piece.length);
    at += piece.length;
    return view;
  });
  return { views, transfer: [buffer] };
}

const EMPTY = new Uint8Array(0);

/**
 * Copies the bytes in `items` into one buffer to be transferred. `bytesOf` lists the pieces of an item, and `put`
 * returns the item with views of that buffer in their place. An item without pieces is returned as it is.
 */
export function packItems<T>(
  items: readonly T[],
  bytesOf: (item: T) => readonly Uint8Array[],
  put: (item: T, views: readonly Uint8Array[]) => T,
): readonly [T[], ArrayBuffer[]] {
  const counts: number[] = [];
  const pieces: Uint8Array[] = [];
  for (const item of items) {
    const own = bytesOf(item);
    counts.push(own.length);
    for (const piece of own) pieces.push(piece);
  }
  const { views, transfer } = packBytes(pieces);
  let at = 0;
  const packed = items.map((item, i) => {
    const count = counts[i]!;
    if (count === 0) return item;
    const made = put(item, views.slice(at, at + count));
    at += count;
    return made;
  });
  return [packed, transfer];
}
