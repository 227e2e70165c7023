import { readAuthorities } from '../../../plugins/authn/authorities.js';
import { readTokenFile } from '../../../plugins/authn/tokenFile.js';
import { certificatePair } from '../../files/certificateFiles.js';
import { atFlag } from '../../settings/atFlag.js';
import type { Settings } from '../../settings/settings.js';

/** Checks the serving certificate and its key. Throws ConfigError, which names the flag, the file and the fix. */
export function checkServingCertificate({ tlsCertFile, tlsPrivateKeyFile }: Settings): void {
  certificatePair(
    { flag: '--tls-cert-file', file: tlsCertFile },
    { flag: '--tls-private-key-file', file: tlsPrivateKeyFile },
  );
}

/**
 * Checks the files with the credentials of the server and of clients, so that a server that could not use them does not
 * start. Throws ConfigError, which names the flag, the file and the fix.
 */
export function checkCredentialFiles(settings: Settings): Settings {
  const { clientCaFile, tokenAuthFile } = settings;
  checkServingCertificate(settings);
  if (clientCaFile !== undefined) atFlag('--client-ca-file', () => readAuthorities(clientCaFile));
  if (tokenAuthFile !== undefined) atFlag('--token-auth-file', () => readTokenFile(tokenAuthFile));
  return settings;
}
