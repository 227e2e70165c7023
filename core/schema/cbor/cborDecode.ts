import { isUtf8 } from 'node:buffer';
import { Decoder } from 'cbor-x/decode';
import { CBOR_BYTES, CBOR_DEPTH } from '../../limits.js';
import type { Json } from '../../model/object.js';
import { integerValue } from '../../model/text/jsonText.js';
import { Refusal } from '../../model/refusal.js';
import { UnreadableBody } from '../decode/unreadable.js';

let decoder: Decoder | undefined;

/** The decoder of the library, created on first use: few servers have CBOR. Maps may have keys of bytes. */
const libraryDecoder = (): Decoder => (decoder ??= new Decoder({ mapsAsObjects: false, useRecords: false }));

/** Tags of byte strings that name the encoding of the bytes as text in JSON (RFC 8949, section 3.4.5.2). */
const TEXT_ENCODINGS = new Map<number, BufferEncoding>([
  [21, 'base64url'],
  [22, 'base64'],
  [23, 'hex'],
]);

/** Tags of integers of any size. */
const BIGNUMS = [2, 3];

const unreadable = (why: string): UnreadableBody =>
  new UnreadableBody(`unable to determine group/version/kind: ${why}`, why);

const BYTES = 2;
const TEXT = 3;
const ARRAY = 4;
const MAP = 5;
const TAG = 6;
const BREAK = 0xff;
/** The additional information of an item without a length. */
const INDEFINITE = 31;
const SIMPLE_NAMES = new Map([
  [20, 'false'],
  [21, 'true'],
  [22, 'null'],
]);

/**
 * Checks bytes from outside before the library reads them: that they are a single item of limited depth, that no length
 * exceeds the bytes that follow, that texts are UTF-8, that keys are distinct texts, and that all values represent
 * JSON. Tags that have no meaning for JSON are removed, since the library gives meanings to many of them.
 */
class Checker {
  #at = 0;
  /** Beginnings and ends of the tags that are removed. */
  readonly #ignored: number[] = [];

  constructor(readonly bytes: Buffer) {}

  /** Returns the item without those tags. */
  run(): Buffer {
    const { bytes } = this;
    if (bytes.length === 0) throw unreadable('EOF');
    this.#item(0);
    const rest = bytes.length - this.#at;
    if (rest > 0) throw unreadable(`cbor: ${rest} bytes of extraneous data starting at index ${this.#at}`);
    if (this.#ignored.length === 0) return bytes;
    const bounds = [0, ...this.#ignored, bytes.length];
    return Buffer.concat(bounds.flatMap((from, i) => (i % 2 === 0 ? [bytes.subarray(from, bounds[i + 1])] : [])));
  }

  /** The next bytes, as a number. */
  #number(size: number): number {
    this.#need(size);
    const { bytes } = this;
    const at = this.#at;
    this.#at += size;
    return size === 8 ? Number(bytes.readBigUInt64BE(at)) : bytes.readUIntBE(at, size);
  }

  #need(size: number): void {
    if (this.bytes.length - this.#at < size) throw unreadable('unexpected EOF');
  }

  /** The argument of a head, whose additional information is given. */
  #argument(info: number): number {
    if (info < 24) return info;
    if (info > 27) throw unreadable(`cbor: invalid additional information ${info}`);
    return this.#number(2 ** (info - 24));
  }

  #item(depth: number): void {
    if (depth > CBOR_DEPTH) throw unreadable(`cbor: exceeded max nested level ${CBOR_DEPTH}`);
    const start = this.#at;
    const head = this.#number(1);
    const info = head & 0x1f;
    switch (head >> 5) {
      case BYTES:
      case TEXT:
        this.#string(head >> 5, info);
        break;
      case ARRAY:
        this.#members(info, () => this.#item(depth + 1));
        break;
      case MAP:
        this.#map(info, depth);
        break;
      case TAG:
        this.#tagged(this.#argument(info), start, depth);
        break;
      case 7:
        this.#simple(info);
        break;
      default:
        this.#argument(info);
    }
  }

  /** Visits the members of an array or a map: as many as its head says, or up to a break. */
  #members(info: number, visit: () => void): void {
    if (info === INDEFINITE) {
      for (;;) {
        this.#need(1);
        if (this.bytes[this.#at] === BREAK) break;
        visit();
      }
      this.#at++;
      return;
    }
    const count = this.#argument(info);
    // A member has at least one byte.
    this.#need(count);
    for (let i = 0; i < count; i++) visit();
  }

  #map(info: number, depth: number): void {
    const keys = new Set<string>();
    this.#members(info, () => {
      const major = (this.bytes[this.#at] ?? 0) >> 5;
      if (major !== BYTES && major !== TEXT) throw unreadable('cbor: the keys of a map must be strings');
      const key = this.#string(major, this.#number(1) & 0x1f);
      if (keys.has(key))
        throw unreadable(`cbor: found duplicate map key ${JSON.stringify(key)} at map element index ${keys.size}`);
      keys.add(key);
      this.#item(depth + 1);
    });
  }

  /** A string, as text. */
  #string(major: number, info: number): string {
    if (info === INDEFINITE) throw unreadable('cbor: a string must be in one piece');
    const length = this.#argument(info);
    this.#need(length);
    const piece = this.bytes.subarray(this.#at, this.#at + length);
    this.#at += length;
    if (major === TEXT && !isUtf8(piece)) throw unreadable('cbor: invalid UTF-8 string');
    return piece.toString('utf8');
  }

  /** An item after a tag, which begins at `start`. */
  #tagged(tag: number, start: number, depth: number): void {
    if (BIGNUMS.includes(tag)) throw unreadable('cbor: data item of cbor type tag is not accepted by protocol: bignum');
    this.#need(1);
    const isText = TEXT_ENCODINGS.has(tag) && this.bytes[this.#at]! >> 5 === BYTES;
    if (!isText) this.#ignored.push(start, this.#at);
    this.#item(depth + 1);
  }

  #simple(info: number): void {
    if (SIMPLE_NAMES.has(info)) return;
    const size = info === 25 ? 2 : info === 26 ? 4 : info === 27 ? 8 : undefined;
    if (size === undefined) {
      const value = info === 24 ? this.#number(1) : info;
      throw unreadable(
        `cbor: data item of cbor type primitives is not accepted by protocol: simple value ${value} is not recognized`,
      );
    }
    this.#need(size);
    const { bytes } = this;
    // The exponent of NaN and infinities has all bits set.
    const high = bytes.readUInt16BE(this.#at);
    const exponent = size === 2 ? 0x7c00 : size === 4 ? 0x7f80 : 0x7ff0;
    if ((high & exponent) === exponent)
      throw unreadable(
        'cbor: data item of cbor type primitives is not accepted by protocol: floating-point NaN or infinity',
      );
    this.#at += size;
  }
}

/** The library's value of a tag that it does not know. */
interface Tagged {
  readonly tag: number;
  readonly value: Uint8Array;
}

const isTagged = (value: object): value is Tagged => Object.hasOwn(value, 'tag');

const textOf = (bytes: Uint8Array, encoding: BufferEncoding = 'utf8'): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString(encoding);

/** The JSON value that an item represents. */
function toJson(item: unknown): Json {
  if (typeof item === 'bigint') return integerValue(item) as Json;
  if (typeof item !== 'object' || item === null) return item as Json;
  if (item instanceof Uint8Array) return textOf(item);
  if (Array.isArray(item)) return item.map(toJson);
  // `fromEntries` defines `__proto__` as an own member.
  if (item instanceof Map) return Object.fromEntries(Array.from(item, ([key, value]) => [keyOf(key), toJson(value)]));
  if (isTagged(item)) return textOf(item.value, TEXT_ENCODINGS.get(item.tag));
  throw new Error('the decoder of CBOR has made a value that stands for no JSON');
}

const keyOf = (key: unknown): string => (typeof key === 'string' ? key : textOf(key as Uint8Array));

/**
 * The JSON value of a document in CBOR (spec, "Media types"). Byte strings are texts in UTF-8; with a tag, the text is
 * the bytes in the encoding that it names, such as base64. Throws UnreadableBody for anything that does not represent
 * JSON, such as duplicate keys, and 413 for more than CBOR_BYTES.
 */
export function decodeCbor(bytes: Uint8Array): Json {
  if (bytes.length > CBOR_BYTES)
    throw new Refusal('RequestEntityTooLarge', `Request entity too large: limit of a body in CBOR is ${CBOR_BYTES}`);
  const body = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return toJson(libraryDecoder().decode(new Checker(body).run()));
}
