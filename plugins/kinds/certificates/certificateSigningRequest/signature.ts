import { constants, createPublicKey, type KeyObject, verify, type VerifyKeyObjectInput } from 'node:crypto';

/** One element of DER: where its header, its contents and what follows it begin. */
interface Element {
  readonly tag: number;
  readonly start: number;
  readonly from: number;
  readonly to: number;
}

const INTEGER = 0x02;
const BIT_STRING = 0x03;
const SEQUENCE = 0x30;
/** The attributes of a request: context-specific, constructed, number 0. */
const ATTRIBUTES = 0xa0;

class Malformed extends Error {}

/** Reads the length of an element whose header begins at `start`: the length, and where the contents begin. */
function readLength(der: Buffer, start: number, end: number): readonly [number, number] {
  const first = der[start + 1]!;
  const from = start + 2;
  if (first < 0x80) return [first, from];
  if (first === 0x80) throw new Malformed('asn1: syntax error: indefinite length found (not DER)');
  const bytes = first & 0x7f;
  if (bytes > 4) throw new Malformed('asn1: structure error: length too large');
  if (from + bytes > end) throw new Malformed('asn1: syntax error: truncated tag or length');
  const length = der.readUIntBE(from, bytes);
  if (length < 0x80 || der[from] === 0) throw new Malformed('asn1: structure error: non-minimal length');
  return [length, from + bytes];
}

/** The element at `start`, which must have the tag. Throws Malformed. */
function read(der: Buffer, start: number, end: number, tag: number): Element {
  if (start + 2 > end) throw new Malformed('asn1: syntax error: sequence truncated');
  const [length, from] = readLength(der, start, end);
  if (from + length > end) throw new Malformed('asn1: syntax error: data truncated');
  if (der[start] !== tag) throw new Malformed("asn1: structure error: tags don't match");
  return { tag, start, from, to: from + length };
}

/** The elements with these tags, which follow each other and fill the space. Throws Malformed. */
function readAll(der: Buffer, from: number, to: number, tags: readonly number[]): Element[] {
  const found: Element[] = [];
  let at = from;
  for (const tag of tags) {
    const element = read(der, at, to, tag);
    found.push(element);
    at = element.to;
  }
  if (at !== to) throw new Malformed('asn1: syntax error: trailing data');
  return found;
}

/** How a signature is verified. `key` is the type of the key, and `failure` what is said of a signature of others. */
interface Algorithm {
  readonly key: 'rsa' | 'ec' | 'ed25519';
  readonly hash: string | null;
  readonly failure: string;
  readonly pss?: true;
}

const rsa = (hash: string): Algorithm => ({ key: 'rsa', hash, failure: 'crypto/rsa: verification error' });
const ecdsa = (hash: string): Algorithm => ({ key: 'ec', hash, failure: 'x509: ECDSA verification failure' });

/** Algorithms by their object identifier in DER, in hexadecimal (RFC 3279, 4055, 5758 and 8410). */
const ALGORITHMS: ReadonlyMap<string, Algorithm> = new Map([
  ['2a864886f70d010105', rsa('sha1')],
  ['2a864886f70d01010b', rsa('sha256')],
  ['2a864886f70d01010c', rsa('sha384')],
  ['2a864886f70d01010d', rsa('sha512')],
  ['2a8648ce3d0401', ecdsa('sha1')],
  ['2a8648ce3d040302', ecdsa('sha256')],
  ['2a8648ce3d040303', ecdsa('sha384')],
  ['2a8648ce3d040304', ecdsa('sha512')],
  ['2b6570', { key: 'ed25519', hash: null, failure: 'x509: Ed25519 verification failure' }],
]);
const PSS = '2a864886f70d01010a';
/** The beginning of the identifiers of SHA-256, SHA-384 and SHA-512, and the hashes by the byte that follows. */
const SHA2 = '6086480165030402';
const SHA2_HASHES: ReadonlyMap<string, string> = new Map([
  ['01', 'sha256'],
  ['02', 'sha384'],
  ['03', 'sha512'],
]);

const OBJECT_IDENTIFIER = 0x06;

function algorithmOf(der: Buffer, { from, to }: Element): Algorithm | undefined {
  const identifier = read(der, from, to, OBJECT_IDENTIFIER);
  const oid = der.toString('hex', identifier.from, identifier.to);
  if (identifier.to < to) readAll(der, identifier.to, to, [der[identifier.to]!]);
  if (oid !== PSS) return ALGORITHMS.get(oid);
  const parameters = der.toString('hex', identifier.to, to);
  const at = parameters.indexOf(SHA2);
  const hash = at < 0 ? undefined : SHA2_HASHES.get(parameters.slice(at + SHA2.length, at + SHA2.length + 2));
  return hash === undefined ? undefined : { ...rsa(hash), pss: true };
}

function keyOf(der: Buffer): KeyObject {
  try {
    return createPublicKey({ key: der, format: 'der', type: 'spki' });
  } catch {
    throw new Malformed('x509: invalid public key');
  }
}

function check(der: Buffer): string | undefined {
  const [whole] = readAll(der, 0, der.length, [SEQUENCE]) as [Element];
  const [info, identifier, signature] = readAll(der, whole.from, whole.to, [SEQUENCE, SEQUENCE, BIT_STRING]) as [
    Element,
    Element,
    Element,
  ];
  const parts = readAll(der, info.from, info.to, [INTEGER, SEQUENCE, SEQUENCE, ATTRIBUTES]);
  const spki = parts[2]!;
  const algorithm = algorithmOf(der, identifier);
  const key = keyOf(der.subarray(spki.start, spki.to));
  if (algorithm?.key !== key.asymmetricKeyType) return 'x509: cannot verify signature: algorithm unimplemented';
  const { hash, pss, failure } = algorithm!;
  const padding = { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_AUTO };
  const input: VerifyKeyObjectInput = pss ? { key, ...padding } : { key };
  // The first byte of a BIT STRING counts its unused bits: signatures have none.
  if (der[signature.from] !== 0) throw new Malformed('asn1: syntax error: invalid padding bits in BIT STRING');
  const bytes = der.subarray(signature.from + 1, signature.to);
  return verify(hash, der.subarray(info.start, info.to), input, bytes) ? undefined : failure;
}

/**
 * Says why a PKCS #10 request (RFC 2986) in DER is not one, or is not signed with the key that it is for; undefined for
 * a good one. It is synchronous, so that validations can use it, and parses only what the signature needs.
 */
export function requestComplaint(der: Buffer): string | undefined {
  try {
    return check(der);
  } catch (error) {
    if (error instanceof Malformed) return error.message;
    throw error;
  }
}
