import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { ConfigError, type Host } from '../../core/api/index.js';
import { watchFiles } from '../../core/files/watchedFile.js';
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
 * The CAs of a PEM bundle, which is read again when its file changes: then `changed` is called. A bundle that cannot be
 * used is ignored; the main thread logs why (`core/server/access/certificates.ts`). Throws as `readAuthorities`.
 */
export class WatchedAuthorities {
  current: readonly X509Certificate[];

  constructor(file: string, { onClose }: Pick<Host, 'onClose'>, changed: () => void) {
    this.current = readAuthorities(file);
    const watch = watchFiles([file], () => {
      try {
        this.current = readAuthorities(file);
      } catch {
        return;
      }
      changed();
    });
    onClose(() => watch.close());
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
