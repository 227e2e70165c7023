import { createPrivateKey, KeyObject, webcrypto } from 'node:crypto';
import { isIP, isIPv6 } from 'node:net';
import 'reflect-metadata';
import {
  AuthorityKeyIdentifierExtension,
  BasicConstraintsExtension,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  type Extension,
  type JsonGeneralName,
  KeyUsageFlags,
  KeyUsagesExtension,
  Name,
  SubjectAlternativeNameExtension,
  SubjectKeyIdentifierExtension,
  X509Certificate,
  X509CertificateGenerator,
} from '@peculiar/x509';

/** Who a certificate names. */
export interface Subject {
  readonly commonName: string;
  readonly organization?: string;
}

/** What is to be signed. Times in milliseconds since the epoch. */
export interface CertificateRequest {
  readonly subject: Subject;
  readonly notBefore: number;
  readonly notAfter: number;
  readonly use: 'ca' | 'server' | 'client';
  /** DNS names and IP addresses of a server. */
  readonly sans?: readonly string[];
}

/** A certificate with its private key, both PEM. */
export interface Issued {
  readonly certificate: string;
  readonly key: string;
}

const KEY = { name: 'ECDSA', namedCurve: 'P-256' };
const EXTENDED = { server: ExtendedKeyUsage.serverAuth, client: ExtendedKeyUsage.clientAuth };

/** The parts of a name, always as UTF8String: the library's choice of type depends on the text. */
const nameOf = ({ organization, commonName }: Subject): Name =>
  new Name([
    ...(organization === undefined ? [] : [{ O: [{ utf8String: organization }] }]),
    { CN: [{ utf8String: commonName }] },
  ]);

/** An address in a form that the library reads: it misreads IPv6 with a dotted end. */
const plain = (address: string): string =>
  isIPv6(address) ? new URL(`http://[${address}]`).hostname.slice(1, -1) : address;

const alternative = (san: string): JsonGeneralName =>
  isIP(san) ? { type: 'ip', value: plain(san) } : { type: 'dns', value: san };

async function extensions(
  request: CertificateRequest,
  own: webcrypto.CryptoKey,
  issuer: webcrypto.CryptoKey,
): Promise<Extension[]> {
  const { use, sans = [] } = request;
  const usages = use === 'ca' ? KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign : KeyUsageFlags.digitalSignature;
  return [
    new KeyUsagesExtension(usages, true),
    new BasicConstraintsExtension(use === 'ca', undefined, true),
    await SubjectKeyIdentifierExtension.create(own),
    await AuthorityKeyIdentifierExtension.create(issuer),
    ...(use === 'ca' ? [] : [new ExtendedKeyUsageExtension([EXTENDED[use]])]),
    ...(sans.length === 0 ? [] : [new SubjectAlternativeNameExtension(sans.map(alternative))]),
  ];
}

/** An issuer's name, as the bytes in its certificate have it, and its keys. */
async function signerOf({ certificate, key }: Issued) {
  const read = new X509Certificate(certificate);
  const pkcs8 = createPrivateKey(key).export({ type: 'pkcs8', format: 'der' });
  const privateKey = await webcrypto.subtle.importKey('pkcs8', pkcs8, KEY, false, ['sign']);
  return { name: read.subjectName, privateKey, publicKey: await read.publicKey.export(KEY, ['verify']) };
}

/**
 * Makes a key pair on P-256 and a version 3 certificate for it (RFC 5280), signed with SHA-256 by `issuer`, or by
 * itself where there is none. The serial number is 128 random bits.
 */
export async function issue(request: CertificateRequest, issuer?: Issued): Promise<Issued> {
  const pair = await webcrypto.subtle.generateKey(KEY, true, ['sign', 'verify']);
  const name = nameOf(request.subject);
  const signer = issuer ? await signerOf(issuer) : { ...pair, name };
  const certificate = await X509CertificateGenerator.create({
    subject: name,
    issuer: signer.name,
    notBefore: new Date(request.notBefore),
    notAfter: new Date(request.notAfter),
    publicKey: pair.publicKey,
    signingKey: signer.privateKey,
    signingAlgorithm: { name: 'ECDSA', hash: 'SHA-256' },
    extensions: await extensions(request, pair.publicKey, signer.publicKey),
  });
  return {
    certificate: `${certificate.toString('pem')}\n`,
    // Of the forms of a key the one that names its algorithm: some clients of the kubeconfig take any other for RSA.
    key: KeyObject.from(pair.privateKey).export({ type: 'sec1', format: 'pem' }) as string,
  };
}
