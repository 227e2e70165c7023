import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';

/** A block of a PEM file (RFC 7468). */
interface Block {
  readonly label: string;
  readonly pem: string;
}

const BEGIN = /^-----BEGIN ([^\n-]{1,64})-----\r?\n/;

/** The blocks of a text with any content, found in one pass. */
function blocksOf(pem: string): Block[] {
  const blocks: Block[] = [];
  let at = 0;
  for (;;) {
    const begin = pem.indexOf('-----BEGIN ', at);
    const end = begin < 0 ? -1 : pem.indexOf('-----END ', begin);
    if (end < 0) return blocks;
    const label = BEGIN.exec(pem.slice(begin, Math.min(end, begin + 100)))?.[1];
    const last = `-----END ${label}-----`;
    at = end + last.length;
    if (label && pem.startsWith(last, end)) blocks.push({ label, pem: pem.slice(begin, at) });
  }
}

const isKey = ({ label }: Block): boolean => label === 'PRIVATE KEY' || label.endsWith(' PRIVATE KEY');

const skippedText = (blocks: readonly Block[]): string =>
  `after skipping PEM blocks of the following types: [${blocks.map(({ label }) => label).join(' ')}]`;

function noCertificateText(blocks: readonly Block[]): string {
  if (blocks.length === 0) return 'tls: failed to find any PEM data in certificate input';
  return blocks.length === 1 && isKey(blocks[0]!)
    ? 'tls: failed to find certificate PEM data in certificate input, but did find a private key; PEM inputs may have been switched'
    : `tls: failed to find "CERTIFICATE" PEM block in certificate input ${skippedText(blocks)}`;
}

function noKeyText(blocks: readonly Block[]): string {
  if (blocks.length === 0) return 'tls: failed to find any PEM data in key input';
  return blocks.length === 1 && blocks[0]!.label === 'CERTIFICATE'
    ? 'tls: found a certificate rather than a key in the PEM for the private key'
    : `tls: failed to find PEM block with type ending in "PRIVATE KEY" in key input ${skippedText(blocks)}`;
}

const tryRead = <T>(make: () => T): T | undefined => {
  try {
    return make();
  } catch {
    return undefined;
  }
};

/**
 * Returns why a certificate and a private key, both in PEM, do not match, in the words of Go's library; undefined if
 * they match.
 */
export function keyPairProblem(certificate: string, key: string): string | undefined {
  const [certificates, keys] = [blocksOf(certificate), blocksOf(key)];
  const first = certificates.find(({ label }) => label === 'CERTIFICATE');
  if (!first) return noCertificateText(certificates);
  const secret = keys.find(isKey);
  if (!secret) return noKeyText(keys);
  const issued = tryRead(() => new X509Certificate(first.pem));
  if (!issued) return 'x509: malformed certificate';
  const own: KeyObject | undefined = tryRead(() => createPrivateKey(secret.pem));
  if (!own) return 'tls: failed to parse private key';
  if (own.asymmetricKeyType !== issued.publicKey.asymmetricKeyType)
    return 'tls: private key type does not match public key type';
  return issued.checkPrivateKey(own) ? undefined : 'tls: private key does not match public key';
}
