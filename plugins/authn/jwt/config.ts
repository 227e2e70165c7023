import { readFileSync } from 'node:fs';
import { ConfigError, type Naming } from '../../../core/api/index.js';
import type { GivenAuthenticator } from './shape.js';
import { ALGORITHMS, type JwtAuthenticator } from './types.js';
import { checkAuthenticators, completeAuthenticator } from './validate.js';

/** OpenID Connect by flags: the settings of the same names. */
export interface OidcFlags {
  readonly issuerUrl: string;
  readonly clientId: string;
  /** Absent: `sub`. */
  readonly usernameClaim?: string | undefined;
  readonly usernamePrefix?: string | undefined;
  readonly groupsClaim?: string | undefined;
  readonly groupsPrefix?: string | undefined;
  /** Each as `claim=value`. */
  readonly requiredClaims?: readonly string[] | undefined;
  readonly caFile?: string | undefined;
  /** Absent: `RS256`. */
  readonly signingAlgs?: readonly string[] | undefined;
}

/** The settings of the plugin, which the server generates: an authenticator by flags, or a file with several. */
export interface JwtConfig {
  readonly flags?: OidcFlags;
  readonly file?: string;
  /** The issuers of the server's own tokens. */
  readonly ownIssuers: readonly string[];
}

/** Checks the settings. Throws ConfigError. */
export function parseConfig(config: unknown): JwtConfig {
  const { flags, file, ownIssuers = [] } = (config ?? {}) as Partial<JwtConfig>;
  if ((flags === undefined) === (file === undefined))
    throw new ConfigError('file', 'must be the path of an authentication file, unless there are flags');
  return { ...(flags && { flags }), ...(file === undefined ? {} : { file }), ownIssuers };
}

/** The prefix of user names (spec, "OpenID Connect flags"). */
function usernamePrefixOf({ usernamePrefix, issuerUrl }: OidcFlags, claim: string): string {
  if (usernamePrefix === '-') return '';
  if (usernamePrefix) return usernamePrefix;
  return claim === 'email' ? '' : `${issuerUrl}#`;
}

/**
 * The authenticator of flags. Throws ConfigError, which names the flag. Without a claim for groups, their prefix has no
 * effect.
 */
export async function authenticatorOfFlags(flags: OidcFlags, naming: Naming): Promise<JwtAuthenticator> {
  const { usernameClaim = 'sub', signingAlgs = ['RS256'], requiredClaims = [], caFile } = flags;
  const unknown = signingAlgs.find(one => !ALGORITHMS.includes(one));
  if (unknown !== undefined)
    throw new ConfigError('--oidc-signing-algs', `must be of ${ALGORITHMS.join(', ')}, not ${JSON.stringify(unknown)}`);
  const required = requiredClaims.map(pair => {
    const at = pair.indexOf('=');
    if (at < 1) throw new ConfigError('--oidc-required-claim', `must be CLAIM=VALUE, not ${JSON.stringify(pair)}`);
    return [pair.slice(0, at), pair.slice(at + 1)] as const;
  });
  const given: GivenAuthenticator = {
    issuer: {
      url: flags.issuerUrl,
      audiences: [flags.clientId],
      certificateAuthority: caFile === undefined ? undefined : readBundle(caFile),
      discoveryURL: undefined,
      audienceMatchPolicy: undefined,
      egressSelectorType: undefined,
    },
    claimMappings: {
      username: { claim: usernameClaim, prefix: usernamePrefixOf(flags, usernameClaim), expression: undefined },
      groups: flags.groupsClaim
        ? { claim: flags.groupsClaim, prefix: flags.groupsPrefix ?? '', expression: undefined }
        : undefined,
      uid: undefined,
      extra: undefined,
    },
    // If a claim is given several values, upstream requires the last one.
    claimValidationRules: Array.from(new Map(required), ([claim, requiredValue]) => ({
      claim,
      requiredValue,
      expression: undefined,
      message: undefined,
    })),
    userValidationRules: undefined,
  };
  // The flags may name the issuer of the server's own tokens: upstream allows that here.
  const [error] = await checkAuthenticators([given], { naming, ownIssuers: [] });
  if (error !== undefined) {
    const [path = '', ...why] = error.split(': ');
    throw new ConfigError(flagOf(path), why.join(': '));
  }
  return completeAuthenticator(given, signingAlgs);
}

function readBundle(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new ConfigError('--oidc-ca-file', `cannot read ${file}: ${(error as NodeJS.ErrnoException).code}`);
  }
}

/** The flag that sets a field. */
function flagOf(path: string): string {
  if (path.includes('certificateAuthority')) return '--oidc-ca-file';
  if (path.includes('username')) return '--oidc-username-claim';
  return path.includes('audiences') ? '--oidc-client-id' : '--oidc-issuer-url';
}
