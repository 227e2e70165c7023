import { readFileSync } from 'node:fs';
import { ConfigError } from '../api/point.js';
import { areCertificates, keyFault } from './kubeconfigReader.js';
import { unreadableError } from './unreadable.js';

/** A flag, and the file that it names, if any. */
export interface FileFlag {
  readonly flag: string;
  readonly file: string | undefined;
}

/** The files of a certificate, with which others may follow, and of its private key. */
export interface CertificatePair {
  readonly cert: string;
  readonly key: string;
}

function textOf(flag: string, file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw unreadableError(flag, file, error);
  }
}

/**
 * Returns the files that two flags name, both or none, after a check that they have certificates in PEM, and the
 * private key of the first of them. Throws ConfigError, which names the flag and the file and contains no part of the
 * key.
 */
export function certificatePair(ofCertificate: FileFlag, ofKey: FileFlag): CertificatePair | undefined {
  const { file: cert } = ofCertificate;
  const { file: key } = ofKey;
  if (cert === undefined && key === undefined) return undefined;
  if (key === undefined) throw new ConfigError(ofCertificate.flag, `needs ${ofKey.flag} too`);
  if (cert === undefined) throw new ConfigError(ofKey.flag, `needs ${ofCertificate.flag} too`);
  const texts = { certificate: textOf(ofCertificate.flag, cert), key: textOf(ofKey.flag, key) };
  if (!areCertificates(texts.certificate))
    throw new ConfigError(ofCertificate.flag, `${cert} must have certificates in PEM`);
  const fault = keyFault(texts, `the first certificate of ${ofCertificate.flag}`);
  if (fault !== undefined) throw new ConfigError(ofKey.flag, `${key} ${fault}`);
  return { cert, key };
}
