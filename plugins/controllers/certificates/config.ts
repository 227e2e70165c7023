import { ConfigError } from '../../../core/api/index.js';

/** The CA of a signer: files in PEM with its certificate and its private key. `signer` is in neutral names. */
export interface SignerFiles {
  readonly signer: string;
  readonly certFile: string;
  readonly keyFile: string;
}

/** Configuration of the controller that issues certificates. */
export interface SigningConfig {
  readonly signers: readonly SignerFiles[];
  /** Longest lifetime of a certificate, in milliseconds. */
  readonly maxMs: number;
}

/** Parses the configuration, which the server generates. Throws ConfigError. */
export function parseSigning(config: unknown): SigningConfig {
  const { signers, maxMs } = (config ?? {}) as Partial<SigningConfig>;
  if (!Array.isArray(signers)) throw new ConfigError('config.signers', 'must be a list of signers with their CA');
  if (typeof maxMs !== 'number' || maxMs <= 0) throw new ConfigError('config.maxMs', 'must be longer than 0');
  return { signers, maxMs };
}
