import { ConfigError } from '../../../core/api/index.js';
import { failWith, readConfigFile, type Shaped } from '../../../core/schema/configFile.js';
import { type ANONYMOUS, FILE } from './shape.js';
import type { AnonymousConfig, AuthenticationConfiguration } from './types.js';
import { type CheckContext, checkAuthenticators, completeAuthenticator } from './validate.js';

/** Largest number of authenticators in a file; upstream's limit. */
const AUTHENTICATORS = 64;

/** The facts that a file is checked against. */
export interface FileContext extends CheckContext {
  /** Whether the file may have `anonymous` (gate AnonymousAuthConfigurableEndpoints). */
  readonly allowsAnonymous: boolean;
}

function anonymousOf(
  given: Shaped<typeof ANONYMOUS> | undefined,
  allowed: boolean,
  errors: string[],
): AnonymousConfig | undefined {
  if (!given) return undefined;
  const { enabled = false, conditions = [] } = given;
  if (!allowed) errors.push('anonymous: needs the feature gate AnonymousAuthConfigurableEndpoints, which is off');
  if (!enabled && conditions.length > 0)
    errors.push('anonymous.conditions: are for requests that `enabled` allows; set it to true, or omit the conditions');
  return { enabled, ...(conditions.length > 0 ? { paths: conditions.map(({ path = '' }) => path) } : {}) };
}

/**
 * Reads an authentication file (spec, "Authentication configuration file"). Throws ConfigError with the file and every
 * field that is wrong, and with the reasons why expressions do not compile.
 */
export async function readAuthenticationFile(
  bytes: Uint8Array,
  file: string,
  context: FileContext,
): Promise<AuthenticationConfiguration> {
  if (Buffer.from(bytes).toString('utf8').trim() === '') throw new ConfigError(file, 'is empty');
  const given = readConfigFile(bytes, file, FILE, context.naming);
  const errors: string[] = [];
  const jwt = given.jwt ?? [];
  if (jwt.length > AUTHENTICATORS) errors.push(`jwt: has ${jwt.length} items; it must have at most ${AUTHENTICATORS}`);
  else errors.push(...(await checkAuthenticators(jwt, context)));
  const anonymous = anonymousOf(given.anonymous, context.allowsAnonymous, errors);
  failWith(file, errors);
  return { jwt: jwt.map(one => completeAuthenticator(one)), ...(anonymous ? { anonymous } : {}) };
}
