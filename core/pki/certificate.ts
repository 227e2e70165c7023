import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import { isIP, isIPv6 } from 'node:net';
import { bits, boolean, integer, octets, oid, pem, sequence, set, tagged, time, utf8 } from './der.js';

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

/** A certificate with its private key, and what is needed to sign others with it. */
export interface Issued {
  readonly certificate: string;
  readonly key: string;
  readonly signer: Signer;
}

/** The issuing side of a CA. */
export interface Signer {
  readonly key: KeyObject;
  /** Whole subject of the issuer, DER. */
  readonly name: Uint8Array;
  readonly keyId: Uint8Array;
}

const ECDSA_SHA256 = sequence(oid('1.2.840.10045.4.3.2'));
const KEY_USAGE = { ca: [0x06, 1], server: [0x80, 7], client: [0x80, 7] } as const;
const EXTENDED = { server: '1.3.6.1.5.5.7.3.1', client: '1.3.6.1.5.5.7.3.2' } as const;

const nameOf = (subject: Subject): Buffer =>
  sequence(
    ...(subject.organization === undefined ? [] : [set(sequence(oid('2.5.4.10'), utf8(subject.organization)))]),
    set(sequence(oid('2.5.4.3'), utf8(subject.commonName))),
  );

const extension = (id: string, critical: boolean, value: Uint8Array): Buffer =>
  sequence(oid(id), ...(critical ? [boolean(true)] : []), octets(value));

/** Network-order bytes of an IP address (RFC 5280, 4.2.1.6). */
export function addressBytes(address: string): Buffer {
  if (!isIPv6(address)) return Buffer.from(address.split('.').map(Number));
  const dotted = /^(.*:)(\d+)\.(\d+)\.(\d+)\.(\d+)$/.exec(address);
  const word = (high: string | undefined, low: string | undefined): string => (Number(high) * 256 + Number(low)).toString(16);
  const plain = dotted ? `${dotted[1]}${word(dotted[2], dotted[3])}:${word(dotted[4], dotted[5])}` : address;
  const [head = '', tail] = plain.split('::');
  const left = head === '' ? [] : head.split(':');
  const right = tail === undefined || tail === '' ? [] : tail.split(':');
  const words = [...left, ...Array<string>(Math.max(0, 8 - left.length - right.length)).fill('0'), ...right];
  return Buffer.from(words.flatMap(w => [Number.parseInt(w, 16) >> 8, Number.parseInt(w, 16) & 0xff]));
}

const alternativeNames = (sans: readonly string[]): Buffer =>
  sequence(...sans.map(san => (isIP(san) ? tagged(0x87, addressBytes(san)) : tagged(0x82, Buffer.from(san, 'latin1')))));

function extensions(request: CertificateRequest, keyId: Uint8Array, issuerKeyId: Uint8Array): Buffer {
  const [usage, unused] = KEY_USAGE[request.use];
  const parts = [
    extension('2.5.29.15', true, bits(Buffer.from([usage]), unused)),
    extension('2.5.29.19', true, request.use === 'ca' ? sequence(boolean(true)) : sequence()),
    extension('2.5.29.14', false, octets(keyId)),
    extension('2.5.29.35', false, sequence(tagged(0x80, issuerKeyId))),
  ];
  if (request.use !== 'ca') parts.push(extension('2.5.29.37', false, sequence(oid(EXTENDED[request.use]))));
  if (request.sans?.length) parts.push(extension('2.5.29.17', false, alternativeNames(request.sans)));
  return tagged(0xa3, sequence(...parts));
}

/**
 * Makes a key pair on P-256 and a version 3 certificate for it (RFC 5280), signed by `issuer`, or by itself where there is none.
 * The serial number is 127 random bits.
 */
export function issue(request: CertificateRequest, issuer?: Signer): Issued {
  const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const publicKey = pair.publicKey.export({ type: 'spki', format: 'der' });
  const keyId = createHash('sha1').update(publicKey.subarray(-65)).digest();
  const name = nameOf(request.subject);
  const signer = issuer ?? { key: pair.privateKey, name, keyId };
  const serial = randomBytes(16);
  serial[0] = ((serial[0] ?? 0) & 0x7f) | 0x40;
  const body = sequence(
    tagged(0xa0, integer(Buffer.from([2]))),
    integer(serial),
    ECDSA_SHA256,
    signer.name,
    sequence(time(request.notBefore), time(request.notAfter)),
    name,
    publicKey,
    extensions(request, keyId, signer.keyId),
  );
  const signature = sign('sha256', body, signer.key);
  return {
    certificate: pem('CERTIFICATE', sequence(body, ECDSA_SHA256, bits(signature))),
    key: pair.privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
    signer: { key: pair.privateKey, name, keyId },
  };
}

/** The issuing side of a CA made by `issue` from the same subject. */
export function signerOf(subject: Subject, key: KeyObject, publicKey: KeyObject): Signer {
  const spki = publicKey.export({ type: 'spki', format: 'der' });
  return { key, name: nameOf(subject), keyId: createHash('sha1').update(spki.subarray(-65)).digest() };
}
