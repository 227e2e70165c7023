import { X509Certificate } from 'node:crypto';
import {
  type Authenticator,
  authenticator,
  definePlugin,
  type Host,
  type Plugin,
  Refusal,
  type User,
} from '../../core/api/index.js';

/**
 * Extended key usages that let a certificate identify a client: clientAuth and anyExtendedKeyUsage (RFC 5280,
 * 4.2.1.12).
 */
const CLIENT_USAGES = ['1.3.6.1.5.5.7.3.2', '2.5.29.37.0'];
/** Parsed certificates in the cache: each takes about 1 KB, and a client uses one for many requests. */
const CACHED = 1024;

interface Parsed {
  /** Null for a certificate without a common name, which identifies nobody. */
  readonly user: User | null;
  readonly from: number;
  readonly until: number;
  readonly forClients: boolean;
}

const all = (value: string | string[] | undefined): readonly string[] =>
  value === undefined ? [] : Array.isArray(value) ? value : [value];

function read(pem: string, credentialId: string): Parsed {
  const certificate = new X509Certificate(pem);
  const subject = certificate.toLegacyObject().subject as { CN?: string | string[]; O?: string | string[] };
  const name = all(subject.CN).at(-1) ?? '';
  const fingerprint = `X509SHA256=${certificate.fingerprint256.replaceAll(':', '').toLowerCase()}`;
  const extra = new Map([[credentialId, [fingerprint]]]);
  const usages = certificate.keyUsage as readonly string[] | undefined;
  return {
    user: name ? Object.freeze({ name, uid: '', groups: [...all(subject.O)], extra }) : null,
    from: Date.parse(certificate.validFrom),
    until: Date.parse(certificate.validTo),
    forClients: !usages?.length || usages.some(usage => CLIENT_USAGES.includes(usage)),
  };
}

/**
 * Users of certificates that the TLS layer verified against the client CA: common name and organizations (spec,
 * "Authentication: methods"), and the certificate's fingerprint as the credential id among the extras, as upstream
 * since 1.32. Validity is checked at every call, since a connection may outlive its certificate.
 */
export function clientCertificates(host: Pick<Host, 'now' | 'naming'>): Authenticator {
  const credentialId = host.naming.label('authentication.orchestrator.io/credential-id');
  const known = new Map<string, Parsed>();
  const parsed = (pem: string): Parsed => {
    const found = known.get(pem);
    if (found) return found;
    if (known.size >= CACHED) known.delete(known.keys().next().value as string);
    const fresh = read(pem, credentialId);
    known.set(pem, fresh);
    return fresh;
  };
  return {
    cacheFor: 60_000,
    authenticate(request) {
      if (!request.certificate) return null;
      const { user, from, until, forClients } = parsed(request.certificate);
      const time = host.now();
      if (!forClients || time < from || time > until) throw new Refusal('Unauthorized', 'Unauthorized');
      return user;
    },
  };
}

/** Client certificates; active with `--client-ca-file`, which makes the listener ask for and verify them. */
export default definePlugin({
  name: 'client-certificate',
  parse: () => null,
  contribute: () => [authenticator.of(clientCertificates)],
}) satisfies Plugin<null>;
