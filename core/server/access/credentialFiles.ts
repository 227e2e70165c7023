import { readAuthorities } from '../../../plugins/authn/authorities.js';
import { readTokenFile } from '../../../plugins/authn/tokenFile.js';
import { certificatePair } from '../../files/certificateFiles.js';
import { atFlag } from '../../settings/atFlag.js';
import type { Settings } from '../../settings/settings.js';

/**
 * Checks the serving certificate, and the CAs of clients and of authenticating proxies. Throws ConfigError, which names
 * the flag, the file and the fix.
 */
export function checkCertificates(settings: Settings): void {
  const { tlsCertFile, tlsPrivateKeyFile, clientCaFile, requestheaderClientCaFile: proxyCaFile } = settings;
  certificatePair(
    { flag: '--tls-cert-file', file: tlsCertFile },
    { flag: '--tls-private-key-file', file: tlsPrivateKeyFile },
  );
  if (clientCaFile !== undefined) atFlag('--client-ca-file', () => readAuthorities(clientCaFile));
  if (proxyCaFile !== undefined) atFlag('--requestheader-client-ca-file', () => readAuthorities(proxyCaFile));
}

/**
 * Checks the files with the credentials of the server and of clients, so that a server that could not use them does not
 * start. Throws ConfigError, which names the flag, the file and the fix.
 */
export function checkCredentialFiles(settings: Settings): Settings {
  checkCertificates(settings);
  const { tokenAuthFile } = settings;
  if (tokenAuthFile !== undefined) atFlag('--token-auth-file', () => readTokenFile(tokenAuthFile));
  return settings;
}
