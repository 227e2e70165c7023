import { readFileSync } from 'node:fs';
import { ConfigError } from '../api/point.js';
import { areCertificates, keyFault } from './kubeconfigReader.js';
import { unreadableError } from './unreadable.js';

/** A file, and the flag that names it. */
export interface NamedFile {
  readonly flag: string;
  readonly file: string;
}

function textOf({ flag, file }: NamedFile): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw unreadableError(flag, file, error);
  }
}

/**
 * Checks that two files have certificates in PEM, and the private key of the first of them. Throws ConfigError, which
 * names the flag and the file and contains no part of the key.
 */
export function checkCertificateFiles(certificateFile: NamedFile, keyFile: NamedFile): void {
  const [certificate, key] = [textOf(certificateFile), textOf(keyFile)];
  if (!areCertificates(certificate))
    throw new ConfigError(certificateFile.flag, `${certificateFile.file} must have certificates in PEM`);
  const fault = keyFault({ certificate, key });
  if (fault === undefined) return;
  const why = fault.replace('client-certificate', `the first certificate of ${certificateFile.flag}`);
  throw new ConfigError(keyFile.flag, `${keyFile.file} ${why}`);
}
