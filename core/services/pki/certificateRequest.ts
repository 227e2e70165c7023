import { CERTIFICATE_REQUEST_BYTES } from '../../limits.js';
import { type Element, expectTag, Malformed, oidOf, parseDer, partsOf, TAG } from './der.js';
import { readDistinguishedName, type SubjectNames } from './distinguishedName.js';
import { type AlternativeName, type Extensions, readAlternativeNames, readExtensions } from './extensions.js';
import { readRequestPem } from './pem.js';
import { verifyRequest } from './requestSignature.js';

export { Malformed } from './der.js';
export type { AlternativeName } from './extensions.js';

/** The attributes of a request: context-specific, constructed, number 0. */
const ATTRIBUTES = 0xa0;
/** The attribute with the requested extensions (RFC 2985, 5.4.2). */
const EXTENSION_REQUEST = '2a864886f70d01090e';
const DUPLICATES = 'x509: certificate request contains duplicate requested extensions';

/** The content of a PKCS #10 request (RFC 2986) that determines who may get a certificate, and for which uses. */
export interface RequestedCertificate extends SubjectNames {
  /** The subject and the public key in DER. */
  readonly subject: Uint8Array;
  readonly publicKey: Uint8Array;
  readonly names: readonly AlternativeName[];
}

function requestedExtensions(attributes: Element): Extensions {
  const found = attributes.parts.filter(attribute => {
    const [type] = partsOf(expectTag(attribute, TAG.sequence), TAG.oid, TAG.set);
    return oidOf(type) === EXTENSION_REQUEST;
  });
  if (found.length > 1) throw new Malformed(DUPLICATES);
  if (!found[0]) return new Map();
  const [extensions] = partsOf(found[0].parts[1]!, TAG.sequence);
  return readExtensions(extensions!, DUPLICATES);
}

function readRequest(der: Uint8Array): RequestedCertificate {
  const whole = expectTag(parseDer(der), TAG.sequence);
  const [info, algorithm, signature] = partsOf(whole, TAG.sequence, TAG.sequence, TAG.bits);
  const [version, subject, spki, attributes] = partsOf(info!, TAG.integer, TAG.sequence, TAG.sequence, ATTRIBUTES);
  if (version!.contents.length !== 1) throw new Malformed('asn1: structure error: invalid version');
  const names = readAlternativeNames(requestedExtensions(attributes!));
  const read = { ...readDistinguishedName(subject!), subject: subject!.bytes, publicKey: spki!.bytes, names };
  verifyRequest({ info: info!, spki: spki!, algorithm: algorithm!, signature: signature! });
  return read;
}

/**
 * Parses the request of a CertificateSigningRequest, PEM in base64, and verifies that it is signed with the key that it
 * is for. All parts of the server that examine a request use this function, so that none of them sees a subject other
 * than the one that is signed. Throws Malformed, whose message says why the request is refused.
 */
export function parseCertificateRequest(base64: string): RequestedCertificate {
  const pem = Buffer.from(base64, 'base64');
  if (pem.length > CERTIFICATE_REQUEST_BYTES)
    throw new Malformed(`must have at most ${CERTIFICATE_REQUEST_BYTES} bytes`);
  return readRequest(readRequestPem(pem.toString('latin1')));
}
