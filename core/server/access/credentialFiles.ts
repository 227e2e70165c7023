import { readAuthorities } from '../../../plugins/authn/authorities.js';
import { readTokenFile } from '../../../plugins/authn/tokenFile.js';
import { ConfigError } from '../../api/point.js';
import { checkCertificateFiles } from '../../files/certificateFiles.js';
import { atFlag } from '../../settings/atFlag.js';
import type { Settings } from '../../settings/settings.js';

const TLS_CERTIFICATE = '--tls-cert-file';
const TLS_KEY = '--tls-private-key-file';

/** Checks the certificate of the listener. */
function checkServing({ tlsCertFile: certificate, tlsPrivateKeyFile: key }: Settings): void {
  if (certificate !== undefined && key !== undefined)
    checkCertificateFiles({ flag: TLS_CERTIFICATE, file: certificate }, { flag: TLS_KEY, file: key });
  else if (certificate !== undefined) throw new ConfigError(TLS_CERTIFICATE, `needs ${TLS_KEY} too`);
  else if (key !== undefined) throw new ConfigError(TLS_KEY, `needs ${TLS_CERTIFICATE} too`);
}

/**
 * Checks the files with the credentials of the server and of clients, so that a server that could not use them does not
 * start. Throws ConfigError, which names the flag, the file and the fix.
 */
export function checkCredentialFiles(settings: Settings): Settings {
  const { clientCaFile, tokenAuthFile } = settings;
  checkServing(settings);
  if (clientCaFile !== undefined) atFlag('--client-ca-file', () => readAuthorities(clientCaFile));
  if (tokenAuthFile !== undefined) atFlag('--token-auth-file', () => readTokenFile(tokenAuthFile));
  return settings;
}
