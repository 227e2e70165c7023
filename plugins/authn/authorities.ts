import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { ConfigError } from '../../core/api/index.js';
import { certificatesIn } from '../../core/model/text/certificateBundle.js';

/** The certificates of a PEM bundle. Throws ConfigError, which names the file, if there are none. */
export function readAuthorities(file: string): readonly X509Certificate[] {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw new ConfigError(file, `cannot be read: ${(error as NodeJS.ErrnoException).code}`);
  }
  const blocks = certificatesIn(text);
  if (blocks.length === 0) throw new ConfigError(file, 'holds no certificate in PEM');
  try {
    return blocks.map(block => new X509Certificate(block));
  } catch {
    throw new ConfigError(file, 'holds a certificate that cannot be parsed');
  }
}

/**
 * Whether a certificate was issued directly by one of these CAs, or is one of them: an intermediate CA must be in the
 * bundle. The handshake has verified that a CA known to the server has issued the certificate, but not which one.
 */
export const isIssuedBy = (certificate: X509Certificate, authorities: readonly X509Certificate[]): boolean =>
  authorities.some(
    ca =>
      ca.fingerprint256 === certificate.fingerprint256 ||
      (ca.ca && certificate.checkIssued(ca) && certificate.verify(ca.publicKey)),
  );
