import { createPrivateKey, webcrypto, X509Certificate as NodeCertificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import type { Extension, JsonGeneralName, X509Certificate } from '@peculiar/x509';
import { ConfigError } from '../../../core/api/index.js';
import type { SignerFiles } from './config.js';
import { readCertificateNames } from '../../../core/services/pki/certificateNames.js';
import type { RequestedCertificate } from '../../../core/services/pki/certificateRequest.js';

type Library = typeof import('@peculiar/x509');

let loading: Promise<Library> | undefined;
/** The library that makes certificates, loaded for the first one. */
const x509 = (): Promise<Library> => (loading ??= import('reflect-metadata').then(() => import('@peculiar/x509')));

/** Clients whose clock is behind by less than this accept a new certificate. */
const BACKDATE_MS = 5 * 60_000;
/** Lifetimes below this are not shortened by the backdating. */
const SHORT_MS = 8 * 3_600_000;

/** Key usages (RFC 5280, 4.2.1.3): the values of `KeyUsageFlags` of the library. */
const KEY_USAGES: ReadonlyMap<string, number> = new Map([
  ['signing', 1],
  ['digital signature', 1],
  ['content commitment', 2],
  ['key encipherment', 4],
  ['data encipherment', 8],
  ['key agreement', 16],
  ['cert sign', 32],
  ['crl sign', 64],
  ['encipher only', 128],
  ['decipher only', 256],
]);
/** Extended key usages (RFC 5280, 4.2.1.12). */
const EXTENDED_USAGES: ReadonlyMap<string, string> = new Map([
  ['any', '2.5.29.37.0'],
  ['server auth', '1.3.6.1.5.5.7.3.1'],
  ['client auth', '1.3.6.1.5.5.7.3.2'],
  ['code signing', '1.3.6.1.5.5.7.3.3'],
  ['email protection', '1.3.6.1.5.5.7.3.4'],
  ['s/mime', '1.3.6.1.5.5.7.3.4'],
  ['ipsec end system', '1.3.6.1.5.5.7.3.5'],
  ['ipsec tunnel', '1.3.6.1.5.5.7.3.6'],
  ['ipsec user', '1.3.6.1.5.5.7.3.7'],
  ['timestamping', '1.3.6.1.5.5.7.3.8'],
  ['ocsp signing', '1.3.6.1.5.5.7.3.9'],
  ['microsoft sgc', '1.3.6.1.4.1.311.10.3.3'],
  ['netscape sgc', '2.16.840.1.113730.4.1'],
]);

/** Curves of EC keys by the names that `node:crypto` has for them. */
const CURVES: ReadonlyMap<string | undefined, string> = new Map([
  ['prime256v1', 'P-256'],
  ['secp384r1', 'P-384'],
  ['secp521r1', 'P-521'],
]);

/** A CA that issues certificates. */
interface Authority {
  readonly certificate: X509Certificate;
  readonly key: webcrypto.CryptoKey;
  readonly notAfter: number;
}

/** The certificate to be issued. Times are in milliseconds. */
export interface Issue {
  readonly wanted: RequestedCertificate;
  readonly usages: readonly string[];
  readonly lifetimeMs: number;
  readonly now: number;
}

function readFile(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (thrown) {
    throw new ConfigError(file, `cannot be read: ${(thrown as NodeJS.ErrnoException).code}`);
  }
}

/** Checks the files of a CA, so that a server that could not sign does not start. Throws ConfigError. */
export function checkAuthority({ certFile, keyFile }: Omit<SignerFiles, 'signer'>): void {
  const pem = readFile(certFile);
  const keyPem = readFile(keyFile);
  let matches: boolean;
  try {
    matches = new NodeCertificate(pem).checkPrivateKey(createPrivateKey(keyPem));
  } catch {
    throw new ConfigError(certFile, `it or ${keyFile} cannot be parsed as PEM of a certificate and a private key`);
  }
  if (!matches) throw new ConfigError(certFile, `does not belong to the private key ${keyFile}`);
}

async function loadAuthority({ certFile, keyFile }: SignerFiles): Promise<Authority> {
  const pem = readFile(certFile);
  const key = createPrivateKey(readFile(keyFile));
  const { X509Certificate } = await x509();
  const certificate = new X509Certificate(pem);
  const algorithm =
    key.asymmetricKeyType === 'rsa'
      ? { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' }
      : { name: 'ECDSA', namedCurve: CURVES.get(key.asymmetricKeyDetails?.namedCurve) ?? 'P-256' };
  const pkcs8 = key.export({ type: 'pkcs8', format: 'der' });
  return {
    certificate,
    key: await webcrypto.subtle.importKey('pkcs8', pkcs8, algorithm, false, ['sign']),
    notAfter: certificate.notAfter.getTime(),
  };
}

/** The period in which a certificate is valid: never longer than that of its issuer. */
function validityOf({ lifetimeMs, now }: Issue, issuerEnds: number): { notBefore: Date; notAfter: Date } {
  const from = now - BACKDATE_MS;
  const until = lifetimeMs < SHORT_MS ? now + lifetimeMs : from + lifetimeMs;
  return { notBefore: new Date(from), notAfter: new Date(Math.min(until, issuerEnds)) };
}

/** A request for which no certificate can be issued, even after retries. */
export class Unsignable extends Error {}

/** Whether a certificate has the names that were read from its request. */
function hasNames(der: ArrayBuffer, wanted: RequestedCertificate): boolean {
  const { commonName, organizations, alternativeNames } = readCertificateNames(new Uint8Array(der));
  const read = { commonName, organizations, names: alternativeNames() };
  const { subject: _subject, publicKey: _publicKey, ...expected } = wanted;
  return isDeepStrictEqual(read, expected);
}

/** The extensions of a certificate. */
async function extensionsOf(
  library: Library,
  { wanted, usages }: Issue,
  { certificate }: Authority,
): Promise<Extension[]> {
  const keyUsages = usages.reduce((flags, usage) => flags | (KEY_USAGES.get(usage) ?? 0), 0);
  const extended = [...new Set(usages.flatMap(usage => EXTENDED_USAGES.get(usage) ?? []))];
  const names = wanted.names as readonly JsonGeneralName[];
  return [
    ...(keyUsages === 0 ? [] : [new library.KeyUsagesExtension(keyUsages, true)]),
    ...(extended.length === 0 ? [] : [new library.ExtendedKeyUsageExtension(extended)]),
    new library.BasicConstraintsExtension(false, undefined, true),
    await library.AuthorityKeyIdentifierExtension.create(certificate.publicKey),
    ...(names.length === 0 ? [] : [new library.SubjectAlternativeNameExtension([...names])]),
  ];
}

async function make(library: Library, issue: Issue, authority: Authority): Promise<X509Certificate> {
  const { certificate, key, notAfter } = authority;
  const { wanted } = issue;
  const issued = await library.X509CertificateGenerator.create({
    subject: new library.Name(wanted.subject),
    issuer: certificate.subjectName,
    ...validityOf(issue, notAfter),
    publicKey: wanted.publicKey,
    signingKey: key,
    signingAlgorithm: { ...key.algorithm, hash: 'SHA-256' },
    extensions: await extensionsOf(library, issue, authority),
  });
  if (!hasNames(issued.rawData, wanted))
    throw new Error('the names of the certificate would not be those of the request');
  return issued;
}

/** Issues certificates of one CA, whose files are read for each certificate: a new CA needs no restart. */
export class Issuer {
  constructor(readonly files: SignerFiles) {}

  /**
   * A certificate in PEM, or why the request cannot be signed. Throws Error if the request is not at fault: the CA
   * cannot be read.
   */
  async issue(issue: Issue): Promise<string | Unsignable> {
    const library = await x509();
    const authority = await loadAuthority(this.files);
    try {
      return `${(await make(library, issue, authority)).toString('pem')}\n`;
    } catch (thrown) {
      return new Unsignable((thrown as Error).message);
    }
  }
}
