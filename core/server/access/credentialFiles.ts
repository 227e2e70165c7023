import { readAuthorities } from '../../../plugins/authn/authorities.js';
import { readTokenFile } from '../../../plugins/authn/tokenFile.js';
import { certificatePair } from '../../files/certificateFiles.js';
import { atFlag } from '../../settings/atFlag.js';
import type { Settings } from '../../settings/settings.js';

/**
 * Checks the files with the credentials of the server and of clients, so that a server that could not use them does not
 * start. Throws ConfigError, which names the flag, the file and the fix.
 */
export function checkCredentialFiles(settings: Settings): Settings {
  const { tlsCertFile, tlsPrivateKeyFile, clientCaFile, tokenAuthFile } = settings;
  certificatePair(
    { flag: '--tls-cert-file', file: tlsCertFile },
    { flag: '--tls-private-key-file', file: tlsPrivateKeyFile },
  );
  if (clientCaFile !== undefined) atFlag('--client-ca-file', () => readAuthorities(clientCaFile));
  if (tokenAuthFile !== undefined) atFlag('--token-auth-file', () => readTokenFile(tokenAuthFile));
  return settings;
}
