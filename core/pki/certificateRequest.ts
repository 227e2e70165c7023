import type { JsonGeneralName, JsonName, Pkcs10CertificateRequest } from '@peculiar/x509';

let loading: Promise<typeof import('@peculiar/x509')> | undefined;

/** The library for certificates, loaded on first use: most servers never need it after their start. */
export const x509 = (): Promise<typeof import('@peculiar/x509')> =>
  (loading ??= import('reflect-metadata').then(() => import('@peculiar/x509')));

/** What decides who may have a certificate: the contents of a PKCS #10 request (RFC 2986). */
export interface RequestedCertificate {
  readonly request: Pkcs10CertificateRequest;
  /** '' if the subject has none. */
  readonly commonName: string;
  readonly organizations: readonly string[];
  /** Alternative names by type: `dns`, `ip`, `email`, `url`. */
  readonly names: readonly JsonGeneralName[];
}

const valuesIn = (subject: JsonName, type: string): string[] =>
  subject.flatMap(part => part[type] ?? []).map(value => (typeof value === 'string' ? value : ''));

/**
 * Parses the request of a CertificateSigningRequest, which is PEM in base64. All parts of the server that look at a
 * request parse it here, so that none sees another subject than the one that is signed. Throws an Error that says why
 * it cannot be parsed.
 */
export async function parseCertificateRequest(base64: string): Promise<RequestedCertificate> {
  const { Pkcs10CertificateRequest, SubjectAlternativeNameExtension } = await x509();
  const request = new Pkcs10CertificateRequest(Buffer.from(base64, 'base64').toString('latin1'));
  const subject = request.subjectName.toJSON();
  const alternative = request.extensions.find(one => one instanceof SubjectAlternativeNameExtension);
  return {
    request,
    // The last one counts, as for the authentication by certificates.
    commonName: valuesIn(subject, 'CN').at(-1) ?? '',
    organizations: valuesIn(subject, 'O'),
    names: alternative instanceof SubjectAlternativeNameExtension ? alternative.names.toJSON() : [],
  };
}
