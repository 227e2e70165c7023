/**
 * The values of a JSON text as numbers in one array, for encoders that read a text without creating objects. The array
 * is filled in one pass over the bytes, and its memory is reused.
 */

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const COLON = 0x3a;
const COMMA = 0x2c;
const SPACE = 0x20;

/**
 * The fields of a node, as offsets from its place: where it begins and ends, the node after it, and whether it has
 * escapes.
 */
export const END = 1;
/** The place of the node that follows a node and everything in it. */
export const NEXT = 2;
const ESCAPED = 3;
/**
 * The count of numbers in a node. The nodes in an array or object follow it directly; in an object, keys and values
 * alternate.
 */
export const NODE = 4;

/** Enough for most objects; longer texts double the array. */
const INITIAL_NODES = 1024;

/** The values of one JSON text at a time. Nodes are the places of their numbers in `nodes`. */
export class JsonTape {
  bytes: Uint8Array = new Uint8Array();
  nodes: Int32Array = new Int32Array(INITIAL_NODES * NODE);
  readonly #open: number[] = [];

  constructor(
    /** Whether managed fields have no nodes within (`OPAQUE`). */
    readonly skipsManagedFields = true,
  ) {}

  /** Reads a text, which must be valid JSON. Its value is node 0. Throws SyntaxError for texts that do not end. */
  read(text: Uint8Array): void {
    this.bytes = text;
    const { length } = text;
    const open = this.#open;
    const skips = this.skipsManagedFields;
    open.length = 0;
    let nodes = this.nodes;
    let count = 0;
    let at = 0;
    while (at < length) {
      const byte = text[at]!;
      if (byte === COMMA || byte === COLON || byte <= SPACE) {
        at++;
        continue;
      }
      if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
        at++;
        const node = open.pop();
        if (node === undefined) throw new SyntaxError(`unexpected end of a value at byte ${at} of a JSON text`);
        nodes[node + END] = at;
        nodes[node + NEXT] = count;
        continue;
      }
      if (count + NODE > nodes.length) nodes = this.#grow();
      nodes[count] = at;
      const isObject = byte === OPEN_BRACE;
      if (skips && isObject && count > 0 && isOpaque(text, nodes[count - NODE]!, nodes[count - NODE + END]!)) {
        at = objectEnd(text, at);
        nodes[count + END] = at;
        nodes[count + NEXT] = count + NODE;
      } else if (isObject || byte === OPEN_BRACKET) {
        at++;
        open.push(count);
      } else {
        let escaped = 0;
        at++;
        if (byte === QUOTE) {
          for (; at < length; at++) {
            const next = text[at]!;
            if (next === QUOTE) break;
            if (next !== BACKSLASH) continue;
            escaped = 1;
            at++;
          }
          at++;
        } else while (at < length && !isEnd(text[at]!)) at++;
        nodes[count + END] = at;
        nodes[count + NEXT] = count + NODE;
        nodes[count + ESCAPED] = escaped;
      }
      count += NODE;
    }
    if (at > length || open.length > 0 || count === 0) throw new SyntaxError('unexpected end of a JSON text');
  }

  /** The first byte of a node, which tells its type. */
  first(node: number): number {
    return this.bytes[this.nodes[node]!]!;
  }

  /** Whether the node is a string with escapes. */
  hasEscapes(node: number): boolean {
    return this.nodes[node + ESCAPED] === 1;
  }

  /** The text of a node as it is in the JSON. */
  textOf(node: number): string {
    const { buffer, byteOffset } = this.bytes;
    const start = this.nodes[node]!;
    return Buffer.from(buffer, byteOffset + start, this.nodes[node + END]! - start).toString();
  }

  #grow(): Int32Array {
    const larger = new Int32Array(this.nodes.length * 2);
    larger.set(this.nodes);
    this.nodes = larger;
    return larger;
  }
}

/**
 * The name of members whose objects are copied as they are: about a third of an object's text, in many small parts.
 * They are never read in any other way, so their contents get no nodes.
 */
const OPAQUE = Buffer.from('"fieldsV1"');

/** Whether a part of the text is the opaque name. */
function isOpaque(text: Uint8Array, start: number, end: number): boolean {
  if (end - start !== OPAQUE.length) return false;
  for (let i = 0; i < OPAQUE.length; i++) if (text[start + i] !== OPAQUE[i]) return false;
  return true;
}

/** The end of the object that begins at `start` of a JSON text. Throws SyntaxError if it has none. */
export function objectEnd(text: Uint8Array, start: number): number {
  const { length } = text;
  let depth = 0;
  let at = start;
  while (at < length) {
    const byte = text[at++]!;
    if (byte === QUOTE) {
      // Most bytes are in strings.
      while (at < length) {
        const next = text[at++]!;
        if (next === QUOTE) break;
        if (next === BACKSLASH) at++;
      }
    } else if (byte === OPEN_BRACE) depth++;
    else if (byte === CLOSE_BRACE && --depth === 0) return at;
  }
  throw new SyntaxError('unexpected end of a JSON text');
}

/** Whether a byte ends a number or a word. */
const isEnd = (byte: number): boolean =>
  byte === COMMA || byte === CLOSE_BRACE || byte === CLOSE_BRACKET || byte <= SPACE;
