import { type Element, expectTag, Malformed, oidOf, parseDer, partsOf, TAG } from './der.js';

/** The contents of extensions by the object identifier in hexadecimal. */
export type Extensions = ReadonlyMap<string, Uint8Array>;

/** An alternative name of one of the types for which upstream issues certificates. */
export interface AlternativeName {
  readonly type: 'dns' | 'ip' | 'email' | 'url';
  readonly value: string;
}

const ALTERNATIVE_NAMES = '551d11';
const TRUE = 0xff;

function readExtension(extension: Element): readonly [string, Uint8Array] {
  const [identifier, second] = expectTag(extension, TAG.sequence).parts;
  const isMarked = second?.tag === TAG.boolean;
  const marks = isMarked ? [TAG.boolean] : [];
  const content = partsOf(extension, TAG.oid, ...marks, TAG.octets).at(-1)!;
  if (isMarked && (second.contents.length !== 1 || ![0, TRUE].includes(second.contents[0]!)))
    throw new Malformed('asn1: syntax error: invalid boolean');
  return [oidOf(identifier), content.contents];
}

/**
 * Reads extensions (RFC 5280, 4.1.2.9). Throws Malformed with the message `duplicates` if there is an extension twice.
 */
export function readExtensions(extensions: Element, duplicates: string): Extensions {
  const read = expectTag(extensions, TAG.sequence).parts.map(readExtension);
  const byIdentifier = new Map(read);
  if (byIdentifier.size < read.length) throw new Malformed(duplicates);
  return byIdentifier;
}

/** An address of 4 bytes as decimal numbers, or of 16 bytes as eight hexadecimal ones. */
function addressOf(bytes: Uint8Array): string {
  if (bytes.length === 4) return bytes.join('.');
  if (bytes.length !== 16) throw new Malformed(`x509: cannot parse IP address of length ${bytes.length}`);
  return Array.from({ length: 8 }, (_, i) => ((bytes[2 * i]! << 8) | bytes[2 * i + 1]!).toString(16)).join(':');
}

const printable =
  (name: string) =>
  (bytes: Uint8Array): string => {
    const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1');
    if (!/^[\x20-\x7e]*$/.test(text)) throw new Malformed(`x509: SAN ${name} is malformed`);
    return text;
  };

const readUriText = printable('uniformResourceIdentifier');

function uriOf(bytes: Uint8Array): string {
  const text = readUriText(bytes);
  if (!URL.canParse(text)) throw new Malformed(`x509: cannot parse URI ${JSON.stringify(text)}`);
  return text;
}

const TYPES: ReadonlyMap<number, readonly [type: AlternativeName['type'], read: (bytes: Uint8Array) => string]> =
  new Map([
    [0x81, ['email', printable('rfc822Name')]],
    [0x82, ['dns', printable('dNSName')]],
    [0x86, ['url', uriOf]],
    [0x87, ['ip', addressOf]],
  ]);
/** Names of other types: otherName, x400Address, directoryName, ediPartyName and registeredID. */
const OTHERS = new Set([0xa0, 0xa3, 0xa4, 0xa5, 0x88]);

function alternativeNameOf({ tag, contents }: Element): readonly AlternativeName[] {
  const [type, read] = TYPES.get(tag) ?? [];
  if (type && read) return [{ type, value: read(contents) }];
  if (OTHERS.has(tag)) return [];
  throw new Malformed('x509: invalid subject alternative names');
}

/** The alternative names of these four types among extensions (RFC 5280, 4.2.1.6). Throws Malformed. */
export function readAlternativeNames(extensions: Extensions): readonly AlternativeName[] {
  const content = extensions.get(ALTERNATIVE_NAMES);
  if (!content) return [];
  const names = parseDer(content);
  if (names.tag !== TAG.sequence) throw new Malformed('x509: invalid subject alternative names');
  return names.parts.flatMap(alternativeNameOf);
}
