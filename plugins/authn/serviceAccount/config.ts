import { ConfigError } from '../../../core/api/index.js';

/** What the parts of this plugin know. */
export interface ServiceAccountConfig {
  /** The first is the issuer of new tokens; tokens of the others are accepted. */
  readonly issuers: readonly string[];
  /** Audiences of the server: tokens for one of them are accepted. */
  readonly audiences: readonly string[];
  /** Files in PEM with the keys that tokens are verified with, beside the public half of the signing key. */
  readonly keyFiles: readonly string[];
  readonly signingKeyFile: string;
  /** Longest lifetime of a new token, in seconds. */
  readonly maxSeconds?: number;
  /** Tokens that are bound to a pod live longer than they say, so that programs that never read them again go on. */
  readonly extend: boolean;
  /** Legacy tokens are valid only while their secret and account exist. */
  readonly lookup: boolean;
  /** Where the discovery document says that the keys are. */
  readonly jwksUri: string;
}

/** Checks what the server gives the plugin. Throws ConfigError. */
export function parseConfig(config: unknown): ServiceAccountConfig {
  const given = (config ?? {}) as ServiceAccountConfig;
  if (!given.issuers?.length || !given.audiences?.length)
    throw new ConfigError('issuers', 'must name the issuer of tokens, and audiences those of the server');
  if (!given.signingKeyFile) throw new ConfigError('signingKeyFile', 'must be the path of a private key');
  return given;
}
