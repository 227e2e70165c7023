import { ConfigError } from '../../../core/api/index.js';

/** The decision if a webhook cannot be asked, or its conditions cannot be evaluated. */
export type FailurePolicy = 'NoOpinion' | 'Deny';

/** A webhook that decides about requests. Times are in milliseconds. */
export interface AccessWebhookConfig {
  /** Its name in metrics. */
  readonly name: string;
  /** Its kubeconfig; absent: the server of the cluster that this program runs in. */
  readonly file?: string;
  /** Version of the SubjectAccessReviews. */
  readonly version: 'v1' | 'v1beta1';
  /** How long answers that allow, and others, are used again. */
  readonly authorizedMs: number;
  readonly unauthorizedMs: number;
  readonly timeoutMs: number;
  readonly failurePolicy: FailurePolicy;
  /** Expressions over `request`. The webhook is asked only about requests for which all of them hold. */
  readonly matchConditions: readonly string[];
}

/** Checks the settings of the plugin, which the server generates. Throws ConfigError. */
export function parseConfig(config: unknown): AccessWebhookConfig {
  const given = (config ?? {}) as AccessWebhookConfig;
  if (!given.file) throw new ConfigError('file', 'must be the path of a kubeconfig');
  return given;
}
