import type { AccessWebhookConfig } from '../../plugins/authz/webhook/config.js';
import { readPolicies } from '../../plugins/authz/abac/policy.js';
import { ConfigError } from '../api/point.js';
import { readBounded } from '../files/watchedFile.js';
import { ACCESS_REVIEW_MS, CONFIG_FILE_BYTES } from '../limits.js';
import { namingOf } from '../naming.js';
import { readWebhookFile } from '../services/webhooks/kubeconfig.js';
import { atFlag } from '../settings/atFlag.js';
import type { Settings } from '../settings/settings.js';

/** A flag that belongs to a mode: each needs the other. */
function checkMode(settings: Settings, mode: string, flag: string, isGiven: boolean): boolean {
  const isUsed = (settings.authorizationMode as readonly string[]).includes(mode);
  if (isUsed && !isGiven) throw new ConfigError('--authorization-mode', `${mode} needs ${flag} too`);
  if (isGiven && !isUsed)
    throw new ConfigError(flag, `needs ${mode} in --authorization-mode; add it, or omit the flag`);
  return isUsed;
}

async function checkPolicies(file: string, settings: Settings): Promise<void> {
  try {
    readPolicies(await readBounded(file, CONFIG_FILE_BYTES), file, namingOf(settings.naming));
  } catch (error) {
    throw new ConfigError('--authorization-policy-file', (error as Error).message);
  }
}

/** The configuration of the plugin for the webhook of mode Webhook. */
export const accessWebhookConfig = (settings: Settings): AccessWebhookConfig => ({
  name: 'default',
  ...(settings.authorizationWebhookConfigFile === undefined ? {} : { file: settings.authorizationWebhookConfigFile }),
  version: settings.authorizationWebhookVersion,
  authorizedMs: settings.authorizationWebhookCacheAuthorizedTtl,
  unauthorizedMs: settings.authorizationWebhookCacheUnauthorizedTtl,
  timeoutMs: ACCESS_REVIEW_MS,
  failurePolicy: 'NoOpinion',
  matchConditions: [],
});

/**
 * Checks the settings about what requests may do, and the files that they name. Throws ConfigError, which names the flag,
 * the file and the fix.
 */
export async function checkAuthorization(settings: Settings): Promise<void> {
  const { authorizationPolicyFile: policies, authorizationWebhookConfigFile: webhook } = settings;
  if (checkMode(settings, 'ABAC', '--authorization-policy-file', policies !== undefined))
    await checkPolicies(policies!, settings);
  const flag = '--authorization-webhook-config-file';
  if (checkMode(settings, 'Webhook', flag, webhook !== undefined))
    atFlag(flag, () => readWebhookFile(webhook!, { allowsHttp: false }));
}
