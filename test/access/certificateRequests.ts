import { webcrypto } from 'node:crypto';
import 'reflect-metadata';
import {
  type JsonGeneralName,
  Pkcs10CertificateRequestGenerator,
  SubjectAlternativeNameExtension,
} from '@peculiar/x509';

const ALGORITHMS = {
  ec: { name: 'ECDSA', namedCurve: 'P-384', hash: 'SHA-384' },
  rsa: {
    name: 'RSASSA-PKCS1-v1_5',
    hash: 'SHA-256',
    modulusLength: 2048,
    publicExponent: new Uint8Array([1, 0, 1]),
  },
} as const;

/** A key, and a request in base64 as objects hold it. */
export async function pkcs10(name: string, names: JsonGeneralName[] = [], type: keyof typeof ALGORITHMS = 'ec') {
  const algorithm = ALGORITHMS[type];
  const keys = (await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify'])) as webcrypto.CryptoKeyPair;
  const request = await Pkcs10CertificateRequestGenerator.create({
    name,
    keys,
    signingAlgorithm: algorithm,
    extensions: names.length > 0 ? [new SubjectAlternativeNameExtension(names)] : [],
  });
  const der = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', keys.privateKey)).toString('base64');
  return {
    key: `-----BEGIN PRIVATE KEY-----\n${der}\n-----END PRIVATE KEY-----\n`,
    request: Buffer.from(request.toString('pem')).toString('base64'),
  };
}
