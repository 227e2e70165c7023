import { issue, type IssuedCertificate } from '../../core/services/pki/certificate.js';

const DAY = 24 * 3_600_000;

/** A CA of a test. */
export interface TestAuthority extends IssuedCertificate {
  /** A certificate for a server with these hosts, or for a client without any. */
  issue(commonName: string, hosts?: readonly string[], organization?: string): Promise<IssuedCertificate>;
}

const period = (): { notBefore: number; notAfter: number } => ({
  notBefore: Date.now() - DAY,
  notAfter: Date.now() + DAY,
});

/** Makes a CA. With `isCa: false`, its certificate does not say that it is one. */
export async function authority(commonName: string, isCa = true): Promise<TestAuthority> {
  const own = await issue({ subject: { commonName }, ...period(), use: isCa ? 'ca' : 'client' });
  return {
    ...own,
    issue: (name, hosts, organization) =>
      issue(
        {
          subject: { commonName: name, ...(organization === undefined ? {} : { organization }) },
          ...period(),
          use: hosts ? 'server' : 'client',
          ...(hosts ? { sans: hosts } : {}),
        },
        own,
      ),
  };
}
