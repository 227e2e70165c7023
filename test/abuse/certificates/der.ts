import { generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';

/** One element of DER. */
export function der(tag: number, ...contents: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(contents);
  const { length } = content;
  if (length < 0x80) return Buffer.concat([Buffer.from([tag, length]), content]);
  const size = Buffer.from(length.toString(16).padStart(length > 0xffff ? 6 : length > 0xff ? 4 : 2, '0'), 'hex');
  return Buffer.concat([Buffer.from([tag, 0x80 | size.length]), size, content]);
}

export const sequence = (...parts: readonly Uint8Array[]): Buffer => der(0x30, ...parts);
export const set = (...parts: readonly Uint8Array[]): Buffer => der(0x31, ...parts);
export const oid = (hex: string): Buffer => der(0x06, Buffer.from(hex, 'hex'));

/** Tags of everything that a name may hold: all string types of ASN.1, and a few types that are not strings. */
export const TYPES = {
  utf8: 0x0c,
  numeric: 0x12,
  printable: 0x13,
  teletex: 0x14,
  videotex: 0x15,
  ia5: 0x16,
  graphic: 0x19,
  visible: 0x1a,
  general: 0x1b,
  universal: 0x1c,
  character: 0x1d,
  bmp: 0x1e,
  octets: 0x04,
  bits: 0x03,
  integer: 0x02,
  null: 0x05,
  sequence: 0x30,
  set: 0x31,
  context: 0x80,
  application: 0x4c,
  constructedUtf8: 0x2c,
} as const;
export type Type = keyof typeof TYPES;

function bytesOf(type: Type, text: string): Buffer {
  if (type === 'bmp') return Buffer.from(text, 'utf16le').swap16();
  if (type === 'universal') return Buffer.concat(Array.from(text, c => Buffer.from([0, 0, 0, c.codePointAt(0)!])));
  if (type === 'bits') return Buffer.concat([Buffer.from([0]), Buffer.from(text)]);
  return Buffer.from(text, type === 'teletex' || type === 'ia5' ? 'latin1' : 'utf8');
}

/** A text as an element of a type. */
export const text = (type: Type, value: string | Uint8Array): Buffer =>
  der(TYPES[type], typeof value === 'string' ? bytesOf(type, value) : value);

/** Object identifiers of attributes of names, in hexadecimal. */
export const ATTRIBUTES = { CN: '550403', serialNumber: '550405', C: '550406', L: '550407', O: '55040a', OU: '55040b' };

/** An attribute of a name; the value is text of a type, or a whole element. */
export const attribute = (name: keyof typeof ATTRIBUTES, value: string | Uint8Array, type: Type = 'utf8'): Buffer =>
  sequence(oid(ATTRIBUTES[name]), text(type, value));

/** A name with one attribute in each of its sets; a nested list is a set of several attributes. */
export const subject = (...parts: readonly (Buffer | readonly Buffer[])[]): Buffer =>
  sequence(...parts.map(part => (Buffer.isBuffer(part) ? set(part) : set(...part))));

/** An extension (RFC 5280, 4.2) with its contents. */
export const extension = (identifier: string, content: Uint8Array, critical = false): Buffer =>
  sequence(oid(identifier), ...(critical ? [der(0x01, Buffer.from([0xff]))] : []), der(0x04, content));

export const ALTERNATIVE_NAMES = '551d11';
export const EXTENDED_USAGE = '551d25';

/** An alternative name: the number of its type in a GeneralName, and its contents. */
export const alternative = (type: number, content: string | Uint8Array): Buffer =>
  der((type === 0 || type === 4 ? 0xa0 : 0x80) | type, Buffer.from(content as string));

export const alternatives = (...names: readonly Uint8Array[]): Buffer =>
  extension(ALTERNATIVE_NAMES, sequence(...names));

/** The attribute of a request that asks for extensions (RFC 2985, 5.4.2). */
export const asksFor = (...extensions: readonly Uint8Array[]): Buffer =>
  sequence(oid('2a864886f70d01090e'), set(sequence(...extensions)));

const ECDSA_SHA256 = sequence(oid('2a8648ce3d040302'));
/** A key pair for all tests that do not depend on the key. */
export const KEYS = generateKeyPairSync('ec', { namedCurve: 'P-256' });

/** The contents of a request; missing members have usual values. */
export interface Requested {
  readonly subject: Uint8Array;
  readonly attributes?: readonly Uint8Array[];
  readonly version?: Uint8Array;
  readonly algorithm?: Uint8Array;
  readonly hash?: string | null;
  readonly keys?: { readonly publicKey: KeyObject; readonly privateKey: KeyObject };
  readonly spki?: Uint8Array;
}

const bitString = (bytes: Uint8Array): Buffer => der(0x03, Buffer.from([0]), bytes);

/** A PKCS #10 request in DER, signed with its key. */
export function requestOf(wanted: Requested): Buffer {
  const { keys = KEYS, algorithm = ECDSA_SHA256, hash = 'sha256', version = der(0x02, Buffer.from([0])) } = wanted;
  const spki = wanted.spki ?? keys.publicKey.export({ type: 'spki', format: 'der' });
  const info = sequence(version, wanted.subject, spki, der(0xa0, ...(wanted.attributes ?? [])));
  return sequence(info, algorithm, bitString(sign(hash, info, keys.privateKey)));
}

/** The contents of a certificate. */
export interface Certified {
  readonly subject: Uint8Array;
  readonly issuer: { readonly name: Uint8Array; readonly key: KeyObject };
  readonly extensions?: readonly Uint8Array[];
  /** UTCTime, such as `350101000000Z`. */
  readonly notAfter?: string;
}

/** A certificate in DER for the key of `KEYS`. */
export function certificateOf({ subject, issuer, extensions = [], notAfter = '490101000000Z' }: Certified): Buffer {
  const time = (value: string) => der(0x17, Buffer.from(value));
  const info = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.concat([Buffer.from([1]), randomBytes(8)])),
    ECDSA_SHA256,
    issuer.name,
    sequence(time('200101000000Z'), time(notAfter)),
    subject,
    KEYS.publicKey.export({ type: 'spki', format: 'der' }),
    ...(extensions.length > 0 ? [der(0xa3, sequence(...extensions))] : []),
  );
  return sequence(info, ECDSA_SHA256, bitString(sign('sha256', info, issuer.key)));
}

/** A block of PEM. */
export function pem(bytes: Uint8Array, label = 'CERTIFICATE REQUEST', end = '\n'): string {
  const lines =
    Buffer.from(bytes)
      .toString('base64')
      .match(/.{1,64}/g) ?? [];
  return [`-----BEGIN ${label}-----`, ...lines, `-----END ${label}-----`, ''].join(end);
}

/** The certificate of a CA with this name, in PEM. */
export function caPem(name: string): string {
  const named = subject(attribute('CN', name));
  const basicConstraints = extension('551d13', sequence(der(0x01, Buffer.from([0xff]))), true);
  const issuer = { name: named, key: KEYS.privateKey };
  return pem(certificateOf({ subject: named, issuer, extensions: [basicConstraints] }), 'CERTIFICATE');
}
