import { createPrivateKey, X509Certificate } from 'node:crypto';
import { chmodSync, existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { isIP } from 'node:net';
import type { CertificateRequest, IssuedCertificate } from './certificate.js';

/* Certificates that are kept in files, and renewed when a server starts. */

const DAY = 24 * 60 * 60 * 1000;
/** Lifetimes of certificates. They are renewed when less than a third is left. */
const CA_LIFETIME = 3650 * DAY;
const LEAF_LIFETIME = 365 * DAY;
/** Backdating of `notBefore`, for clients whose clock is behind. */
const CLOCK_SKEW = 60 * 60 * 1000;

/** The paths of a certificate and its key, both in PEM. */
export interface CertificateFiles {
  readonly cert: string;
  readonly key: string;
}

/** Writes a file atomically. It never has other permissions than `mode`. */
export function writeFileAtomic(file: string, text: string, mode: number): void {
  const temporary = `${file}.${process.pid}.new`;
  writeFileSync(temporary, text, { mode });
  chmodSync(temporary, mode);
  renameSync(temporary, file);
}

interface ValidCertificate {
  readonly certificate: X509Certificate;
  readonly pem: string;
}

/** Loads a certificate. Returns undefined if it is missing, needs renewal or does not match its key. */
function loadIfValid(files: CertificateFiles, lifetime: number, now: number): ValidCertificate | undefined {
  if (!existsSync(files.cert) || !existsSync(files.key)) return undefined;
  try {
    const pem = readFileSync(files.cert, 'utf8');
    const certificate = new X509Certificate(pem);
    const renewAt = Date.parse(certificate.validTo) - lifetime / 3;
    const matches = certificate.checkPrivateKey(createPrivateKey(readFileSync(files.key, 'utf8')));
    return matches && now < renewAt && now >= Date.parse(certificate.validFrom) ? { certificate, pem } : undefined;
  } catch {
    return undefined;
  }
}

function save(files: CertificateFiles, issued: IssuedCertificate): void {
  writeFileAtomic(files.key, issued.key, 0o600);
  writeFileAtomic(files.cert, issued.certificate, 0o644);
}

const coversNames = (certificate: X509Certificate, names: readonly string[]): boolean =>
  names.every(name => (isIP(name) ? certificate.checkIP(name) : certificate.checkHost(name)) !== undefined);

/** Issues a certificate. The library is loaded only here, because most starts find valid certificates. */
async function issue(request: CertificateRequest, issuer?: IssuedCertificate): Promise<IssuedCertificate> {
  return (await import('./certificate.js')).issue(request, issuer);
}

/** The use of a certificate, and the names that it must have. */
type LeafRequest = Pick<CertificateRequest, 'subject' | 'use'> & { readonly sans: readonly string[] };

/** A CA whose key is in a file. */
export interface KeptCa {
  readonly pem: string;
  /** Ensures that there is a certificate of this CA that is valid and has the subject and the names. */
  ensure(files: CertificateFiles, request: LeafRequest): Promise<void>;
}

/** Loads the certificate of a CA, or creates it. `now` is in milliseconds since the epoch. */
export async function ensureCa(files: CertificateFiles, commonName: string, now: number): Promise<KeptCa> {
  const ca = loadIfValid(files, CA_LIFETIME, now) ?? (await issueCa(files, commonName, now));
  let known: IssuedCertificate | undefined;
  // A single object, so that its keys are read once.
  const issuer = (): IssuedCertificate => (known ??= { certificate: ca.pem, key: readFileSync(files.key, 'utf8') });
  return {
    pem: ca.pem,
    async ensure(leaf, request) {
      const found = loadIfValid(leaf, LEAF_LIFETIME, now)?.certificate;
      if (
        found?.verify(ca.certificate.publicKey) &&
        found.subject.includes(`CN=${request.subject.commonName}`) &&
        coversNames(found, request.sans)
      )
        return;
      const times = { notBefore: now - CLOCK_SKEW, notAfter: now + LEAF_LIFETIME };
      save(leaf, await issue({ ...request, ...times }, issuer()));
    },
  };
}

async function issueCa(files: CertificateFiles, commonName: string, now: number): Promise<ValidCertificate> {
  const issued = await issue({
    subject: { commonName },
    notBefore: now - CLOCK_SKEW,
    notAfter: now + CA_LIFETIME,
    use: 'ca',
  });
  save(files, issued);
  return { certificate: new X509Certificate(issued.certificate), pem: issued.certificate };
}
