import { ConfigError } from '../../../core/api/index.js';

/** The settings of the plugin, which the server generates. */
export interface ServiceAccountConfig {
  /** The first is the issuer of new tokens; tokens of the others are accepted. */
  readonly issuers: readonly string[];
  /** Audiences of the server: tokens for one of them are accepted. */
  readonly audiences: readonly string[];
  /** Files in PEM with the keys that tokens are verified with. */
  readonly keyFiles: readonly string[];
  /** The private key that signs. */
  readonly signingKeyFile: string;
  /** Whether `signingKeyFile` is the server's own: it is made when it is first needed. */
  readonly makesKey: boolean;
  /** Longest lifetime of a new token, in seconds. */
  readonly maxSeconds?: number;
  /**
   * Whether tokens that are bound to a pod are valid longer than requested, for programs that read their token only
   * once.
   */
  readonly extend: boolean;
  /** Whether legacy tokens are valid only while their secret and account exist. */
  readonly lookup: boolean;
  /** Where the discovery document says that the keys are; absent: at this server. */
  readonly jwksUri?: string;
  /** The host of this server in that address. */
  readonly host: string;
}

/** Checks the settings. Throws ConfigError. */
export function parseConfig(config: unknown): ServiceAccountConfig {
  const given = (config ?? {}) as ServiceAccountConfig;
  if (!given.issuers?.length || !given.audiences?.length)
    throw new ConfigError('issuers', 'must name the issuer of tokens, and audiences those of the server');
  if (!given.signingKeyFile) throw new ConfigError('signingKeyFile', 'must be the path of a private key');
  return given;
}
