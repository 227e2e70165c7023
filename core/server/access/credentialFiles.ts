import { readAuthorities } from '../../../plugins/authn/authorities.js';
import { readTokenFile } from '../../../plugins/authn/tokenFile.js';
import { atFlag } from '../../settings/atFlag.js';
import type { Settings } from '../../settings/settings.js';

/**
 * Checks the files with credentials of clients, so that a server that could not use them does not start. Throws
 * ConfigError, which names the flag, the file and the fix.
 */
export function checkCredentialFiles(settings: Settings): Settings {
  const { clientCaFile, tokenAuthFile } = settings;
  if (clientCaFile !== undefined) atFlag('--client-ca-file', () => readAuthorities(clientCaFile));
  if (tokenAuthFile !== undefined) atFlag('--token-auth-file', () => readTokenFile(tokenAuthFile));
  return settings;
}
