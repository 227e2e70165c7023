import { X509Certificate } from 'node:crypto';
import {
  type Authenticator,
  authenticator,
  definePlugin,
  type Host,
  type Plugin,
  type User,
} from '../../core/api/index.js';
import { Malformed, readCertificateNames } from '../../core/services/pki/certificateNames.js';
import { isIssuedBy, WatchedAuthorities } from './authorities.js';
import { unauthorized } from '../../core/model/wellKnown/senders.js';

/**
 * Extended key usages that allow a certificate to identify a client: clientAuth and anyExtendedKeyUsage (RFC 5280,
 * 4.2.1.12).
 */
const CLIENT_USAGES = ['1.3.6.1.5.5.7.3.2', '2.5.29.37.0'];
/** How long an identity is cached, in milliseconds, unless the certificate ends earlier. */
const CACHED_MS = 60_000;
/** The number of parsed certificates in the cache. Each takes about 1 KB, and a client uses one for many requests. */
const CACHED = 1024;

interface Parsed {
  /** The user of a certificate; null for one without a common name. */
  readonly user: User | null;
  readonly from: number;
  readonly until: number;
  readonly forClients: boolean;
}

/** The settings of the plugin, which the server generates. */
export interface ClientCertificateConfig {
  /**
   * The CAs of clients, in PEM, if the listener also accepts certificates of others: one of these CAs must have issued
   * a certificate. Absent: all certificates that the listener accepts are of clients.
   */
  readonly clientCaFile?: string;
}

/** Reads a certificate. Throws Malformed if it has names that cannot be read with certainty. */
function read(pem: string, credentialId: string, authorities: readonly X509Certificate[] | undefined): Parsed {
  const certificate = new X509Certificate(pem);
  if (authorities && !isIssuedBy(certificate, authorities)) return REFUSED;
  const { commonName: name, organizations } = readCertificateNames(certificate.raw);
  const fingerprint = `X509SHA256=${certificate.fingerprint256.replaceAll(':', '').toLowerCase()}`;
  const extra = new Map([[credentialId, [fingerprint]]]);
  const usages = certificate.keyUsage as readonly string[] | undefined;
  return {
    user: name ? Object.freeze({ name, uid: '', groups: [...organizations], extra }) : null,
    from: Date.parse(certificate.validFrom),
    until: Date.parse(certificate.validTo),
    forClients: !usages?.length || usages.some(usage => CLIENT_USAGES.includes(usage)),
  };
}

/** A certificate that identifies nobody. */
const REFUSED: Parsed = { user: null, from: 0, until: 0, forClients: false };

function readOrRefuse(pem: string, credentialId: string, authorities?: readonly X509Certificate[]): Parsed {
  try {
    return read(pem, credentialId, authorities);
  } catch (thrown) {
    if (thrown instanceof Malformed) return REFUSED;
    throw thrown;
  }
}

/**
 * Authenticates clients by certificates that the TLS layer verified against the client CA (spec, "Authentication:
 * methods"): common name and organizations are user and groups, and the fingerprint of the certificate is the
 * credential id among the extras, which upstream sets since 1.32. The validity is checked by every call, because a
 * connection may last longer than its certificate. A certificate that the listener did not accept is refused.
 */
export function clientCertificates(
  host: Pick<Host, 'now' | 'naming' | 'onClose'>,
  { clientCaFile }: ClientCertificateConfig = {},
): Authenticator {
  const credentialId = host.naming.label('authentication.orchestrator.io/credential-id');
  const known = new Map<string, Parsed>();
  const authorities =
    clientCaFile === undefined ? undefined : new WatchedAuthorities(clientCaFile, host, () => known.clear());
  const parseCached = (pem: string): Parsed => {
    const found = known.get(pem);
    if (found) return found;
    if (known.size >= CACHED) known.delete(known.keys().next().value as string);
    const fresh = readOrRefuse(pem, credentialId, authorities?.current);
    known.set(pem, fresh);
    return fresh;
  };
  return {
    cacheFor: CACHED_MS,
    authenticate(request) {
      if (request.hasInvalidCertificate) throw unauthorized();
      if (!request.certificate) return null;
      const { user, from, until, forClients } = parseCached(request.certificate);
      const time = host.now();
      if (!forClients || time < from || time > until) throw unauthorized();
      const left = until - time;
      return user && left < CACHED_MS ? { user, cacheFor: left } : user;
    },
  };
}

/**
 * Authentication by client certificates. It is active with `--client-ca-file`, with which the listener requests and
 * verifies them.
 */
export default definePlugin({
  name: 'client-certificate',
  parse: config => (config ?? {}) as ClientCertificateConfig,
  contribute: config => [authenticator.of(host => clientCertificates(host, config))],
}) satisfies Plugin<ClientCertificateConfig>;
