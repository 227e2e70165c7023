import { X509Certificate } from 'node:crypto';
import { certificatesIn } from '../../core/model/text/certificateBundle.js';

/** The certificate that a client sent: one that is valid, one that is not, or none. */
export interface ClientCertificate {
  readonly certificate: string | undefined;
  readonly isInvalid: boolean;
}

const NONE: ClientCertificate = { certificate: undefined, isInvalid: false };
const INVALID: ClientCertificate = { certificate: undefined, isInvalid: true };

/** Checks the certificate of a client; '' stands for none. Without `verified`, clients are not asked for one. */
export function checkCertificate(verified: ClientVerifier | undefined, read: () => string): ClientCertificate {
  const certificate = verified ? read() : '';
  if (!verified || certificate === '') return NONE;
  return verified(certificate) ? { certificate, isInvalid: false } : INVALID;
}

/** Extended key usage of client certificates (RFC 5280, 4.2.1.12), and "any". */
const CLIENT_USES = new Set(['1.3.6.1.5.5.7.3.2', '2.5.29.37.0']);
/** Maximum number of cached certificates. With more clients than this, some are verified again. */
const REMEMBERED = 10_000;

interface Verdict {
  readonly from: number;
  readonly until: number;
}

const NEVER: Verdict = { from: 0, until: -1 };

/** The certificates of a PEM bundle. */
const certificatesOf = (bundle: string): X509Certificate[] =>
  certificatesIn(bundle).map(block => new X509Certificate(block));

function verdictOn(pem: string, authorities: readonly X509Certificate[], isChainKnown: boolean): Verdict {
  try {
    const leaf = new X509Certificate(pem);
    const uses = leaf.keyUsage as readonly string[] | undefined;
    if (uses && !uses.some(use => CLIENT_USES.has(use))) return NEVER;
    const found = authorities.find(ca => ca.ca && leaf.checkIssued(ca) && leaf.verify(ca.publicKey));
    if (!found && !isChainKnown) return NEVER;
    const issuer = found ?? leaf;
    return {
      from: Math.max(Date.parse(leaf.validFrom), Date.parse(issuer.validFrom)),
      until: Math.min(Date.parse(leaf.validTo), Date.parse(issuer.validTo)),
    };
  } catch {
    return NEVER;
  }
}

/** Decides whether the certificate of a client, in PEM, is valid now. */
export type ClientVerifier = (pem: string) => boolean;

/**
 * Decides whether a client's certificate is for client use and valid now, and whether its issuer is valid now, if that
 * is one of the bundle's CAs. The handshake has verified the chain, which may have CAs between the two; it does not see
 * that certificates expire while their connection is open. For connections whose handshake was with another bundle,
 * `isChainKnown` is false: then one of the CAs must have issued the certificate itself, as the chain is not known.
 */
export function clientVerifier(bundle: string, now: () => number, isChainKnown = true): ClientVerifier {
  const authorities = certificatesOf(bundle);
  const verdicts = new Map<string, Verdict>();
  return pem => {
    let verdict = verdicts.get(pem);
    if (!verdict) {
      if (verdicts.size >= REMEMBERED) verdicts.clear();
      verdict = verdictOn(pem, authorities, isChainKnown);
      verdicts.set(pem, verdict);
    }
    const at = now();
    return verdict.from <= at && at <= verdict.until;
  };
}
