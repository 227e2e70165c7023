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

/** The subject of a certificate. */
export interface Subject {
  readonly commonName: string;
  readonly organization?: string;
}

/** The contents of a certificate. Times are in milliseconds since the epoch. */
export interface CertificateRequest {
  readonly subject: Subject;
  readonly notBefore: number;
  readonly notAfter: number;
  readonly use: 'ca' | 'server' | 'client';
  /** DNS names and IP addresses of a server. */
  readonly sans?: readonly string[];
}

/** A certificate with its private key, both in PEM. */
export interface IssuedCertificate {
  readonly certificate: string;
  readonly key: string;
}

const KEY = { name: 'ECDSA', namedCurve: 'P-256' };
const EXTENDED_KEY_USAGE = { server: ExtendedKeyUsage.serverAuth, client: ExtendedKeyUsage.clientAuth };

/** A distinguished name. All parts are UTF8Strings; by default, the library chooses a type depending on the text. */
const nameOf = ({ organization, commonName }: Subject): Name =>
  new Name([
    ...(organization === undefined ? [] : [{ O: [{ utf8String: organization }] }]),
    { CN: [{ utf8String: commonName }] },
  ]);

/** An IP address in the form that the library parses correctly: IPv6 without an embedded IPv4 address. */
const canonicalIp = (address: string): string =>
  isIPv6(address) ? new URL(`http://[${address}]`).hostname.slice(1, -1) : address;

const subjectAltName = (san: string): JsonGeneralName =>
  isIP(san) ? { type: 'ip', value: canonicalIp(san) } : { type: 'dns', value: san };

async function extensions(
  request: CertificateRequest,
  subjectKey: webcrypto.CryptoKey,
  issuer: webcrypto.CryptoKey,
): Promise<Extension[]> {
  const { use, sans = [] } = request;
  const usages = use === 'ca' ? KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign : KeyUsageFlags.digitalSignature;
  return [
    new KeyUsagesExtension(usages, true),
    new BasicConstraintsExtension(use === 'ca', undefined, true),
    await SubjectKeyIdentifierExtension.create(subjectKey),
    await AuthorityKeyIdentifierExtension.create(issuer),
    ...(use === 'ca' ? [] : [new ExtendedKeyUsageExtension([EXTENDED_KEY_USAGE[use]])]),
    ...(sans.length === 0 ? [] : [new SubjectAlternativeNameExtension(sans.map(subjectAltName))]),
  ];
}

/** Cached signers by their certificates: reading one takes a third of the time of issuing a certificate. */
const signers = new WeakMap<IssuedCertificate, ReturnType<typeof readSigner>>();

/** The name and the keys of an issuer, which are read once per object. */
function signerOf(issuer: IssuedCertificate): ReturnType<typeof readSigner> {
  const known = signers.get(issuer) ?? readSigner(issuer);
  signers.set(issuer, known);
  return known;
}

async function readSigner({ certificate, key }: IssuedCertificate) {
  const issuer = new X509Certificate(certificate);
  const pkcs8 = createPrivateKey(key).export({ type: 'pkcs8', format: 'der' });
  const privateKey = await webcrypto.subtle.importKey('pkcs8', pkcs8, KEY, false, ['sign']);
  return { name: issuer.subjectName, privateKey, publicKey: await issuer.publicKey.export(KEY, ['verify']) };
}

/**
 * Generates a P-256 key pair and an X.509 version 3 certificate (RFC 5280), signed with SHA-256 by `issuer`, or
 * self-signed without one. The serial number is 128 random bits.
 */
export async function issue(request: CertificateRequest, issuer?: IssuedCertificate): Promise<IssuedCertificate> {
  const keys = await webcrypto.subtle.generateKey(KEY, true, ['sign', 'verify']);
  const name = nameOf(request.subject);
  const signer = issuer ? await signerOf(issuer) : { ...keys, name };
  const certificate = await X509CertificateGenerator.create({
    subject: name,
    issuer: signer.name,
    notBefore: new Date(request.notBefore),
    notAfter: new Date(request.notAfter),
    publicKey: keys.publicKey,
    signingKey: signer.privateKey,
    signingAlgorithm: { name: 'ECDSA', hash: 'SHA-256' },
    extensions: await extensions(request, keys.publicKey, signer.publicKey),
  });
  return {
    certificate: `${certificate.toString('pem')}\n`,
    // SEC 1 names the algorithm of the key. Some clients assume that any other format holds an RSA key.
    key: KeyObject.from(keys.privateKey).export({ type: 'sec1', format: 'pem' }) as string,
  };
}
