import { X509Certificate } from 'node:crypto';
import { expectTag, Malformed, parseDer, partsOf, TAG } from './der.js';
import { readDistinguishedName, type SubjectNames } from './distinguishedName.js';
import { type AlternativeName, readAlternativeNames, readExtensions } from './extensions.js';

export { Malformed } from './der.js';
export { type PemBlock, pemBlocks } from './pem.js';

/** The version and the extensions of a certificate: context-specific, constructed, numbers 0 and 3. */
const VERSION = 0xa0;
const EXTENSIONS = 0xa3;
/** The fields before the subject, except the version: serial number, algorithm, issuer and validity. */
const BEFORE_SUBJECT = [TAG.integer, TAG.sequence, TAG.sequence, TAG.sequence] as const;

/** The names in a certificate. */
export interface CertificateNames extends SubjectNames {
  /** The alternative names. Throws Malformed. */
  readonly alternativeNames: () => readonly AlternativeName[];
}

/** Reads a certificate in DER. Throws Malformed unless its names can be read here, and the rest by Node.js. */
export function readCertificate(der: Uint8Array): X509Certificate {
  try {
    readCertificateNames(der);
    return new X509Certificate(der);
  } catch (thrown) {
    // If it is not DER, upstream's message has no details.
    if (thrown instanceof Malformed && thrown.message.startsWith('x509: ')) throw thrown;
    throw new Malformed('x509: malformed certificate');
  }
}

/** Reads the names in a certificate in DER (RFC 5280, 4.1). Throws Malformed. */
export function readCertificateNames(der: Uint8Array): CertificateNames {
  const [info] = partsOf(expectTag(parseDer(der), TAG.sequence), TAG.sequence, TAG.sequence, TAG.bits);
  const parts = info!.parts.slice(info!.parts[0]?.tag === VERSION ? 1 : 0);
  for (const [index, tag] of BEFORE_SUBJECT.entries()) expectTag(parts[index], tag);
  const subject = expectTag(parts[BEFORE_SUBJECT.length], TAG.sequence);
  const found = parts.filter(({ tag }) => tag === EXTENSIONS);
  const duplicates = 'x509: certificate contains duplicate extensions';
  if (found.length > 1) throw new Malformed(duplicates);
  const extensions = found[0] ? readExtensions(partsOf(found[0], TAG.sequence)[0]!, duplicates) : new Map();
  return { ...readDistinguishedName(subject), alternativeNames: () => readAlternativeNames(extensions) };
}
