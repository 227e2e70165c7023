import type { Host } from '../../../core/api/index.js';
import { readBounded } from '../../../core/files/watchedFile.js';
import { CONFIG_FILE_BYTES } from '../../../core/limits.js';
import { authenticatorOfFlags, type JwtConfig } from './config.js';
import { readAuthenticationFile } from './file.js';
import type { AuthenticationConfiguration } from './types.js';

/** The gate of `anonymous` in the file. */
const ANONYMOUS_GATE = 'AnonymousAuthConfigurableEndpoints';

/** The authenticator of flags, or the content of the authentication file. Throws ConfigError. */
export async function readConfiguration(
  { flags, file, ownIssuers }: JwtConfig,
  { naming, isEnabled }: Pick<Host, 'naming' | 'isEnabled'>,
): Promise<AuthenticationConfiguration> {
  if (file === undefined) return { jwt: flags ? [await authenticatorOfFlags(flags, naming)] : [] };
  const context = { naming, ownIssuers, allowsAnonymous: isEnabled(ANONYMOUS_GATE) };
  return await readAuthenticationFile(await readBounded(file, CONFIG_FILE_BYTES), file, context);
}
