import { constants, createPublicKey, type KeyObject, verify, type VerifyKeyObjectInput } from 'node:crypto';
import { type Element, Malformed, oidOf } from './der.js';

/** An algorithm of signatures. `key`: the type of the key; `failure`: the message if another key has signed. */
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

/** Curves of keys for which certificates can be issued, by their names in Node.js. */
const CURVES = new Set(['secp224r1', 'prime256v1', 'secp384r1', 'secp521r1']);

function algorithmOf({ parts: [identifier, parameters, ...more] }: Element): Algorithm | undefined {
  const oid = oidOf(identifier);
  if (more.length > 0) throw new Malformed('asn1: syntax error: trailing data');
  if (oid !== PSS) return ALGORITHMS.get(oid);
  const text = Buffer.from(parameters?.bytes ?? []).toString('hex');
  const at = text.indexOf(SHA2);
  const hash = at < 0 ? undefined : SHA2_HASHES.get(text.slice(at + SHA2.length, at + SHA2.length + 2));
  return hash === undefined ? undefined : { ...rsa(hash), pss: true };
}

/** The first byte of a point with both coordinates (SEC 1, 2.3.3). */
const UNCOMPRESSED = 4;

function keyOf({ bytes: spki, parts }: Element): KeyObject {
  let key: KeyObject;
  try {
    key = createPublicKey({ key: Buffer.from(spki), format: 'der', type: 'spki' });
  } catch {
    throw new Malformed('x509: invalid public key');
  }
  if (key.asymmetricKeyType === 'ec' && !CURVES.has(key.asymmetricKeyDetails?.namedCurve ?? ''))
    throw new Malformed('x509: unsupported elliptic curve');
  // The first byte of a BIT STRING counts its unused bits.
  if (key.asymmetricKeyType === 'ec' && parts[1]?.contents[1] !== UNCOMPRESSED)
    throw new Malformed('x509: invalid public key');
  return key;
}

/** The parts of a PKCS #10 request: the signed bytes, the algorithm, and the signature. */
export interface Signed {
  readonly info: Element;
  readonly spki: Element;
  readonly algorithm: Element;
  readonly signature: Element;
}

/** Throws Malformed unless a request is signed with the key that it is for. */
export function verifyRequest({ info, spki, algorithm: identifier, signature }: Signed): void {
  const algorithm = algorithmOf(identifier);
  const key = keyOf(spki);
  if (algorithm?.key !== key.asymmetricKeyType)
    throw new Malformed('x509: cannot verify signature: algorithm unimplemented');
  const { hash, pss, failure } = algorithm!;
  const padding = { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_AUTO };
  const input: VerifyKeyObjectInput = pss ? { key, ...padding } : { key };
  // The first byte of a BIT STRING counts its unused bits: signatures have none.
  if (signature.contents[0] !== 0) throw new Malformed('asn1: syntax error: invalid padding bits in BIT STRING');
  if (!verify(hash, info.bytes, input, signature.contents.subarray(1))) throw new Malformed(failure);
}
