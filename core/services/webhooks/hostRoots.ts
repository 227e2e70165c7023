import { existsSync, readFileSync } from 'node:fs';
import * as tls from 'node:tls';
import { certificatesIn } from '../../model/text/certificateBundle.js';

/** The places where operating systems keep their bundle of CA certificates. */
const BUNDLES = [
  '/etc/ssl/certs/ca-certificates.crt',
  '/etc/pki/tls/certs/ca-bundle.crt',
  '/etc/ssl/ca-bundle.pem',
  '/etc/ssl/cert.pem',
];

function fromFile(): readonly string[] {
  const file = process.env['SSL_CERT_FILE'] ?? BUNDLES.find(existsSync);
  try {
    return file === undefined ? [] : certificatesIn(readFileSync(file, 'utf8'));
  } catch {
    return [];
  }
}

let roots: readonly string[] | undefined;

/** The CA certificates that the host trusts, in PEM; if it has none, those that come with Node.js. Read once. */
export function hostRoots(): readonly string[] {
  if (roots) return roots;
  const { getCACertificates } = tls as { getCACertificates?: (type: 'system') => readonly string[] };
  const own = process.env['SSL_CERT_FILE'] === undefined ? getCACertificates?.('system') : undefined;
  const found = own?.length ? own : fromFile();
  return (roots = found.length > 0 ? found : tls.rootCertificates);
}
