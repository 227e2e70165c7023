import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { readTokenFile } from '../../../plugins/authn/tokenFile.js';
import { ConfigError } from '../../api/point.js';
import { atFlag } from '../../settings/atFlag.js';
import type { Settings } from '../../settings/settings.js';

/** Each certificate of a file in PEM. */
const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g;

function readCertificates(file: string): readonly X509Certificate[] {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw new ConfigError(file, `cannot be read: ${(error as NodeJS.ErrnoException).code}`);
  }
  const blocks = text.match(CERTIFICATE) ?? [];
  if (blocks.length === 0) throw new ConfigError(file, 'holds no certificate in PEM');
  try {
    return blocks.map(block => new X509Certificate(block));
  } catch {
    throw new ConfigError(file, 'holds a certificate that cannot be parsed');
  }
}

/**
 * Checks the files that name who may send requests, so that a server that could not use them does not start. Throws
 * ConfigError, which names the flag, the file and the fix.
 */
export function checkCredentialFiles(settings: Settings): Settings {
  const { clientCaFile, tokenAuthFile } = settings;
  if (clientCaFile !== undefined) atFlag('--client-ca-file', () => readCertificates(clientCaFile));
  if (tokenAuthFile !== undefined) atFlag('--token-auth-file', () => readTokenFile(tokenAuthFile));
  return settings;
}
