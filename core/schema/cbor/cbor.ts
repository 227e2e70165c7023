/**
 * Converts JSON texts to CBOR (RFC 8949) without creating values in between (spec, "Media types": `application/cbor`).
 * As in upstream's CBOR, all strings are byte strings of their UTF-8. A field of bytes is written as its base64 text,
 * which clients decode where they expect bytes. Arrays and maps have no length, so that lists can be assembled from the
 * encodings of their items.
 */

/** The tag before each document: "this is CBOR" (RFC 8949, section 3.4.6). */
export const CBOR_TAG = Buffer.from([0xd9, 0xd9, 0xf7]);

/** The media type of a document. */
export const CBOR_TYPE = 'application/cbor';
/** The media type of a series of documents. */
export const CBOR_SEQUENCE = 'application/cbor-seq';

/** The first byte of a map without a length. */
export const OPEN_MAP = 0xbf;
/** The first byte of an array, and the byte at the ends of both. */
const OPEN_ARRAY = 0x9f;
const BREAK = 0xff;

const UNSIGNED = 0;
const NEGATIVE = 1;
const BYTE_STRING = 2;
const FALSE = 0xf4;
const TRUE = 0xf5;
const NULL = 0xf6;
const DOUBLE = 0xfb;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const MINUS = 0x2d;
const NINE = 0x39;
/** The largest number of bytes that an item has besides a text: those of a 64-bit number. */
const LARGEST_HEAD = 9;
/** The number of digits up to which a JavaScript number holds every integer exactly. */
const SAFE_DIGITS = 15;

/** Writes one JSON text as CBOR. */
class Transcoder {
  #out: Buffer;
  #at = 0;

  constructor(readonly text: Buffer) {
    this.#out = Buffer.allocUnsafe(text.length + LARGEST_HEAD);
  }

  run(): Buffer {
    const { text } = this;
    let from = 0;
    while (from < text.length) {
      const byte = text[from]!;
      if (this.#out.length - this.#at < LARGEST_HEAD) this.#grow(LARGEST_HEAD);
      switch (byte) {
        case QUOTE:
          from = this.#string(from + 1);
          break;
        case 0x7b:
          this.#byte(OPEN_MAP);
          from++;
          break;
        case 0x5b:
          this.#byte(OPEN_ARRAY);
          from++;
          break;
        case 0x7d:
        case 0x5d:
          this.#byte(BREAK);
          from++;
          break;
        case 0x74:
          this.#byte(TRUE);
          from += 4;
          break;
        case 0x66:
          this.#byte(FALSE);
          from += 5;
          break;
        case 0x6e:
          this.#byte(NULL);
          from += 4;
          break;
        default:
          // Commas, colons and white space need no output.
          from = byte === MINUS || (byte > 0x2f && byte <= NINE) ? this.#number(from) : from + 1;
      }
    }
    return this.#out.subarray(0, this.#at);
  }

  #byte(byte: number): void {
    this.#out[this.#at++] = byte;
  }

  #grow(bytes: number): void {
    const larger = Buffer.allocUnsafe(this.#out.length * 2 + bytes);
    larger.set(this.#out.subarray(0, this.#at));
    this.#out = larger;
  }

  /** The head of an item: its major type, and a number of at most 53 bits. */
  #head(major: number, value: number): void {
    const out = this.#out;
    const type = major << 5;
    if (value < 24) out[this.#at++] = type | value;
    else if (value < 0x100) {
      out[this.#at++] = type | 24;
      out[this.#at++] = value;
    } else if (value < 0x10000) {
      out[this.#at++] = type | 25;
      this.#at = out.writeUInt16BE(value, this.#at);
    } else if (value < 0x100000000) {
      out[this.#at++] = type | 26;
      this.#at = out.writeUInt32BE(value, this.#at);
    } else {
      out[this.#at++] = type | 27;
      this.#at = out.writeBigUInt64BE(BigInt(value), this.#at);
    }
  }

  /** Writes a text that begins at `start`, after its quote. Returns the position after it. */
  #string(start: number): number {
    const { text } = this;
    let end = start;
    while (text[end] !== QUOTE && text[end] !== BACKSLASH) end++;
    if (text[end] === BACKSLASH) return this.#escaped(start, end);
    const length = end - start;
    if (this.#out.length - this.#at < length + LARGEST_HEAD) this.#grow(length + LARGEST_HEAD);
    this.#head(BYTE_STRING, length);
    this.#at += text.copy(this.#out, this.#at, start, end);
    return end + 1;
  }

  /** Writes a text whose first backslash is at `found`. */
  #escaped(start: number, found: number): number {
    const { text } = this;
    let end = found;
    while (text[end] !== QUOTE) end += text[end] === BACKSLASH ? 2 : 1;
    const bytes = Buffer.from(JSON.parse(text.toString('utf8', start - 1, end + 1)) as string);
    if (this.#out.length - this.#at < bytes.length + LARGEST_HEAD) this.#grow(bytes.length + LARGEST_HEAD);
    this.#head(BYTE_STRING, bytes.length);
    this.#at += bytes.copy(this.#out, this.#at);
    return end + 1;
  }

  /**
   * Writes a number that begins at `start`: as an integer if it is written as one and has at most 64 bits, otherwise as
   * a double.
   */
  #number(start: number): number {
    const { text } = this;
    const isNegative = text[start] === MINUS;
    let end = isNegative ? start + 1 : start;
    const digits = end;
    let value = 0;
    while (text[end]! > 0x2f && text[end]! <= NINE) value = value * 10 + text[end++]! - 0x30;
    if (text[end] === 0x2e || (text[end]! | 0x20) === 0x65) {
      while (isOfNumber(text[end])) end++;
      this.#double(Number(text.toString('latin1', start, end)));
    } else if (end - digits > SAFE_DIGITS) this.#large(BigInt(text.toString('latin1', start, end)));
    else if (isNegative && value > 0) this.#head(NEGATIVE, value - 1);
    else this.#head(UNSIGNED, value);
    return end;
  }

  #large(value: bigint): void {
    const size = value < 0n ? -1n - value : value;
    if (BigInt.asUintN(64, size) !== size) this.#double(Number(value));
    else {
      this.#byte(((value < 0n ? NEGATIVE : UNSIGNED) << 5) | 27);
      this.#at = this.#out.writeBigUInt64BE(size, this.#at);
    }
  }

  #double(value: number): void {
    this.#byte(DOUBLE);
    this.#at = this.#out.writeDoubleBE(value, this.#at);
  }
}

/** Whether a byte can be part of a number with a fraction or an exponent. */
const isOfNumber = (byte: number | undefined): boolean =>
  byte !== undefined &&
  ((byte > 0x2f && byte <= NINE) || byte === 0x2e || byte === 0x2b || byte === MINUS || (byte | 0x20) === 0x65);

const bufferOf = ({ buffer, byteOffset, byteLength }: Uint8Array): Buffer =>
  Buffer.from(buffer, byteOffset, byteLength);

/** The CBOR of a JSON text that is well-formed, without the tag of a document. */
export const encodeCborText = (text: Uint8Array): Buffer => new Transcoder(bufferOf(text)).run();

/** The CBOR of a JSON text, as a document. */
export const cborDocument = (text: Uint8Array): Buffer => Buffer.concat([CBOR_TAG, encodeCborText(text)]);

/** A text as a byte string. Its length must be below 24. */
const shortText = (text: string): Buffer => Buffer.from([(BYTE_STRING << 5) | text.length, ...Buffer.from(text)]);

const MAP_OF_TWO = Buffer.from([0xa2]);
const TYPE = shortText('type');
const OBJECT = shortText('object');

/** An event of a watch, as a document, around the document of its object. */
export const cborEvent = (type: string, object: Uint8Array): Buffer =>
  Buffer.concat([CBOR_TAG, MAP_OF_TWO, TYPE, shortText(type), OBJECT, object]);

/**
 * Returns the bytes around the items of a list. `empty` is the JSON text of the list with an empty array as its last
 * member.
 */
export function cborListFrame(empty: Uint8Array): { readonly head: Buffer; readonly tail: Buffer } {
  const document = cborDocument(empty);
  return { head: document.subarray(0, -2), tail: document.subarray(-2) };
}

/** The CBOR of the items of a JSON array, one after another. */
export const cborItems = (array: Uint8Array): Buffer => encodeCborText(array).subarray(1, -1);
