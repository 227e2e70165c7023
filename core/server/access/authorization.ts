import type { ChainConfig } from '../../../plugins/authz/configured/index.js';
import { readAuthorizationFile } from '../../../plugins/authz/configured/file.js';
import type { AccessWebhookConfig } from '../../../plugins/authz/webhook/config.js';
import { readPolicies } from '../../../plugins/authz/abac/policy.js';
import { ConfigError } from '../../api/point.js';
import { featureGates } from '../../features/gates.js';
import { readBounded } from '../../files/watchedFile.js';
import { ACCESS_REVIEW_MS, CONFIG_FILE_BYTES } from '../../limits.js';
import { namingOf } from '../../naming.js';
import { readWebhookFile } from '../../services/webhooks/kubeconfig.js';
import { atFlag } from '../../settings/atFlag.js';
import type { Settings } from '../../settings/settings.js';

/** Checks a flag that belongs to a mode: each needs the other. Returns whether they are given. Throws ConfigError. */
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

/** The configuration of the plugin for the authorization file; undefined without one. */
export function chainConfig(settings: Settings): ChainConfig | undefined {
  const { authorizationConfig: file, authorizationMode: types, authorizationPolicyFile: policyFile } = settings;
  return file === undefined ? undefined : { file, types, ...(policyFile === undefined ? {} : { policyFile }) };
}

/** The types of the authorizers of a file. */
async function typesOf(file: string, settings: Settings): Promise<ChainConfig['types']> {
  const naming = namingOf(settings.naming);
  const gate = 'StructuredAuthorizationConfiguration';
  if (!featureGates(settings).enabled.includes(gate))
    throw new ConfigError('--authorization-config', `needs --feature-gates=${gate}=true, which is the default`);
  try {
    const authorizers = await readAuthorizationFile(await readBounded(file, CONFIG_FILE_BYTES), file, naming);
    return [...new Set(authorizers.map(({ type }) => type))];
  } catch (error) {
    throw new ConfigError('--authorization-config', (error as Error).message);
  }
}

/**
 * Checks the settings of authorization, and the files that they name. Returns them with the types of an
 * authorization file as modes. Throws ConfigError, which names the flag, the file and the fix.
 */
export async function checkAuthorization(given: Settings): Promise<Settings> {
  const { authorizationConfig: file } = given;
  const settings = file === undefined ? given : { ...given, authorizationMode: await typesOf(file, given) };
  const { authorizationPolicyFile: policies, authorizationWebhookConfigFile: webhook } = settings;
  if (checkMode(settings, 'ABAC', '--authorization-policy-file', policies !== undefined))
    await checkPolicies(policies!, settings);
  const flag = '--authorization-webhook-config-file';
  if (file === undefined && checkMode(settings, 'Webhook', flag, webhook !== undefined))
    atFlag(flag, () => readWebhookFile(webhook!, { allowsHttp: false }));
  return settings;
}
