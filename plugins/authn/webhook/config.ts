import { ConfigError } from '../../../core/api/index.js';

/** The settings of the plugin, which the server generates. */
export interface TokenWebhookConfig {
  /** The kubeconfig of the webhook. */
  readonly file: string;
  /** Version of the TokenReviews. */
  readonly version: 'v1' | 'v1beta1';
  /** How long answers are used again, in milliseconds; 0 for never. */
  readonly cacheMs: number;
  /** Audiences of the server: tokens must be for one of them. */
  readonly audiences: readonly string[];
}

/** Checks the settings. Throws ConfigError. */
export function parseConfig(config: unknown): TokenWebhookConfig {
  const given = (config ?? {}) as TokenWebhookConfig;
  if (!given.file) throw new ConfigError('file', 'must be the path of a kubeconfig');
  return given;
}
