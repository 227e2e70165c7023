/**
 * Copies pieces into one buffer to be transferred: one allocation for any number of them. Undefined if there are no
 * bytes. `postMessage` would otherwise copy the whole buffer behind each piece.
 */
export function joinBytes(pieces: readonly Uint8Array[]): ArrayBuffer | undefined {
  let total = 0;
  for (const piece of pieces) total += piece.length;
  if (total === 0) return undefined;
  const bytes = new Uint8Array(total);
  let at = 0;
  for (const piece of pieces) {
    bytes.set(piece, at);
    at += piece.length;
  }
  return bytes.buffer;
}

/** Reads the pieces of a buffer in their order, as views of it. */
export class PieceReader {
  #at = 0;

  constructor(readonly buffer: ArrayBuffer = new ArrayBuffer(0)) {}

  /** The next piece, which has this length. */
  next(length: number): Uint8Array {
    const piece = new Uint8Array(this.buffer, this.#at, length);
    this.#at += length;
    return piece;
  }
}
