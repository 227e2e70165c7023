import { createRequire } from 'node:module';
import type { BaseBlock } from 'asn1js';

type Asn1 = typeof import('asn1js');

let library: Asn1 | undefined;
/** The ASN.1 library, loaded when the first certificate or request is read: most threads never read one. */
const asn1 = (): Asn1 => (library ??= createRequire(import.meta.url)('asn1js') as Asn1);

/** Thrown for malformed bytes or text. The message is for the sender. */
export class Malformed extends Error {}

/** One element of DER (X.690). */
export interface Element {
  /** The first octet: class, constructed or primitive, and number. */
  readonly tag: number;
  /** The whole element. */
  readonly bytes: Uint8Array;
  readonly contents: Uint8Array;
  /** The elements in a constructed one. */
  readonly parts: readonly Element[];
}

/** Tags of elements. */
export const TAG = {
  boolean: 0x01,
  integer: 0x02,
  bits: 0x03,
  octets: 0x04,
  oid: 0x06,
  sequence: 0x30,
  set: 0x31,
} as const;

const CONSTRUCTED = 0x20;

/** The number of octets that DER uses for a length. */
const lengthSize = (length: number): number => (length < 0x80 ? 1 : 1 + Math.ceil(length.toString(16).length / 2));

const truncatedError = (): Malformed => new Malformed('asn1: syntax error: data truncated');

/** Refuses encodings that BER permits and DER does not, and checks that the parts of an element fill it. */
function elementOf(block: BaseBlock): Element {
  const { idBlock, lenBlock, valueBeforeDecodeView: bytes } = block;
  if (lenBlock.isIndefiniteForm) throw new Malformed('asn1: syntax error: indefinite length found (not DER)');
  if (lenBlock.blockLength !== lengthSize(lenBlock.length))
    throw new Malformed('asn1: structure error: non-minimal length');
  const header = idBlock.blockLength + lenBlock.blockLength;
  if (bytes.length !== header + lenBlock.length) throw truncatedError();
  const tag = bytes[0]!;
  const contents = bytes.subarray(header);
  const value: unknown = (block.valueBlock as { readonly value?: unknown }).value;
  const parts = (tag & CONSTRUCTED) !== 0 && Array.isArray(value) ? (value as BaseBlock[]).map(elementOf) : [];
  if (parts.length > 0 && parts.reduce((sum, part) => sum + part.bytes.length, 0) !== contents.length)
    throw truncatedError();
  return { tag, bytes, contents, parts };
}

function decode(bytes: Uint8Array): BaseBlock {
  // If the end mark is missing, the library's message would not name the fault.
  if (bytes[1] === 0x80) throw new Malformed('asn1: syntax error: indefinite length found (not DER)');
  let decoded: ReturnType<Asn1['fromBER']>;
  try {
    decoded = asn1().fromBER(bytes, { parseEmbedded: false, copyInput: false });
  } catch {
    throw new Malformed('asn1: syntax error: invalid value');
  }
  const { offset, result } = decoded;
  if (offset < 0)
    throw /^End of input|^Zero buffer/.test(result.error)
      ? truncatedError()
      : new Malformed(`asn1: syntax error: ${result.error}`);
  if (offset !== bytes.length) throw new Malformed('asn1: syntax error: trailing data');
  return result;
}

/**
 * Parses one element, which must fill the bytes. Depth and number of elements are limited by the library: 100 and
 * 10,000. Throws Malformed.
 */
export const parseDer = (bytes: Uint8Array): Element => elementOf(decode(bytes));

/** The parts of an element, whose tags must be exactly these. Throws Malformed. */
export function partsOf({ parts }: Element, ...tags: readonly number[]): readonly Element[] {
  if (parts.length < tags.length) throw new Malformed('asn1: syntax error: sequence truncated');
  if (parts.length > tags.length) throw new Malformed('asn1: syntax error: trailing data');
  for (const [index, part] of parts.entries()) expectTag(part, tags[index]!);
  return parts;
}

/** The element itself, which must have the tag. Throws Malformed. */
export function expectTag(element: Element | undefined, tag: number): Element {
  if (!element) throw new Malformed('asn1: syntax error: sequence truncated');
  if (element.tag !== tag) throw new Malformed("asn1: structure error: tags don't match");
  return element;
}

/** The contents of an object identifier in hexadecimal. Throws Malformed for forms that are not minimal. */
export function oidOf(element: Element | undefined): string {
  const { contents } = expectTag(element, TAG.oid);
  const isPadded = contents.some((byte, at) => byte === 0x80 && (at === 0 || contents[at - 1]! < 0x80));
  if (contents.length === 0 || isPadded || contents.at(-1)! >= 0x80)
    throw new Malformed('asn1: syntax error: invalid object identifier');
  return Buffer.from(contents).toString('hex');
}
