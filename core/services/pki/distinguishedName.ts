import { type Element, expectTag, Malformed, oidOf, partsOf, TAG } from './der.js';

/** The identity in the subject of a certificate. */
export interface SubjectNames {
  /** '' if the subject has none. If it has several, the last one counts, as in upstream. */
  readonly commonName: string;
  /** In the order of the subject. */
  readonly organizations: readonly string[];
}

const COMMON_NAME = '550403';
const ORGANIZATION = '55040a';

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

const decodeUtf8 = (bytes: Uint8Array): string => UTF8.decode(bytes);

/** Text of two bytes for each character, without surrogates. Throws RangeError. */
function decodeUcs2(bytes: Uint8Array): string {
  const text = Buffer.from(bytes).swap16().toString('utf16le');
  if (/[\ud800-\udfff]/.test(text)) throw new RangeError('invalid character');
  return text;
}

/** Characters of one byte each, which must match a pattern. */
const decoderFor =
  (pattern: RegExp) =>
  (bytes: Uint8Array): string => {
    const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1');
    if (!pattern.test(text)) throw new RangeError('invalid character');
    return text;
  };

/**
 * The supported string types, by tag. All others are refused: one reader may skip a string that another one accepts.
 */
const STRINGS: ReadonlyMap<number, readonly [type: string, decode: (bytes: Uint8Array) => string]> = new Map([
  [0x0c, ['UTF8String', decodeUtf8]],
  [0x12, ['NumericString', decoderFor(/^[0-9 ]*$/)]],
  [0x13, ['PrintableString', decoderFor(/^[A-Za-z0-9 '()+,\-./:=?*&]*$/)]],
  // Implementations differ about the character set of this type, except for ASCII.
  [0x14, ['TeletexString', decoderFor(/^[\x20-\x7e]*$/)]],
  [0x16, ['IA5String', decoderFor(/^[\x00-\x7f]*$/)]],
  [0x1e, ['BMPString', decodeUcs2]],
]);

function textOf({ tag, contents }: Element): string {
  const [type, decode] = STRINGS.get(tag) ?? [];
  if (!decode) throw new Malformed(`x509: unsupported string type in a name: ${tag}`);
  let text: string;
  try {
    text = decode(contents);
  } catch {
    throw new Malformed(`x509: invalid ${type}`);
  }
  // Implementations in C end the text here, and Go removes it from the end of a BMPString.
  if (text.includes('\0')) throw new Malformed(`x509: ${type} contains a NUL character`);
  return text;
}

/**
 * Reads a distinguished name (RFC 5280, 4.1.2.4). This is the only function that reads names, both of requests (to
 * validate, approve and sign them) and of certificates that authenticate clients, so that all of them see the same
 * name. Throws Malformed for a name with a value that it cannot read with certainty.
 */
export function readDistinguishedName(name: Element): SubjectNames {
  let commonName = '';
  const organizations: string[] = [];
  for (const set of expectTag(name, TAG.sequence).parts)
    for (const attribute of expectTag(set, TAG.set).parts) {
      const [type, value] = expectTag(attribute, TAG.sequence).parts;
      partsOf(attribute, TAG.oid, value?.tag ?? 0);
      const [identifier, text] = [oidOf(type), textOf(value!)];
      if (identifier === COMMON_NAME) commonName = text;
      if (identifier === ORGANIZATION) organizations.push(text);
    }
  return { commonName, organizations };
}
